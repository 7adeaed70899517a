// Describes the history of one attempt, from its files alone.
#pragma once

#include "core/record/run_record.hpp"

#include <string>

namespace dt::cli {

// Returns for example "went on from step 40; launched 2 times (exit codes 1, 0); stopped on SIGUSR1 at step 120 of 400,
// checkpoint step-120.h5; attempt 3 took its place". Empty if there is nothing to report yet.
std::string story_of(const AttemptFolder& attempt);

} // namespace dt::cli
