// Names around the user's own program: figures of program.metrics, environment variables, and the keys that only dtengine reads.
#pragma once

#include "core/spec/names.hpp"
#include "core/spec/run_spec.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dt {

// The names that program.metrics may contain, with their meaning.
std::span<const Name> program_metric_names();

// The name of the environment variable with the value of a key: "DTCTL_OPTIMIZER_LEARNING_RATE" for optimizer.learning_rate,
// "DTCTL_PROGRAM_PARAMETERS_HIDDEN" for program.parameters.hidden.
std::string variable_of_key(std::string_view path);

// Whether only dtengine or dtsim reads the key, so that it has no meaning for a run of the user's own program. Keys that dtctl
// itself acts on (resources, study, train.warmup_steps, train.target_accuracy, …) and keys whose values the program gets (model,
// data, train, optimizer) are no engine keys.
bool is_engine_key(std::string_view path);
// Whether the key has no effect on a run because its program does not read it. The keys of `sync`, and train.trace, have one if
// the program trains with dtctl_sync (program.sync).
bool has_no_effect(std::string_view path, const ProgramSpec& program);

// What program.samples says to each of so many workers: "64" samples of its own in a step, or "dimension 1" of its batches.
// Nothing if the text says neither.
std::optional<std::string> samples_of_rank(std::string_view text, std::int64_t workers);

} // namespace dt
