// GPUs of this machine, as its device files show them.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dt::jobs {

// Number of the GPUs: the devices nvidia0, nvidia1, … in `devices`, or AMD's renderD128, … if there is a kfd.
std::int64_t gpus_here(const std::filesystem::path& devices = "/dev");

} // namespace dt::jobs
