// Doorbell: how the ranks of a node wait for what others of them write to shared memory.
#pragma once

#include "engine/comm/machine/pause.hpp"

#include <atomic>
#include <cstdint>

namespace dt::comm {

enum class Waiting {
  spins,  // polls: the awaited rank runs on a core of its own
  sleeps, // polls shortly, then sleeps until the bell is rung: ranks share cores
};

// Lies in shared memory, starts as zeros, and must be the same for all who wait for each other.
struct alignas(128) Doorbell {
  std::atomic<std::uint32_t> rings;
  std::atomic<std::uint32_t> sleepers;
};

// One rank's view of a doorbell. All ranks must wait in the same way.
class NodeWait {
 public:
  NodeWait(Doorbell& bell, Waiting waiting) : bell_(&bell), waiting_(waiting) {}
  // Call it after writing a value that others wait for.
  void tell() const
  {
    wake_pollers();
    if (waiting_ == Waiting::sleeps) ring();
  }
  // Returns when ready() is true. ready() must read with memory_order_acquire what was written before tell().
  template<class Ready> void until(const Ready& ready) const
  {
    for (int polls = 1; !ready(); ++polls) {
      if (waiting_ == Waiting::spins || polls < polls_before_sleep)
        pause_between_polls(polls);
      else
        sleep_unless(ready);
    }
  }
  Waiting waiting() const { return waiting_; }

 private:
  static constexpr int polls_before_sleep = 210;
  // Announces itself before it looks again, so that whoever writes after this look rings.
  template<class Ready> void sleep_unless(const Ready& ready) const
  {
    bell_->sleepers.fetch_add(1);
    const auto heard = bell_->rings.load();
    if (!ready()) sleep_until_rung(heard);
    bell_->sleepers.fetch_sub(1);
  }
  void ring() const;
  // Sleeps while the bell has been rung `heard` times; may return early.
  void sleep_until_rung(std::uint32_t heard) const;

  Doorbell* bell_;
  Waiting waiting_;
};

} // namespace dt::comm
