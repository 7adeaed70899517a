// Cache of allreduce timings: reads what earlier runs on the same hosts measured.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/choice/allreduce_timings.hpp"

#include <optional>
#include <string>

namespace dt::comm {

// Timings, and their origin in words for the run record.
struct KnownTimings {
  AllreduceTimings timings;
  std::string origin;
};

// Returns the timings in options.cache for the same hosts, cores, topology, MPI library and wire format, if all of this holds:
// their algorithms exist in this program; they reach at least half of the largest size that would be timed; and a new sum takes
// as long as the cached one (is_confirmed; if the first sum does not confirm, the median of five decides). Otherwise times all
// algorithms and writes the cache. The result is equal on all ranks. The traffic is not counted. Collective.
KnownTimings kept_or_fresh_timings(const AllreduceOptions& options, Communicator& comm);

} // namespace dt::comm
