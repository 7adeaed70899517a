// The timeline of one rank, stored in the run folder as attempts/<n>/trace/rank-<r>.
//
//   trace = "dtctl trace 1" LF
//           "rank" SP rank SP role SP host LF
//           "clock" SP local_s SP ahead_s SP error_s LF       at the beginning
//           "clock" SP local_s SP ahead_s SP error_s LF       at the end
//           "forgotten" SP count LF                           number of spans dropped because the buffer was full
//           { "name" SP text LF }                             numbered from 0
//           { span LF }
//   span  = name SP track SP begin_ns SP length_ns SP step SP bytes SP peer SP tag
//           name and track are indexes of names; begin_ns counts from local_s of the first clock line; -1: none
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/field.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// How far a rank's own clock was ahead of rank 0's clock when it showed local_s. The error is at most error_s.
struct ClockOffset {
  double local_s = 0, ahead_s = 0, error_s = 0;
};

struct TraceSpan {
  int name = 0, track = 0; // indexes into names
  std::int64_t begin_ns = 0, length_ns = 0;
  std::int64_t step = -1, bytes = -1;
  int peer = -1, tag = -1;
};

struct TraceRecord {
  int rank = 0;
  std::string role, host;
  ClockOffset begin, end;
  std::int64_t forgotten = 0;
  std::vector<std::string> names;
  std::vector<TraceSpan> spans;

  // Converts a time of this record to rank 0's clock, in seconds. Assumes that the rank's clock drifts at a constant rate between
  // its two comparisons.
  double aligned_s(std::int64_t ns) const;
};

std::string to_text(const TraceRecord& record);
// Returns nothing if the text is incomplete or of another format.
std::optional<TraceRecord> parse_trace(std::string_view text);

std::filesystem::path trace_path(const AttemptFolder& attempt, int rank);

} // namespace dt
