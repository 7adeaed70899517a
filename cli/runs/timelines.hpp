// The timelines that the ranks of a traced run have written.
#pragma once

#include "core/home/home.hpp"
#include "core/record/attempt/trace_record.hpp"
#include "core/record/attempt_files.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// The attempt of the run with this key that has timelines: the one with the number `wanted`, or for 0 the latest. Nothing if
// there is none.
std::optional<AttemptFolder> traced_attempt(const Home& home, const std::string& key, int wanted = 0);

struct Timelines {
  std::vector<TraceRecord> ranks;                // sorted by rank
  std::vector<std::filesystem::path> incomplete; // files that were torn, and are left out
};
// Reads the timelines of ranks below `ranks_below`.
Timelines read_timelines(const AttemptFolder& attempt, int ranks_below);

} // namespace dt::cli
