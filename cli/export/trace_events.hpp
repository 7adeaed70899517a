// Converts timelines of ranks to Chrome trace events, for Perfetto (ui.perfetto.dev) and chrome://tracing.
#pragma once

#include "core/record/attempt/trace_record.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace dt::cli {

// A range of steps; both ends are included.
struct StepRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::min(), last = std::numeric_limits<std::int64_t>::max();
  bool contains(std::int64_t step) const { return first <= step && step <= last; }
};

// Passes one JSON object with traceEvents to `write`, piece by piece. Every rank is a process named after its host. Every track
// is a thread, or several threads if spans overlap without being nested. Times are microseconds on rank 0's clock since the first
// shown span. A message is an arrow from sending to arrival, if both were recorded.
void write_trace_events(const std::vector<TraceRecord>& ranks, const StepRange& steps,
                        const std::function<void(std::string_view)>& write);

} // namespace dt::cli
