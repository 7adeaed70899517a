// Probe: a short measurement of every rank's place before the first step, to tell a slow node from a slow program.
#pragma once

#include "core/run_record.hpp"
#include "engine/comm/communicator.hpp"

#include <string>

namespace dt::engine {

// On all ranks at the same time, as in training, in about 0.2 s: a single-precision matrix product on `threads` threads (best
// of several repetitions of about 20 ms), the clock of the core right after it, and the run's own allreduce over 1 MiB (median;
// not measured on one rank). Whole on rank 0; elsewhere without `ranks`. Counted in comm.traffic(). Collective.
ProbeRecord probe_ranks(Communicator& comm, int threads, const std::string& allreduce);

// Single-precision matrix products of this process with so many threads, in Gflop/s; best of repetitions that take about
// `seconds` together, an even share each.
double matrix_gflops(int threads, double seconds);

} // namespace dt::engine
