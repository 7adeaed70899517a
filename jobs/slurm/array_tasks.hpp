// Array indices as Slurm writes them, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// Ascending indices of "3", "0-9", "0-20:5", "1,4-6", "0x1f" (bits, the last digit's lowest bit is index 0), each with "%8" or
// without. What cannot be read, and "..." at a cut end, stands for nothing.
std::vector<std::uint32_t> expand_array_tasks(std::string_view text);

// The shortest list of single indices and ranges: "0-9,12". Indices in any order, each counted once.
std::string format_array_tasks(std::span<const std::uint32_t> tasks);

} // namespace dt::jobs::slurm
