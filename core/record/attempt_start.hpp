// Checks and sentences of the programs that execute an attempt: dtengine, and dtsim for a simulated run.
#pragma once

#include "core/record/run_record.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace dt {

// The attempt's folder, <run folder>/attempts/<number>. Throws a usage error that names the option --attempt for any other path.
AttemptFolder require_attempt(const std::filesystem::path& path);

// Throws a run error if the run's key, which names its folder and its results, is not that of its spec. `path` is the spec's
// file, for the message.
void require_unaltered(const PlannedRun& run, const std::filesystem::path& path);

// The attempt that has replaced this one, if any. Nothing, too, if the file system does not answer; a later call may.
std::optional<int> successor_of(const AttemptFolder& attempt);

// "fenced off by attempt 2: it writes nothing more".
std::string fenced_off(int successor);

// Why a program leaves an attempt alone whose begin.json exists.
std::string already_started(const AttemptFolder& attempt);

} // namespace dt
