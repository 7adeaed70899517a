#include "engine/sync/strategies/hsgd.hpp"

#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/exchange/elastic.hpp"
#include "engine/sync/exchange/isolated.hpp"

namespace dt::sync {
namespace {

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

} // namespace

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
  over_all_->sum(replica.weights());
  clock.end_communication();
  clock.begin_update();
  scale(replica.weights(), 1.0F / static_cast<float>(parts_.comm.size()));
  clock.end_update();
}

double Hsgd::isolated_communication_s(Replica& replica)
{
  const double gradients_s = sums_->isolated_s(replica);
  if (!has_levels()) return gradients_s;
  comm::Floats own(replica.weights().size());
  return gradients_s +
         measure_isolated_s(parts_.comm, [&] { over_all_->sum(own); }) / static_cast<double>(parts_.sync.node_period);
}

} // namespace dt::sync
