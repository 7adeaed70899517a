// Finds checkpoints by their file names. Only the engine checks whether a checkpoint is complete.
#pragma once

#include "core/home/home.hpp"

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

// Folder of the run whose key begins with these digits (at least four). Nothing if there is none, or more than one.
std::optional<std::filesystem::path> run_of_key(const Home& home, const std::string& digits);

// Checkpoints of all attempts of a run, the largest step first; among equal steps, the newest attempt first.
std::vector<NamedCheckpoint> checkpoints_of(const std::filesystem::path& run_folder);

// The largest step with a checkpoint in a run's attempts up to `attempt`; 0 if there is none.
std::int64_t last_checkpoint(const std::filesystem::path& run_folder, int attempt);

} // namespace dt::cli
