#include "engine/train/agreement/request_agreement.hpp"

#include <algorithm>

namespace dt::train {
namespace {

// Approximate time between checks. Asynchronous ranks can drift apart by this time, and act on a request up to twice this time
// later.
constexpr double check_s = 0.25, asynchronous_check_s = 1.5;

} // namespace

std::int64_t CheckSchedule::proposal(double seconds) const
{
  const double fitting = static_cast<double>(interval_) * every_s_ / std::max(seconds, 1e-9);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(fitting, 2.0 * static_cast<double>(interval_))));
}

void CheckSchedule::agree(std::int64_t step, std::int64_t interval)
{
  interval_ = std::max<std::int64_t>(1, interval);
  next_ = step + interval_;
}

void RequestReduction::begin(const Overseer::Request& own, std::int64_t proposal)
{
  const auto interval = static_cast<double>(comm_.is_root() ? proposal : 0);
  own_ = {1.0 * own.time_limit, 1.0 * own.preemption, 1.0 * own.cancel, 1.0 * own.checkpoint, interval};
  pending_ = comm_.sum_record_begin(own_, sums_);
}

RequestReduction::Result RequestReduction::result()
{
  comm_.activity().enter(comm::Doing::waits, "waits for the other ranks to look up");
  pending_.wait();
  return {.request = {.time_limit = sums_[0] > 0, .preemption = sums_[1] > 0, .cancel = sums_[2] > 0, .checkpoint = sums_[3] > 0},
          .interval = static_cast<std::int64_t>(sums_[4])};
}

RequestAgreement::RequestAgreement(const Options& options, const TrainingClock& clock, comm::Communicator& comm)
    : asynchronous_(options.asynchronous), clock_(clock),
      schedule_(options.steps_done, options.asynchronous ? asynchronous_check_s : check_s), reduction_(comm)
{
}

// Rank 0 alone determines the number of steps to the next check. Asynchronous ranks read the requests given at the previous
// check, and give new ones after the checkpoint that those asked for.
void RequestAgreement::check(std::int64_t step, Overseer& overseer, const std::function<void()>& write_checkpoint)
{
  const auto proposal = schedule_.proposal(clock_.training_s() - checked_s_);
  if (!asynchronous_) reduction_.begin(overseer.request(), proposal);
  const auto agreed = reduction_.result();
  request_ = agreed.request;
  if (request_.stops() && !request_.cancel) request_.cancel = is_cancelled(overseer);
  schedule_.agree(step, agreed.interval);
  if (request_.asks_for_checkpoint()) write_checkpoint();
  if (asynchronous_) reduction_.begin(overseer.request(), proposal);
  checked_s_ = clock_.training_s();
}

// After all ranks have agreed to stop: agrees whether the reason is a cancellation. Collective.
bool RequestAgreement::is_cancelled(Overseer& overseer)
{
  reduction_.begin({.cancel = overseer.is_cancelled()}, 1);
  return reduction_.result().request.cancel;
}

} // namespace dt::train
