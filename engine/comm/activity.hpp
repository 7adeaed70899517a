// Activity: what a rank is doing now, readable from another thread (the stall watchdog).
#pragma once

#include <atomic>
#include <cstdint>

namespace dt::comm {

enum class Doing : std::int32_t {
  works, // makes progress by itself: computes, reads, writes
  waits, // only waits for other ranks
};

struct Occupation {
  Doing doing = Doing::works;
  std::int32_t peer = -1; // the rank that this rank waits for; -1: none, or unknown
};

class Activity {
 public:
  // `what` describes it for people. It must be a string literal in the third person: "waits for a gradient". Call it from the
  // thread that computes or communicates. It costs a few nanoseconds.
  void enter(Doing doing, const char* what, int peer = -1)
  {
    occupation_.store({doing, peer}, std::memory_order_relaxed);
    what_.store(what, std::memory_order_release);
  }
  void set_step(std::int64_t step)
  {
    step_.store(step, std::memory_order_relaxed);
    advance();
  }
  // Reports progress inside work that takes as long as many steps (an evaluation, a checkpoint). A rank that stops advancing
  // counts as stalled.
  void advance() { advances_.fetch_add(1, std::memory_order_relaxed); }

  // The readers below may be called from any thread. Two values read one after the other may belong to different moments.
  Occupation occupation() const { return occupation_.load(std::memory_order_relaxed); }
  const char* what() const { return what_.load(std::memory_order_acquire); }
  std::int64_t step() const { return step_.load(std::memory_order_relaxed); }
  std::int64_t advances() const { return advances_.load(std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<Occupation>::is_always_lock_free);
  std::atomic<Occupation> occupation_{Occupation{}};
  std::atomic<const char*> what_{"starts"};
  std::atomic<std::int64_t> step_{0}, advances_{0};
};

} // namespace dt::comm
