// Estimates of the time and memory that dtsim needs to simulate a run, and the largest run that it simulates.
#pragma once

#include "core/spec/run_spec.hpp"

namespace dt {

inline constexpr std::int64_t most_simulated_ranks = 65536;

// The real time of a simulation grows with the number of messages. So dtsim sends slices that are not passed on as one message,
// of at most this many numbers (1 GiB: SMPI counts a message's bytes with int), and cuts a vector that ranks pass on (ring, tree)
// into about this number of chunks.
inline constexpr std::size_t longest_simulated_message = std::size_t{1} << 28;
inline constexpr int simulated_chunks_of_a_vector = 64;
// Shorter messages travel before their receive is posted, as over TCP in Open MPI.
inline constexpr std::size_t simulated_eager_bytes = 64 << 10;
// Simulated nodes sum a long vector in blocks of up to this many times the usual length (core/maths/hierarchical_blocks.hpp). A
// vector of 250 MB still has 32 of them.
inline constexpr std::size_t longest_simulated_block_growth = 4;

struct SimulationCost {
  double real_s = 0;       // processor time, on one core
  double memory_bytes = 0; // of the process
};

// An estimate from the number of messages: within a factor of about three on current machines (docs/design/simulation.md).
SimulationCost simulation_cost(const RunSpec& spec);

} // namespace dt
