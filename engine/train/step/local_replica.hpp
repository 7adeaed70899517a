// LocalReplica: builds what one rank trains with (network, batches, optimizer) from the spec, and owns it and its NetworkReplica.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/data/reading/loader.hpp"
#include "engine/nn/graph/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/step/network_replica.hpp"
#include "engine/train/step/plan.hpp"
#include "engine/train/step/step_timer.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace dt::train {

class LocalReplica {
 public:
  // source, sync.comm and timer must outlive the LocalReplica.
  struct Parts {
    const RunSpec& spec;
    const TrainingPlan& plan;
    const data::Source& source; // the training set
    const sync::StrategyParts& sync;
    const Algorithms& algorithms; // of the network's convolutions
    StepTimer& timer;             // measures the phases of a step
  };
  // The first batch is that of step `steps_done` + 1. Throws the errors of model and optimizer, and a recipe error if the memory
  // does not suffice. Collective.
  LocalReplica(const Parts& parts, std::int64_t steps_done);
  LocalReplica(const LocalReplica&) = delete;
  LocalReplica& operator=(const LocalReplica&) = delete;

  // Throws an environment error on every rank if the ranks hold their weights in different layouts. Collective.
  void require_equal_layouts() const;

  // Seconds that rank 0 takes for forward and backward pass of one batch while all other ranks sleep: the median of a few passes
  // over random images. not_measured on other ranks, and with synchronized batch norm, which needs all ranks in a pass. Changes
  // no state but the gradients. Call it after the last step, when all buffers have been in use. Collective.
  double lone_compute_s();

  nn::Network& network() { return network_; }
  const nn::Network& network() const { return network_; }
  optim::Optimizer& optimizer() { return *optimizer_; }
  NetworkReplica& replica() { return replica_; }
  const NetworkReplica& replica() const { return replica_; }
  // The node's memory with the one copy of the weights that its ranks share; null: each rank has its own.
  const comm::SharedVectors* node_memory() const { return node_memory_.get(); }
  // Samples of this rank's batches that could not be decoded and were replaced.
  std::int64_t replaced_samples() const { return loader_.replaced_samples(); }

 private:
  nn::NetworkOptions own_network_options(const Parts& parts);
  nn::ParameterMemory parameter_memory(const Parts& parts);
  std::unique_ptr<optim::Optimizer> make_optimizer(const RunSpec& spec);
  void take_mean(std::span<float> values);
  double median_pass_s();

  comm::Communicator& comm_;
  std::int64_t accumulation_; // passes per batch
  double modelled_pass_s_;
  StepTimer& timer_;
  std::unique_ptr<comm::Allreduce> statistics_sum_;  // for synchronized batch norm; otherwise null
  std::unique_ptr<comm::SharedVectors> node_memory_; // weights, the rule's buffers and all ranks' gradients; or null
  nn::Network network_;
  data::BatchLoader loader_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  NetworkReplica replica_;
};

} // namespace dt::train
