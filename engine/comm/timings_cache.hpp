// Timings of the allreduces as earlier runs on the same hosts have kept them in a folder.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/allreduce_timings.hpp"

#include <optional>
#include <string>

namespace dt::engine {

// Timings, and where they come from, for the record.
struct KnownTimings {
  AllreduceTimings timings;
  std::string origin;
};

// What is kept in options.cache for these ranks on these hosts and cores, with this topology, library and wire format: when it names
// algorithms of this program, was timed up to half of options.largest_bytes at least, and a fresh sum takes as long as when it was timed
// (is_confirmed; where it does not, the median of five decides). Else all is timed anew, and kept. Equal on all ranks. Not
// counted as traffic. Collective.
KnownTimings kept_or_fresh_timings(const AllreduceOptions& options, Communicator& comm);

} // namespace dt::engine
