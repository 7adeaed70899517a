// Waiting without MPI: for a length of time, or for another rank of the same node.
#pragma once

namespace dt::comm {

// Sleeps and leaves the core to others.
void pause_s(double seconds);

// Called between two polls of a value that another rank of the node writes; `polls` is the number of polls so far. After a few
// polls it yields the core, because the awaited rank may need it.
void pause_between_polls(int polls);

// Call it after writing a value that other ranks of the node poll. A real rank sees the value; a simulated one must be woken.
void wake_pollers();

// Polls until ready() is true.
template<class Ready> void wait_until(const Ready& ready)
{
  for (int polls = 1; !ready(); ++polls) pause_between_polls(polls);
}

} // namespace dt::comm
