// The clock for all measurements of the engine.
#pragma once

namespace dt::comm {

// Seconds of a monotonic clock. Only differences are meaningful.
double monotonic_s();

// How often to make a call whose duration is wanted.
struct TimingRepeats {
  int warm_up = 0; // calls before, whose times are not used: connections and buffers are created there
  int timed = 1;   // 1: equal calls take equal times, so one time is exact
  bool exact() const { return timed == 1; }
};
// The repeats that this machine's scatter needs.
TimingRepeats timing_repeats();

} // namespace dt::comm
