// Checkpoints as their names tell of them; whether one is whole, the engine finds out when it goes on from it.
#pragma once

#include "core/paths.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct NamedCheckpoint {
  int attempt = 0;
  std::int64_t step = 0;
  std::filesystem::path path;
};

// The folder of the only run whose key begins with these digits, four at least; nothing when there is none or more than one.
std::optional<std::filesystem::path> run_of_key(const Home& home, const std::string& digits);

// Those that a run's attempts have left, of most steps first, the newest attempt's among equals.
std::vector<NamedCheckpoint> checkpoints_of(const std::filesystem::path& run_folder);

// The latest step of which a run's attempts up to and with `attempt` have left a checkpoint; 0 when there is none.
std::int64_t last_checkpoint(const std::filesystem::path& run_folder, int attempt);

} // namespace dt::cli
