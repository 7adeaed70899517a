// SimulatedReplica: a replica whose passes take the time of the run's compute model, and are reported to the step's timer.
#pragma once

#include "engine/sim/run/compute_model.hpp"
#include "engine/sync/modelled_replica.hpp"
#include "engine/train/step/step_timer.hpp"

namespace dt::sim {

// Which rank computes, and on which node.
struct RankSeat {
  std::int64_t node = 0, rank = 0;
};

class SimulatedReplica : public sync::ModelledReplica {
 public:
  // model and timer must outlive the replica.
  SimulatedReplica(const ComputeModel& model, const RankSeat& seat, train::StepTimer& timer);

  // epoch: epochs completed before the step.
  void begin(double epoch);

  sync::BatchLoss compute(sync::GradientListener* listener) override;
  sync::Step step() const override
  {
    auto step = ModelledReplica::step();
    step.epoch = epoch_;
    return step;
  }

 private:
  const ComputeModel& model_;
  RankSeat seat_;
  train::StepTimer& timer_;
  double epoch_ = 0;
};

} // namespace dt::sim
