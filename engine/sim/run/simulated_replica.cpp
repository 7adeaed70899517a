#include "engine/sim/run/simulated_replica.hpp"

namespace dt::sim {
namespace {

sync::ModelledReplica::Options options_of(const ComputeModel& model)
{
  return {.layers = model.layers,
          .forward_s = model.forward_s,
          .backward_s = model.backward_s,
          .sleeps = true,
          .update_vectors = model.update_vectors};
}

} // namespace

SimulatedReplica::SimulatedReplica(const ComputeModel& model, const RankSeat& seat, train::StepTimer& timer)
    : ModelledReplica(options_of(model)), model_(model), seat_(seat), timer_(timer)
{
}

void SimulatedReplica::begin(double epoch)
{
  begin_step(model_.factors ? model_.factors->factor(seat_.node, seat_.rank, step().number + 1) : 1);
  epoch_ = epoch;
}

sync::BatchLoss SimulatedReplica::compute(sync::GradientListener* listener)
{
  ModelledReplica::compute(listener);
  timer_.add(Phase::forward, forward_s());
  timer_.add(Phase::backward, backward_s());
  return {0, model_.batch};
}

} // namespace dt::sim
