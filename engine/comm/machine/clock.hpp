// The clock for all measurements of the engine.
#pragma once

namespace dt::comm {

// Seconds of a monotonic clock. Only differences are meaningful.
double monotonic_s();

} // namespace dt::comm
