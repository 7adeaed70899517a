// ModelledPass: gives a pass over a batch the time that it would take on a modelled processor, by sleeping (train.modelled_rate).
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"

#include <algorithm>
#include <cstddef>

namespace dt::train {

class ModelledPass {
 public:
  // The pass begins at begin_s (comm::monotonic_s) and takes `total_s`: a third for the forward pass, the rest for the backward
  // pass, in equal parts for its tensors. total_s 0: the pass is not modelled, and nothing sleeps.
  ModelledPass(double begin_s, double total_s) : begin_s_(begin_s), total_s_(total_s) {}

  // Sleeps until the gradients of a tensor would be ready; the last of `tensors` comes first. Returns the seconds slept, as all
  // functions here.
  double sleep_until_ready(std::size_t tensor, std::size_t tensors) const
  {
    const double done = static_cast<double>(tensors - tensor) / static_cast<double>(tensors);
    return sleep_until(total_s_ * (forward_share + (1 - forward_share) * done));
  }
  double sleep_until_end() const { return sleep_until(total_s_); }
  // The modelled time of the forward pass, or the real one if that is longer.
  double forward_s(double real_s) const { return std::max(real_s, forward_share * total_s_); }

 private:
  static constexpr double forward_share = modelled_forward_share;

  double sleep_until(double after_begin_s) const
  {
    if (total_s_ == 0) return 0;
    const double now_s = comm::monotonic_s(), rest_s = begin_s_ + after_begin_s - now_s;
    if (rest_s <= 0) return 0;
    comm::pause_s(rest_s);
    return comm::monotonic_s() - now_s;
  }

  double begin_s_, total_s_;
};

} // namespace dt::train
