// Facts that the library and the commands find in the same way: the meaning of states (phase_of, api.hpp), and small ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// The value of AccountingStorageType where slurmdbd is in use.
inline constexpr std::string_view accounting_by_slurmdbd = "accounting_storage/slurmdbd";

// The longest time ahead of the time limit at which Slurm sends a signal.
inline constexpr std::int64_t longest_warning_s = 0xfffe;

// The user's login name, or "user 1000" if it is not known here.
std::string user_name(std::uint32_t uid);

// Names of the MPI plugins in Slurm's plugin folder: "pmix" for mpi_pmix.so.
std::vector<std::string> mpi_plugins(const std::string& folder);

} // namespace dt::jobs::slurm
