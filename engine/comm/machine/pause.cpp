#include "engine/comm/machine/pause.hpp"

#include <chrono>
#include <thread>

namespace dt::comm {

void pause_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void pause_between_polls(int polls)
{
  constexpr int polls_in_a_row = 200;
  if (polls > polls_in_a_row) std::this_thread::yield();
}

void wake_pollers() {}

} // namespace dt::comm
