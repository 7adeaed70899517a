// The settings of a training: those of the run's recipe, or what the program gives.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/spec/run_spec.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace dt::bindings {

struct Settings {
  RunSpec spec;
  std::filesystem::path cache{};          // of the home, for timings of this machine; empty: none
  std::optional<AttemptFolder> attempt{}; // of the run of dtctl, if this is one
};

// words: "key=value", separated by blanks or line feeds; only keys of `sync`, `optimizer`, and a few others that a strategy uses.
// In a run of dtctl whose recipe has a block `sync`, its values count. Throws a recipe error that names the word.
Settings read_settings(std::string_view words);

} // namespace dt::bindings
