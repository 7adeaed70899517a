// Strategy: how ranks keep in step. One file a strategy, one line in make_strategy (registry.cpp).
#pragma once

#include "core/run_record.hpp"
#include "core/run_spec.hpp"
#include "engine/comm/allreduce.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/replica.hpp"
#include "engine/sync/roles.hpp"

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
  // One step of this rank. Returns the mean training loss that it knows: over the samples of all ranks where a step sums over them,
  // of its own batch elsewhere, not_measured on a server.
  // A worker computes, communicates and updates. A server serves as many exchanges as all workers together make in one step,
  // whoever makes them: so after equally many steps of all ranks every exchange is answered and nothing is on its way.
  virtual double step(Replica& replica, PhaseClock& clock) = 0;
  // Whether ranks may be at different steps. Then nothing but an evaluation or a checkpoint may make them wait for one another.
  virtual bool is_asynchronous() const { return false; }
  // All that a step leaves behind for the next one beside the replica, in a fixed order, equally many on every rank.
  virtual std::vector<StrategyState> state() { return {}; }
  // Whether weights and optimizer state are equal on all ranks between two steps. Where not, a checkpoint holds each rank's.
  virtual bool replicated() const { return true; }
  // Whether there is a centre: the elastic one, or the servers' weights.
  virtual bool has_centre() const { return false; }
  // centre <- the centre, on every rank. Only between two steps, and only when there is one. Not counted as traffic. Collective.
  virtual void read_centre(Replica& replica, std::span<float> centre);
  // After start(): seconds that the communication of one step takes with nothing beside it, measured now in buffers of its own;
  // not_measured when that has no meaning. Not counted as traffic. Collective.
  virtual double isolated_communication_s(Replica& replica);
  // Of the updates that this rank has served so far.
  virtual std::vector<std::int32_t> staleness() const { return {}; }
  // What it found out by itself, for the record: {"allreduce", "ring from 64 KiB up, else mpi"}.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

// What a strategy is made of. References are kept and must outlive it.
struct StrategyParts {
  SyncSpec sync;
  Communicator& comm; // all ranks
  Topology topology;  // of them
  Roles roles;        // of them
  std::filesystem::path cache{}; // of timings of this machine; empty: none
  std::int64_t threads = 1;      // that compute on each rank
  bool oversubscribe = false;    // more threads than cores are allowed
  std::size_t packed_bytes = 0;  // of all gradients, or all weights, in one piece; 0: not known
  std::string progress_words{};  // how sync.progress was chosen, for the record; empty: the recipe names it

  // For the allreduce that sync names, over all ranks.
  AllreduceOptions allreduce() const
  {
    return {.algorithm = sync.allreduce, .wire = sync.wire, .topology = topology, .cache = cache, .largest_bytes = packed_bytes};
  }
};
// The parts by what the machine tells: hosts, supernodes as given or found by a probe, and who moves messages on where sync.progress is
// auto. Collective.
StrategyParts make_parts(const RunSpec& spec, Communicator& comm, const std::filesystem::path& cache);

// The strategy of that name (of strategy_names()). Collective.
std::unique_ptr<Strategy> make_strategy(const StrategyParts& parts);

// Names the registry offers, for the test that holds it to core's vocabulary.
std::vector<std::string> registered_strategies();

} // namespace dt::engine
