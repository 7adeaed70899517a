// What the simulation of a run costs on the machine that simulates it.
#pragma once

#include "core/spec/run_spec.hpp"

namespace dt {

struct SimulationCost {
  double real_s = 0;       // processor time, on one core
  double memory_bytes = 0; // of the process
};

// An estimate from the number of messages: within a factor of about three on current machines (docs/benchmarks.md).
SimulationCost simulation_cost(const RunSpec& spec);

} // namespace dt
