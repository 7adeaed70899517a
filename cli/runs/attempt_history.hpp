// Describes the history of one attempt, from its files alone.
#pragma once

#include "core/record/attempt/attempt_record.hpp"

#include <array>
#include <string>

namespace dt::cli {

// The files that tell a story.
inline constexpr std::array history_files{AttemptFile::submission,  AttemptFile::result, AttemptFile::launches,
                                          AttemptFile::preempted,   AttemptFile::error,  AttemptFile::cancel,
                                          AttemptFile::stop_reason, AttemptFile::end,    AttemptFile::requeue};

// Returns for example "continued from step 40; launched 2 times (exit codes 1, 0); stopped on SIGUSR1 at step 120 of 400,
// checkpoint step-120.safetensors; attempt 3 replaced it". Empty if there is nothing to report yet.
std::string history_of(const AttemptRecord& attempt);

} // namespace dt::cli
