#include "engine/comm/machine/clock.hpp"

#include <chrono>

namespace dt::comm {

double monotonic_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

TimingRepeats timing_repeats() { return {.warm_up = 1, .timed = 5}; }

} // namespace dt::comm
