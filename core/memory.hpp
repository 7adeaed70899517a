// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dt {

struct MachineMemory {
  std::int64_t total = 0;     // bytes, of the machine; 0 where the system does not say
  std::int64_t available = 0; // bytes that the machine can give without swapping and that every control group of this process
                              // (version 1 or 2: a container's, a Slurm job's) still allows; 0 where the system does not say
};

// From /proc and /sys/fs/cgroup below `root`. A control group's file cache that can be given back counts as free.
MachineMemory machine_memory(const std::filesystem::path& root = "/");

} // namespace dt
