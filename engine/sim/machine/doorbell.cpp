// A simulated rank that waits only polls.
#include "engine/comm/machine/doorbell.hpp"

namespace dt::comm {

void NodeWait::ring() const {}

void NodeWait::sleep_until_rung(std::uint32_t) const { pause_between_polls(polls_before_sleep); }

} // namespace dt::comm
