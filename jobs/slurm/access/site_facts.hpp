// Small facts of a site that both implementations of SlurmApi find in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// The user's login name, or "user 1000" if it is not known here.
std::string user_name(std::uint32_t uid);

// Names of the MPI plugins in Slurm's plugin folder: "pmix" for mpi_pmix.so.
std::vector<std::string> mpi_plugins(const std::string& folder);

// The number after "name=" in a list such as SchedulerParameters; 0 if it is missing.
std::int64_t parameter(std::string_view list, std::string_view name);

} // namespace dt::jobs::slurm
