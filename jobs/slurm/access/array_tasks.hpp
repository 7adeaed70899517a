// Reads and writes array indices in Slurm's notation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// Returns the ascending indices of "3", "0-9", "0-20:5" or "1,4-6". A suffix such as "%8" is ignored, as are parts that cannot be
// read and the "..." of a shortened list.
std::vector<std::uint32_t> expand_array_tasks(std::string_view text);

// Writes the shortest list of indices and ranges: "0-9,12". The indices may be in any order and may repeat.
std::string format_array_tasks(std::span<const std::uint32_t> tasks);

} // namespace dt::jobs::slurm
