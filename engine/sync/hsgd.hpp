// `hsgd`: hierarchical synchronous SGD (Wang, Lu, Chen, Li: An Efficient Method for Training Deep Learning Networks Distributed).
//
// Every step the ranks of a node sum their gradients in shared memory. With node_period 1 the nodes sum on with one another, in
// the same allreduce: that is sync-sgd, in two levels. With node_period k each node steps along its own mean, and every k steps
// the nodes take the mean of their weights (over ranks, so a node weighs as many as it has); velocities stay the node's own.
#pragma once

#include "engine/sync/gradient_sums.hpp"

namespace dt::engine {

class Hsgd : public Strategy {
 public:
  explicit Hsgd(const StrategyParts& parts);
  void start(Replica& replica) override;
  // Returns the mean loss over the samples of all ranks; with node_period above 1, of this node's ranks.
  double step(Replica& replica, PhaseClock& clock) override;
  bool replicated() const override { return !has_levels(); }
  // The gradients' sum, and the share in a step of the weights' sum.
  double isolated_communication_s(Replica& replica) override;
  std::vector<std::pair<std::string, std::string>> facts() const override { return sums_->facts(); }

 private:
  // Whether nodes go on their own between two exchanges.
  bool has_levels() const { return parts_.sync.node_period > 1 && parts_.topology.nodes() > 1; }
  void average_nodes(Replica& replica, PhaseClock& clock);

  StrategyParts parts_;
  std::unique_ptr<Allreduce> over_all_;
  std::unique_ptr<Communicator> node_; // with levels: this node's ranks
  std::unique_ptr<Allreduce> in_node_;
  std::unique_ptr<GradientSums> sums_; // over all ranks; with levels: over the node's
};

} // namespace dt::engine
