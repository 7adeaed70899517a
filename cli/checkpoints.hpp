// Checkpoints as their names tell of them; whether one is whole, the engine finds out when it goes on from it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dt::cli {

// The latest step of which a run's attempts up to and with `attempt` have left a checkpoint; 0 when there is none.
std::int64_t last_checkpoint(const std::filesystem::path& run_folder, int attempt);

} // namespace dt::cli
