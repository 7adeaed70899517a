// Activity: what a rank is doing now, for whoever watches from another thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace dt::engine {

class Activity {
public:
  // `what` must be a string literal, and says it in the third person: "waits for a gradient". peer: the rank it waits for; -1: none.
  // Called by the thread that computes or communicates; costs a few nanoseconds.
  void enter(const char* what, int peer = -1)
  {
    peer_.store(peer, std::memory_order_relaxed);
    what_.store(what, std::memory_order_release);
  }
  void set_step(std::int64_t step)
  {
    step_.store(step, std::memory_order_relaxed);
    advance();
  }
  // Something that takes many steps' time goes on: an evaluation, a checkpoint. Who never advances has stalled.
  void advance() { advances_.fetch_add(1, std::memory_order_relaxed); }

  // Any thread. The parts may be of two neighbouring moments.
  const char* what() const { return what_.load(std::memory_order_acquire); }
  int peer() const { return peer_.load(std::memory_order_relaxed); }
  std::int64_t step() const { return step_.load(std::memory_order_relaxed); }
  std::int64_t advances() const { return advances_.load(std::memory_order_relaxed); }

private:
  std::atomic<const char*> what_{"starts"};
  std::atomic<int> peer_{-1};
  std::atomic<std::int64_t> step_{0}, advances_{0};
};

} // namespace dt::engine
