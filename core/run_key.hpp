// Content-addressed runs: key = hash(resolved recipe, engine build, data id, start id, repeat).
#pragma once

#include "core/run_spec.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// What a run folder is named after, and all that went into the name.
struct PlannedRun {
  std::string key; // 32 hexadecimal digits
  std::string engine_build;
  std::string data_id;
  RunSpec spec;
  std::string start_id{}; // empty: from weights drawn by the seed
};

// The spec's identity keys that differ from their defaults, one "path=value" line each, then repeat. Keys that come later
// with a default leave older texts as they are.
std::string canonical_text(const RunSpec& spec);

std::string run_key(const RunSpec& spec, std::string_view engine_build, std::string_view data_id, std::string_view start_id = {});

PlannedRun plan_run(RunSpec spec, std::string engine_build, std::string data_id, std::string start_id = {});

// Enough of a key for people: its first 10 digits.
std::string short_key(std::string_view key);

// Why two runs are not the same: "optimizer.learning_rate: 0.1, now 0.2", "engine build: …" a line each.
std::vector<std::string> differences(const PlannedRun& before, const PlannedRun& now);

// The GNU build id of an ELF program: equal for equal code, whatever its path. An environment error when there is none.
std::string read_build_id(const std::filesystem::path& program);

// The content of a data folder: a hash over names and bytes of its regular files. "synthetic" is its own id.
// An environment error that says how to get the data when the folder is missing or empty.
std::string data_id(const DataSpec& data, const std::filesystem::path& folder);

// How a checkpoint's first 512 bytes begin; 32 digits of a hash over all behind them follow (engine/train/checkpoint.hpp).
inline constexpr std::string_view checkpoint_magic = "dtctl checkpoint 1\nxxh3-128 ";

// The content of what train.start_from names: a checkpoint's hash, from its header alone, or a hash over the bytes of an .npz.
// Empty for an empty path. A recipe error when there is no such file, or it is neither.
std::string start_id(const std::filesystem::path& file);

} // namespace dt
