// `hsgd`: hierarchical synchronous SGD. [Wang2020]
//
// In every step the ranks of a node sum their gradients in shared memory. With node_period 1 the same allreduce continues across
// the nodes: this is sync-sgd in two levels. With node_period k each node makes its steps with its own mean gradient, and every k
// steps all ranks average their weights; a node's weight in this average is its number of ranks. Velocities are not averaged.
#pragma once

#include "engine/sync/exchange/gradient_sums.hpp"

namespace dt::sync {

class Hsgd : public Strategy {
 public:
  explicit Hsgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the mean loss over the samples of all ranks, or with node_period above 1 over those of this node's ranks.
  double step(Replica& replica, PhaseClock& clock) override;
  // With levels, the ranks of a node meet in every step, but all workers only every sync.node_period steps.
  bool meets(const Replica& replica) const override { return !has_levels() || ends_node_period(replica); }
  bool replicated() const override { return !has_levels(); }
  // Seconds of the gradients' sum, plus 1/node_period of the weights' sum.
  void begin_measuring() override { sums_->begin_measuring(); }
  std::vector<BucketRecord> buckets() const override { return sums_->buckets(); }
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_->facts(); }

 private:
  // Whether the nodes make steps independently between two exchanges.
  bool ends_node_period(const Replica& replica) const { return replica.step().number % parts_.sync.node_period == 0; }
  bool has_levels() const { return parts_.sync.node_period > 1 && parts_.topology.nodes() > 1; }
  void average_nodes(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  std::unique_ptr<comm::Allreduce> over_all_;
  std::unique_ptr<comm::Communicator> node_; // with levels: the ranks of this node
  std::unique_ptr<comm::Allreduce> in_node_;
  std::unique_ptr<GradientSums> sums_; // over all ranks; with levels: over this node's ranks
};

} // namespace dt::sync
