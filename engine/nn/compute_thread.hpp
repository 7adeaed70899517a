// The state a thread must be in before it runs oneDNN primitives.
#pragma once

namespace dt::engine {

// Gives the calling thread a team of `threads` OpenMP threads, and makes all of them flush denormal numbers to zero: they
// appear late in training and cost a hundred cycles each. Cheap; called before every computation, because both are
// properties of the calling thread and its team.
void prepare_compute_thread(int threads);

} // namespace dt::engine
