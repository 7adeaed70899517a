#include "engine/sync/sync_sgd.hpp"

#include "engine/sync/elastic.hpp"

#include <array>

namespace dt::engine {
namespace {

// Mean over the samples of all ranks. For the records, so it is not counted as traffic; it is waited for all the same.
double global_mean(const BatchLoss& loss, Communicator& comm)
{
  if (comm.size() == 1) return loss.mean;
  const auto samples = static_cast<double>(loss.samples);
  std::array sums{loss.mean * samples, samples};
  comm.sum_record(sums);
  return sums[0] / sums[1];
}

} // namespace

SyncSgd::SyncSgd(const StrategyParts& parts) : comm_(parts.comm), allreduce_(make_allreduce(parts.allreduce(), parts.comm)) {}

void SyncSgd::start(Replica& replica) { comm_.broadcast(replica.weights()); }

double SyncSgd::step(Replica& replica, PhaseClock& clock)
{
  // g^i <- gradient of the loss at W over rank i's batch
  const BatchLoss loss = replica.compute();

  // g <- sum_i g^i, all parameters in one packed buffer
  clock.begin_communication();
  allreduce_->sum(replica.gradients());
  const double mean_loss = global_mean(loss, comm_);
  clock.end_communication();

  clock.begin_update();
  // W <- opt(W, g / P)
  replica.update({0, replica.weights().size()}, 1.0F / static_cast<float>(comm_.size()));
  clock.end_update();
  return mean_loss;
}

} // namespace dt::engine
