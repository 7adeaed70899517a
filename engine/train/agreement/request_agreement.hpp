// RequestAgreement: the steps after which the ranks check their overseers' requests (stop, write a checkpoint), and the request
// that they agree on.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/train/agreement/overseer.hpp"
#include "engine/train/step/training_clock.hpp"

#include <array>
#include <cstdint>
#include <functional>

namespace dt::train {

// The steps after which all ranks check for requests together. A check is one small allreduce, which would be too expensive after
// every step of a fast model. So all ranks check every K steps, and K follows rank 0's step time: they check several times per
// second for any step time.
class CheckSchedule {
 public:
  // The first check comes after the first step, the following ones about every_s seconds apart.
  explicit CheckSchedule(std::int64_t steps_done, double every_s = 0.25) : every_s_(every_s), next_(steps_done + 1) {}

  bool is_due(std::int64_t step) const { return step >= next_; }
  // Proposes K, given that the last `interval()` steps took `seconds`. At most twice the previous K, because the first steps of a
  // run are not typical.
  std::int64_t proposal(double seconds) const;
  // Sets the interval that was agreed after `step`. Must be equal on all ranks.
  void agree(std::int64_t step, std::int64_t interval);
  std::int64_t interval() const { return interval_; }

 private:
  double every_s_;
  std::int64_t interval_ = 1;
  std::int64_t next_;
};

// Combines the requests of all ranks, with as little waiting as possible: a reduction that does not block. Ranks begin it and
// read the result then or at a later check. Ranks that begin and read after the same steps read the same result, so they act
// alike. A rank waits only for ranks that have not begun yet. If ranks read one check after they began, they can drift apart by
// the steps between two checks, but not more.
class RequestReduction {
 public:
  struct Result {
    Overseer::Request request; // the requests of all ranks combined by `or`
    std::int64_t interval = 1; // steps to the next check, as proposed by rank 0
  };
  explicit RequestReduction(comm::Communicator& comm) : comm_(comm) {}
  RequestReduction(const RequestReduction&) = delete;
  RequestReduction& operator=(const RequestReduction&) = delete;

  // Gives this rank's request, and rank 0's proposal for the interval. Call it once between two calls of result(). Collective:
  // all ranks call it in the same order relative to their other collective calls. Does not block.
  void begin(const Overseer::Request& own, std::int64_t proposal);
  // The result of the last begin(). Blocks until every rank has called it. Before the first begin(): no request.
  Result result();

 private:
  comm::Communicator& comm_;
  std::array<double, 5> own_{}, sums_{0, 0, 0, 0, 1};
  comm::Transfer pending_;
};

class RequestAgreement {
 public:
  struct Options {
    // Whether the strategy's ranks run at their own pace. Synchronous ranks agree at once on the requests of a check.
    // Asynchronous ranks agree at the next check, so that no rank waits for a slower rank's step.
    bool asynchronous = false;
    std::int64_t steps_done = 0; // by earlier attempts
  };
  // clock and comm must outlive the RequestAgreement.
  RequestAgreement(const Options& options, const TrainingClock& clock, comm::Communicator& comm);

  // Call it before the first step, after clock.start().
  void begin() { checked_s_ = clock_.training_s(); }
  // Whether the ranks check after this step. Equal on all ranks.
  bool is_due(std::int64_t step) const { return schedule_.is_due(step); }
  // Checks the requests after a step: afterwards all ranks have the same request(). Calls write_checkpoint on every rank if that
  // request asks for a checkpoint. Collective.
  void check(std::int64_t step, Overseer& overseer, const std::function<void()>& write_checkpoint);
  // Call it after the last check: completes the reduction that asynchronous ranks have begun. Collective.
  void end() { reduction_.result(); }

  // The requests of all ranks combined, as agreed at the last check. Before the first check: no request.
  const Overseer::Request& request() const { return request_; }

 private:
  bool is_cancelled(Overseer& overseer);

  bool asynchronous_;
  const TrainingClock& clock_;
  CheckSchedule schedule_;
  RequestReduction reduction_;
  Overseer::Request request_;
  double checked_s_ = 0; // training time at the end of the last check
};

} // namespace dt::train
