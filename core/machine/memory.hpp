// How much memory this process may still use.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dt {

struct MachineMemory {
  std::int64_t total = 0; // memory of the machine in bytes; 0 if the system does not report it
  // Bytes that the machine can provide without swapping, limited by what every control group of this process (version 1 or 2, for
  // example of a container or a Slurm job) still allows. 0 if the system does not report it.
  std::int64_t available = 0;
};

// Reads /proc and /sys/fs/cgroup below `root`. File cache that the kernel can reclaim from a control group counts as available.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

} // namespace dt
