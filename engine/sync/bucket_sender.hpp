// BucketSender: sums that are begun in turn and waited for in the same order; who moves them on meanwhile is sync.progress.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/sync/strategy.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

class BucketSender {
public:
  virtual ~BucketSender() = default;
  // One more sum over all ranks, in place. The buffer must stay as it is until the sum has been waited for.
  virtual void begin(std::span<float> values) = 0;
  // One more blocking call, in the same order as the sums.
  virtual void begin(std::function<void()> call) = 0;
  // Moves on what was begun, where that is the computing thread's task.
  virtual void advance() {}
  // Whether begin() and advance() take this thread's time.
  virtual bool is_polled() const { return false; }
  // Blocks until what was begun as number `i` since the last clear(), from 0, is done.
  virtual void wait(std::size_t i) = 0;
  // Waits for all that is on its way and forgets it.
  virtual void clear() = 0;
  // When the sum of that number was on its way, of monotonic_s(). After wait().
  struct Times {
    double begin_s = 0, end_s = 0;
  };
  virtual Times times(std::size_t i) const = 0;
  // Where a thread of its own runs, in words; empty without one.
  virtual std::string place() const { return {}; }
};

// The sender of parts.sync.progress, or one of a single rank. The allreduce must outlive it. A run error for `thread` without a core
// to spare, unless oversubscription is allowed. Collective.
std::unique_ptr<BucketSender> make_bucket_sender(const StrategyParts& parts, Allreduce& allreduce);

} // namespace dt::engine
