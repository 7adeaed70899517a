// TimingBudget: shares out the time for a choice of algorithms to the convolutions of a network, by their cost. Pure.
#pragma once

#include "engine/nn/choice/convolution_trial.hpp"

namespace dt::nn {

// Floating-point operations of one run of the convolution: forward, backward to the weights and, where needed, to the data.
double flops_of(const ConvolutionCase& of);

// The same convolution on fewer images and, if that does not suffice, fewer rows, so that a run takes about `most_flops`. It
// stays large enough that every thread has an image and that its algorithms compare as on the whole, so a run may take more.
ConvolutionCase shrunk(const ConvolutionCase& of, double most_flops);

class TimingBudget {
 public:
  // `seconds` for all convolutions together, which cost `flops` in one run each.
  TimingBudget(double seconds, double flops, int threads);

  // What a convolution of `flops` in one run may take, of what is left: its part of all costs that are left.
  struct Share {
    double seconds = 0;
    double flops_per_run = 0; // of a convolution small enough that the least number of runs fits into `seconds`
  };
  Share share(double flops) const;
  // Whether the convolution of `flops` can be timed in a size of `timed_flops`, in little more than its share.
  bool fits(double flops, double timed_flops) const;
  // The convolution of `flops` was timed in a size of `timed_flops`, and that took so long.
  void spend(double flops, double timed_flops, double seconds);
  // The convolution of `flops` was not timed.
  void skip(double flops) { left_flops_ -= flops; }

 private:
  double left_s_, left_flops_;
  double flops_per_s_; // of the runs of a trial, with all that is around them: estimated first, then measured
  double most_flops_per_s_;
};

// The time to spend on convolutions that cost `flops` in one run each: a fixed number of runs' time, at most `most_s`.
double seconds_for(double flops, int threads, double most_s);

} // namespace dt::nn
