// Prepares a thread for running oneDNN primitives.
#pragma once

namespace dt::nn {

// Gives the calling thread a team of `threads` OpenMP threads, and makes all of them flush denormal numbers to zero: denormals
// appear late in training and cost a hundred cycles each. Both are properties of the calling thread and its team, so this is
// called before every computation. It is fast.
void prepare_compute_thread(int threads);

} // namespace dt::nn
