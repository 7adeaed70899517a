// Estimates of the time and memory that dtsim needs to simulate a run, and the largest run that it simulates.
#pragma once

#include "core/spec/run_spec.hpp"

namespace dt {

inline constexpr std::int64_t most_simulated_ranks = 65536;

// The real time of a simulation grows with the number of messages. So beyond this number of ranks dtsim sends each slice of a sum
// as one message, and cuts a vector that ranks pass on as a whole (tree) into this number of chunks.
inline constexpr std::int64_t most_ranks_with_short_messages = 8;
inline constexpr int chunks_of_whole_vector = 64;
// Beyond that number of ranks, nodes sum a long vector in blocks of up to this many times the usual length
// (core/hierarchical_blocks.hpp). A vector of 250 MB still has 32 of them.
inline constexpr std::size_t longest_simulated_block_growth = 4;

struct SimulationCost {
  double real_s = 0;       // processor time, on one core
  double memory_bytes = 0; // of the process
};

// An estimate from the number of messages: within a factor of about three on current machines (docs/design/simulation.md).
SimulationCost simulation_cost(const RunSpec& spec);

} // namespace dt
