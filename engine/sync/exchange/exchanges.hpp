// Exchanges: communication that is begun and waited for in the same order. sync.progress determines which thread advances it in
// between.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/sync/vector.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::sync {

// A communication of all ranks: one blocking call, or, if the algorithm supports it, begun and then advanced in steps.
struct Exchange {
  std::function<void()> at_once;
  std::function<std::unique_ptr<comm::PendingSum>()> in_steps{}; // empty: cannot be advanced in steps
};

// The sum over the allreduce's ranks, in place.
Exchange sum_exchange(comm::Allreduce& allreduce, std::span<float> values);
// The sum of a vector over all ranks of comm, which are the allreduce's ranks. If the vector's device can sum, the device does,
// and the exchange is complete as soon as that has begun; it counts as one message of comm::bandwidth_optimal_bytes().
Exchange sum_exchange(comm::Allreduce& allreduce, comm::Communicator& comm, const Vector& values);
// to <- sum of `from`, which may change as soon as the exchange has begun if the device sums; else it must not until it is
// complete.
Exchange sum_exchange(comm::Allreduce& allreduce, comm::Communicator& comm, const Vector& from, const Vector& to);
// Makes the sum in place; if the device sums, it only begins it.
void sum_over_ranks(comm::Allreduce& allreduce, comm::Communicator& comm, const Vector& values);

class Exchanges {
 public:
  virtual ~Exchanges() = default;
  // Adds an exchange. The caller must not touch its buffers until wait() for it has returned.
  virtual void begin(Exchange exchange) = 0;
  // Advances all begun exchanges if the computing thread has a part in this task (sync.progress: poll).
  virtual void advance() {}
  // Whether begin() and advance() use this thread's time.
  virtual bool is_polled() const { return false; }
  // Blocks until exchange number `i` is complete, counted from 0 since the last clear().
  virtual void wait(std::size_t i) = 0;
  // Waits for all exchanges that have begun, and removes them.
  virtual void clear() = 0;
  // Start and end of an exchange on the clock monotonic_s(). Valid after wait().
  struct Times {
    double begin_s = 0, end_s = 0;
  };
  virtual Times times(std::size_t i) const = 0;
  // For Strategy::facts(): the communication thread's core, or what polling took so far.
  virtual std::vector<std::pair<std::string, std::string>> facts() { return {}; }
};

// g <- gradient of the loss over this rank's batch, while the begun exchanges move on; those that are polled also between two
// layers. After an error they are completed before it is thrown, because other ranks take part in them.
BatchLoss compute_beside(Exchanges& exchanges, Replica& replica, comm::Communicator& comm, PhaseClock& clock);

// Makes the kind that parts.sync.progress names; a single rank always gets blocking exchanges. Throws a run error for `thread`
// without a spare core, unless oversubscription is allowed. Collective.
std::unique_ptr<Exchanges> make_exchanges(const StrategyParts& parts);

// Result of Strategy::facts(): the allreduce's selection (null: no allreduce) and the facts of the exchanges.
std::vector<std::pair<std::string, std::string>> facts_of(const comm::Allreduce* allreduce, Exchanges& exchanges);

} // namespace dt::sync
