// The GPUs of this node and their driver, for begin.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace dt::jobs {

// "node_gpus" ("4 x NVIDIA H100 80GB HBM3", all GPUs of the node) and "nvidia_driver" ("535.129.03"), from the files of the
// driver in `proc`/driver/nvidia; where a container hides them, from nvidia-smi. Empty without a driver of NVIDIA.
std::map<std::string, std::string> gpu_facts(const std::filesystem::path& proc = "/proc");

} // namespace dt::jobs
