// Strategy: how ranks keep in step. One file a strategy, one line in make_strategy (registry.cpp).
#pragma once

#include "core/run_spec.hpp"
#include "engine/comm/allreduce.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/replica.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::engine {

// Marks what a rank does, for the phase times; the trainer gives it. Phases nest nowhere.
class PhaseClock {
public:
  virtual ~PhaseClock() = default;
  virtual void begin_communication() = 0; // from here the rank waits on others and does nothing else
  virtual void end_communication() = 0;
  virtual void begin_update() = 0;
  virtual void end_update() = 0;
};

// A buffer that a strategy keeps from step to step, laid out as the replica's weights: a centre, a velocity of its own.
struct StrategyState {
  std::string name; // "centre"
  std::span<float> values;
  bool per_rank = true; // false: equal on all ranks between two steps
};

class Strategy {
public:
  virtual ~Strategy() = default;
  // Before the first step: makes all ranks start from the same weights. Collective.
  virtual void start(Replica& replica) = 0;
  // One step: compute, communicate, update. Returns the mean loss over the samples of all ranks. Collective for synchronous ones.
  virtual double step(Replica& replica, PhaseClock& clock) = 0;
  // All that a step leaves behind for the next one beside the replica, in a fixed order, equally many on every rank.
  virtual std::vector<StrategyState> state() { return {}; }
  // Whether weights and optimizer state are equal on all ranks between two steps. Where not, a checkpoint holds each rank's.
  virtual bool replicated() const { return true; }
};

// The strategy of that name (of strategy_names()); references are kept, so they must outlive it.
std::unique_ptr<Strategy> make_strategy(const SyncSpec& sync, Communicator& comm);

// Names the registry offers, for the test that holds it to core's vocabulary.
std::vector<std::string> registered_strategies();

} // namespace dt::engine
