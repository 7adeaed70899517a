#include "engine/train/agreement/council.hpp"

namespace dt::train {

void Council::hand_in(const Overseer::Wish& mine, std::int64_t proposal)
{
  const auto interval = static_cast<double>(comm_.is_root() ? proposal : 0);
  handed_in_ = {1.0 * mine.time_limit, 1.0 * mine.preemption, 1.0 * mine.cancel, 1.0 * mine.checkpoint, interval};
  pending_ = comm_.sum_record_begin(handed_in_, sums_);
}

Council::Agreement Council::read()
{
  comm_.activity().enter(comm::Doing::waits, "waits for the other ranks to look up");
  pending_.wait();
  return {.wish = {.time_limit = sums_[0] > 0, .preemption = sums_[1] > 0, .cancel = sums_[2] > 0, .checkpoint = sums_[3] > 0},
          .interval = static_cast<std::int64_t>(sums_[4])};
}

} // namespace dt::train
