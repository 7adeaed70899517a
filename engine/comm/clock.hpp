// The clock that all of the engine measures with.
#pragma once

namespace dt::engine {

// Seconds on a clock that never jumps; only differences mean something.
double monotonic_s();

} // namespace dt::engine
