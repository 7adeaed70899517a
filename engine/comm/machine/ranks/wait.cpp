#include "engine/comm/machine/ranks/wait.hpp"

#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"

namespace dt::comm {

bool wait_beside(Transfer& awaited, Transfer*)
{
  awaited.wait();
  return true;
}

void wait_until_s(double end_s) { pause_s(end_s - monotonic_s()); }

} // namespace dt::comm
