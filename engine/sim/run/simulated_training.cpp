#include "engine/sim/run/simulated_training.hpp"

#include "core/units.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/compute_model.hpp"
#include "engine/sync/modelled_replica.hpp"
#include "engine/sync/strategy.hpp"
#include "engine/train/record/measurement.hpp"
#include "engine/train/record/rank_report.hpp"
#include "engine/train/step/plan.hpp"
#include "engine/train/step/step_timer.hpp"

namespace dt::sim {
namespace {

// SimulatedReplica: a replica whose passes take the time of the run's compute model, and are reported to the step's timer.

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

sync::ModelledReplica::Options options_of(const ComputeModel& model)
{
  return {.layers = model.layers,
          .forward_s = model.forward_s,
          .backward_s = model.backward_s,
          .sleeps = true,
          .update_vectors = model.update_vectors,
          .update_s = model.update_s.value_or(0)};
}

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

std::int64_t samples_of(const RunSpec& spec)
{
  if (spec.data.train_samples > 0) return spec.data.train_samples;
  return std::max(synthetic_train_samples, spec.effective_global_batch());
}

class Training {
 public:
  Training(const RunSpec& spec, const ComputeModel& model, comm::Communicator& comm)
      : spec_(spec), comm_(comm), parts_(sync::make_parts(spec, comm, {})), plan_(train::make_plan(spec, samples_of(spec))),
        measurement_({.warmup_steps = plan_.warmup_steps, .cores_per_rank = 1, .global_batch = plan_.global_batch}, parts_.roles,
                     comm),
        timer_(&comm), model_(model), replica_(model_, {comm.rank() / spec.resources.ranks_per_node, comm.rank()}, timer_)
  {
    parts_.packed_bytes = replica_.weights().size_bytes();
    strategy_ = sync::make_strategy(parts_);
  }

  RunResult run(train::Observer& observer)
  {
    strategy_->start(replica_);
    isolated_s_ = strategy_->isolated_communication_s(replica_);
    observer.planned(plan_.steps);
    comm_.barrier();
    begin_s_ = comm::monotonic_s();
    measurement_.begin(0);
    for (std::int64_t step = 1; step <= plan_.steps; ++step) make_step(step, observer);
    return finish();
  }

 private:
  double training_s() const { return comm::monotonic_s() - begin_s_; }

  void wait_for_input()
  {
    if (model_.input_s <= 0) return;
    comm::pause_s(model_.input_s);
    timer_.add(Phase::input, model_.input_s);
  }

  void make_step(std::int64_t step, train::Observer& observer)
  {
    replica_.begin(plan_.epoch_after(step - 1));
    timer_.begin_step();
    wait_for_input();
    strategy_->step(replica_, timer_);
    const double step_s = timer_.end_step(), elapsed_s = training_s();
    measurement_.add_step(timer_.phases(), step_s, elapsed_s, strategy_->meets(replica_));
    if (step == plan_.warmup_steps) strategy_->begin_measuring();
    observer.step({.step = step,
                   .epoch = plan_.epoch_after(step),
                   .elapsed_s = elapsed_s,
                   .loss = {},
                   .learning_rate = spec_.optimizer.learning_rate,
                   .step_s = step_s,
                   .phase_s = timer_.phases()});
  }

  RunResult finish()
  {
    RunResult result;
    result.wall_s = training_s();
    measurement_.end();
    result.steps = plan_.steps;
    result.parameters = parameter_count();
    result.flops.per_sample = model_.flops_per_sample;
    measurement_.fill(result, strategy_->staleness());
    result.isolated_communication_s = train::mean_of_workers(isolated_s_, parts_.roles, comm_);
    result.lone_compute_s = model_.forward_s + model_.backward_s;
    result.buckets = strategy_->buckets();
    for (const auto& [name, fact] : strategy_->facts()) result.facts[name] = fact;
    if (!parts_.progress_words.empty()) result.facts["progress"] = parts_.progress_words;
    result.unix_s = now_unix_s();
    return result;
  }

  std::int64_t parameter_count()
  {
    std::int64_t count = 0;
    for (const auto& tensor : replica_.tensors()) count += static_cast<std::int64_t>(tensor.size());
    return count;
  }

  const RunSpec& spec_;
  comm::Communicator& comm_;
  sync::StrategyParts parts_;
  train::TrainingPlan plan_;
  train::Measurement measurement_;
  train::StepTimer timer_;
  const ComputeModel& model_;
  SimulatedReplica replica_;
  std::unique_ptr<sync::Strategy> strategy_;
  double begin_s_ = 0;               // of the first step
  double isolated_s_ = not_measured; // Strategy::isolated_communication_s of this rank
};

} // namespace

RunResult train_simulated(const RunSpec& spec, const ComputeModel& model, comm::Communicator& comm, train::Observer& observer)
{
  return Training(spec, model, comm).run(observer);
}

} // namespace dt::sim
