// Probe: a short measurement of every rank's node before the first step, to distinguish a slow node from a slow program.
#pragma once

#include "core/record/run_record.hpp"
#include "engine/comm/communicator.hpp"

#include <string>

namespace dt::train {

// Runs on all ranks at the same time, as training does; takes about 0.2 s. It measures a single-precision matrix product on
// `threads` threads (best of several repetitions of about 20 ms), the core's clock right after it, and the run's allreduce over 1
// MiB (median; not measured with one rank). The record is complete on rank 0; elsewhere it lacks `ranks`. Adds to comm.traffic().
// Collective.
ProbeRecord probe_ranks(comm::Communicator& comm, int threads, const std::string& allreduce);

// FLOP/s of one rank in those products, mean of the ranks. NaN: the record has none.
double matmul_flops(const ProbeRecord& probe);

// Speed of single-precision matrix products with `threads` threads, in Gflop/s: best of several repetitions that share `seconds`
// equally.
double matrix_gflops(int threads, double seconds);

} // namespace dt::train
