// Timelines of ranks as Chrome trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing draw.
#pragma once

#include "core/trace_record.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace dt::cli {

// First to last, both included.
struct StepRange {
  std::int64_t first = std::numeric_limits<std::int64_t>::min(), last = std::numeric_limits<std::int64_t>::max();
  bool contains(std::int64_t step) const { return first <= step && step <= last; }
};

// One JSON object with traceEvents, handed to `write` piece by piece. Every rank is a process under its host's name; every track
// is a thread, or several where its spans overlap without one holding the other. Times are microseconds on rank 0's clock,
// from the first span that is shown. A message is an arrow from its sending to its arrival, when both were kept.
void write_trace_events(const std::vector<TraceRecord>& ranks, const StepRange& steps,
                        const std::function<void(std::string_view)>& write);

} // namespace dt::cli
