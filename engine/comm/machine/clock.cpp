#include "engine/comm/machine/clock.hpp"

#include <chrono>

namespace dt::comm {

double monotonic_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

} // namespace dt::comm
