// Exchanges: sums and the like that are begun in turn and waited for in the same order; who moves them on meanwhile is
// sync.progress.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/sync/strategy.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// What ranks do together: in one blocking call, or, where it can be moved on step by step, begun and then advanced.
struct Exchange {
  std::function<void()> at_once;
  std::function<std::unique_ptr<PendingSum>()> in_steps{}; // empty: it cannot
};

// The sum over the allreduce's ranks, in place.
Exchange sum_exchange(Allreduce& allreduce, std::span<float> values);

class Exchanges {
 public:
  virtual ~Exchanges() = default;
  // One more. Its buffers must be left alone until it has been waited for.
  virtual void begin(Exchange exchange) = 0;
  // Moves on what was begun, where that is the computing thread's task.
  virtual void advance() {}
  // Whether begin() and advance() take this thread's time.
  virtual bool is_polled() const { return false; }
  // Blocks until what was begun as number `i` since the last clear(), from 0, is done.
  virtual void wait(std::size_t i) = 0;
  // Waits for all that is on its way and forgets it.
  virtual void clear() = 0;
  // When that one was on its way, of monotonic_s(). After wait().
  struct Times {
    double begin_s = 0, end_s = 0;
  };
  virtual Times times(std::size_t i) const = 0;
  // Where a thread of its own runs, in words; empty without one.
  virtual std::string place() const { return {}; }
};

// By parts.sync.progress; a single rank has nothing to move on. A run error for `thread` without a core to spare, unless
// oversubscription is allowed. Collective.
std::unique_ptr<Exchanges> make_exchanges(const StrategyParts& parts);

// Strategy::facts() of a strategy of these parts: what the allreduce (null: none) chose, and where the thread runs.
std::vector<std::pair<std::string, std::string>> facts_of(const Allreduce* allreduce, const Exchanges& exchanges);

} // namespace dt::engine
