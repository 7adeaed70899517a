// Run keys: a run is identified by a hash of its resolved recipe, engine build, data id, start id, environment id and repeat.
#pragma once

#include "core/spec/run_spec.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// A run before it is submitted: its key, which is the name of its folder, and everything that went into the key.
struct PlannedRun {
  std::string key; // 32 hexadecimal digits
  std::string engine_build;
  std::string data_id;
  RunSpec spec;
  std::string start_id{}; // empty: the run starts from weights drawn from train.seed
  // Of the user's own program: the id of its Python environment (core/program/environment.hpp). Empty: not part of the key.
  std::string environment_id{};
};

// The identity keys of the spec that differ from their defaults, one "path=value" line each, then the repeat. Keys at their
// default are left out, so that a key added later with a default does not change the text of older runs.
std::string canonical_text(const RunSpec& spec);

std::string run_key(const RunSpec& spec, std::string_view engine_build, std::string_view data_id, std::string_view start_id = {},
                    std::string_view environment_id = {});

PlannedRun plan_run(RunSpec spec, std::string engine_build, std::string data_id, std::string start_id = {},
                    std::string environment_id = {});

// The first 10 digits of a key, for display.
std::string short_key(std::string_view key);

// Explains why two runs are different, one line per difference: "optimizer.learning_rate: 0.1, now 0.2", "engine build: …".
std::vector<std::string> differences(const PlannedRun& before, const PlannedRun& now);

// Reads the GNU build id of an ELF program: equal code has an equal id, independent of its path. Throws an environment error if
// there is none.
std::string read_build_id(const std::filesystem::path& program);

// Advice for a user whose data folder has no files: the command that makes the data set, or the files to copy there.
std::string how_to_get(const DataSpec& data, const std::filesystem::path& place);

// Hash over the names and bytes of the regular files in a data folder; of a packed set the id in its file, whose index is
// checked. The id of synthetic data is "synthetic". If there is no data, throws an error that says how to get it.
std::string data_id(const DataSpec& data, const std::filesystem::path& place);

// A checkpoint begins with 8 bytes, the length of its header, and this text. The 32 digits of a hash over the whole file follow
// (engine/train/weights/checkpoint.hpp), so that dtctl finds the hash without reading the tensors.
inline constexpr std::string_view checkpoint_magic = R"({"__metadata__":{"format":"dtctl checkpoint 1","xxh3-128":")";
inline constexpr std::size_t checkpoint_hash_begin = 8 + checkpoint_magic.size(), checkpoint_hash_digits = 32;

// Identifies the content of the file in train.start_from: the hash in a checkpoint's header, or a hash over the bytes of another
// .safetensors or .npz file. Returns an empty text for an empty path. Throws a recipe error if the file does not exist or has
// another ending.
std::string start_id(const std::filesystem::path& file);

// The data_id of a simulated run, which reads no data set: the id of its compute profile's content, or
// "simulated" if it computes at a given rate. Throws a recipe error if the profile cannot be read.
std::string simulation_input(const RunSpec& run);

} // namespace dt
