// `hsgd`: hierarchical synchronous SGD. [Wang2020]
//
// In every step the ranks of a node sum their gradients in shared memory. With node_period 1 the same allreduce continues across
// the nodes: this is sync-sgd in two levels. With node_period k each node makes its steps with its own mean gradient, and every k
// steps all ranks average their weights; a node's weight in this average is its number of ranks. Velocities are not averaged.
#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/gradient_sums.hpp"
#include "engine/sync/exchange/isolated.hpp"

namespace dt::sync {
namespace {

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
  GradientNoise* noise() override { return &sums_->noise(); }
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

comm::AllreduceOptions hierarchical(const StrategyParts& parts)
{
  auto options = parts.allreduce();
  options.algorithm = "hierarchical";
  return options;
}

// The parts for the same strategy on the ranks of this node only.
StrategyParts parts_of_node(const StrategyParts& parts, comm::Communicator& node)
{
  const auto ranks = static_cast<std::size_t>(node.size());
  const comm::Topology topology{std::vector<int>(ranks, 0), std::vector<int>(ranks, 0)};
  return {.sync = parts.sync,
          .comm = node,
          .topology = topology,
          .roles = make_roles(parts.sync, topology, node.rank()),
          .cache = parts.cache,
          .threads = parts.threads,
          .oversubscribe = parts.oversubscribe,
          .updates_whole = parts.updates_whole};
}

Hsgd::Hsgd(const StrategyParts& parts) : parts_(parts), over_all_(comm::make_allreduce(hierarchical(parts), parts.comm))
{
  if (!has_levels()) {
    sums_ = std::make_unique<GradientSums>(parts_, *over_all_);
    return;
  }
  node_ = parts_.comm.split(parts_.topology.node[static_cast<std::size_t>(parts_.comm.rank())], parts_.comm.rank());
  const auto own = parts_of_node(parts_, *node_);
  in_node_ = comm::make_allreduce(hierarchical(own), *node_);
  sums_ = std::make_unique<GradientSums>(own, *in_node_);
}

void Hsgd::start(Replica& replica) { parts_.comm.broadcast(replica.weights()); }

double Hsgd::step(Replica& replica, PhaseClock& clock)
{
  // g^i <- gradient of the loss at W over rank i's batch
  const BatchLoss loss = sums_->compute(replica, clock);
  // W <- opt(W, sum_i g^i / P), over all ranks, or with levels over this node's ranks
  const double mean_loss = sums_->update(loss, replica, clock);
  if (has_levels() && ends_node_period(replica)) average_nodes(replica, clock);
  return mean_loss;
}

// W <- sum_j W^j / P
void Hsgd::average_nodes(Replica& replica, PhaseClock& clock)
{
  parts_.comm.activity().enter(comm::Doing::waits, "waits for the sum of the nodes' weights");
  clock.begin_communication();
  sum_over_ranks(*over_all_, parts_.comm, weights_of(replica));
  clock.end_communication();
  clock.begin_update();
  scale(weights_of(replica), 1.0F / static_cast<float>(parts_.comm.size()));
  clock.end_update();
}

double Hsgd::isolated_communication_s(Replica& replica)
{
  const double gradients_s = sums_->isolated_s(replica);
  if (!has_levels()) return gradients_s;
  const Range whole{0, replica.weights().size()};
  return gradients_s +
         measure_isolated_sums_s(parts_.comm, *over_all_, {&whole, 1}, replica) / static_cast<double>(parts_.sync.node_period);
}

} // namespace

std::unique_ptr<Strategy> make_hsgd(const StrategyParts& parts) { return std::make_unique<Hsgd>(parts); }

} // namespace dt::sync
