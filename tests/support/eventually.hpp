// Waiting for what a process does.
#pragma once

#include <chrono>
#include <thread>

namespace dt::test {

// Polls until it is so; false when it is not within that time.
template<class Condition> bool eventually(Condition is_true, double timeout_s = 180)
{
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(timeout_s);
  while (!is_true()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

} // namespace dt::test
