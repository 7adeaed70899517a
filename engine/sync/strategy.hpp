// Strategy: how ranks keep their models in step. Each strategy has one file, one line in make_strategy (registry.cpp), and one
// row with its properties (core/spec/strategy_table.cpp).
#pragma once

#include "core/record/run_record.hpp"
#include "core/spec/run_spec.hpp"
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/replica.hpp"
#include "engine/sync/roles.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::sync {

class GradientNoise; // engine/sync/exchange/gradient_noise.hpp

// Receives the begin and end of a rank's phases, to measure phase times. The trainer implements it. Phases do not nest.
class PhaseClock {
 public:
  virtual ~PhaseClock() = default;
  virtual void begin_communication() = 0; // from here on this rank only waits for other ranks
  virtual void end_communication() = 0;
  virtual void begin_update() = 0;
  virtual void end_update() = 0;
};

// A buffer that a strategy keeps between steps, with the layout of the replica's weights; for example a centre.
struct StrategyState {
  std::string name; // "centre"
  std::span<float> values;
  bool per_rank = true; // false: equal on all ranks between two steps
};

class NodeSlices;

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Called before the first step: gives all ranks the same weights. Collective.
  virtual void start(Replica& replica) = 0;
  // Makes one step of this rank. Returns the mean training loss: over the samples of all ranks if the step sums over them,
  // otherwise over this rank's batch; not_measured on a server. A worker computes, communicates and updates. A server serves as
  // many exchanges as all workers together make in one step, whichever workers they come from. So after the same number of steps
  // on all ranks every exchange is answered and no message is in transit.
  virtual double step(Replica& replica, PhaseClock& clock) = 0;
  // Whether all workers wait for each other in the replica's current step. Equal on all ranks.
  virtual bool meets(const Replica&) const { return true; }
  // All state between steps besides the replica, in a fixed order and with the same number of entries on every rank.
  virtual std::vector<StrategyState> state() { return {}; }
  // Whether weights and optimizer state are equal on all ranks between two steps. If not, a checkpoint stores those of each rank.
  virtual bool replicated() const { return true; }
  // Whether there is a centre: the elastic centre, or the servers' weights.
  virtual bool has_centre() const { return false; }
  // Copies the centre to `centre` on every rank. Allowed only between two steps and only if has_centre(). The traffic is not
  // counted. Collective.
  virtual void read_centre(Replica& replica, std::span<float> centre);
  // Seconds of one step's communication with nothing else running, measured now in separate buffers; not_measured if that has no
  // meaning. Call it after start(). The traffic is not counted. Collective.
  virtual double isolated_communication_s(Replica& replica);
  // Staleness of each update that this rank has made so far.
  virtual std::vector<std::int32_t> staleness() const { return {}; }
  // Called once between two steps, after the warm-up steps: buckets() counts from here.
  virtual void begin_measuring() {}
  // The buckets of gradients in the order of their sums, and when this rank had them. Empty if the strategy sums no gradients.
  virtual std::vector<BucketRecord> buckets() const { return {}; }
  // The gradient noise since begin_measuring(), in batches of one worker. Equal on all ranks. Null: the strategy sums no
  // gradients.
  virtual GradientNoise* noise() { return nullptr; }
  // Choices that the strategy made at run time, as name and value for the run's record: {"allreduce", "mpi, ring from 64 KiB"}.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
};

// The parts that a strategy is made of. References must outlive the strategy.
struct StrategyParts {
  SyncSpec sync;
  comm::Communicator& comm;      // of all ranks
  comm::Topology topology;       // of all ranks
  Roles roles;                   // of all ranks
  std::filesystem::path cache{}; // folder for timings of this machine; empty: none
  std::int64_t threads = 1;      // compute threads per rank
  bool oversubscribe = false;    // more threads than cores are allowed
  std::size_t packed_bytes = 0;  // size of all gradients, or all weights, in one piece; 0: unknown
  bool updates_whole = false;    // an update needs all gradients, because they are clipped by their total norm
  std::int64_t noise_every = 0;  // steps from one look at the gradient noise scale to the next; 0: none
  NodeSlices* node_slices{};     // the weights that the ranks of this node share; null: each rank has its own
  bool sums_in_pass = false;     // the computing thread makes sums of its own during a pass (synchronized batch norm)
  std::string progress_words{};  // how sync.progress was chosen, for the run record; empty if the recipe names it

  // Options for the allreduce that sync names, over all ranks.
  comm::AllreduceOptions allreduce() const
  {
    return {.algorithm = sync.allreduce, .wire = sync.wire, .topology = topology, .cache = cache, .largest_bytes = packed_bytes};
  }
};
// Makes the parts from the machine's properties: hosts, supernodes (given or probed), and the progress for sync.progress: auto.
// Collective.
StrategyParts make_parts(const RunSpec& spec, comm::Communicator& comm, const std::filesystem::path& cache);

// Makes the strategy parts.sync.strategy (one of strategy_names()). Collective.
std::unique_ptr<Strategy> make_strategy(const StrategyParts& parts);

// Names in the registry, for the test that compares them with core's vocabulary.
std::vector<std::string> registered_strategies();

} // namespace dt::sync
