#include "engine/train/step/plan.hpp"

#include "core/error.hpp"

#include <cmath>

#include <fmt/format.h>

namespace dt::train {
namespace {

// Tolerance for sums and products of decimal fractions, which miss whole numbers by a few ulp.
constexpr double slack = 1e-9;

std::int64_t step_count(const TrainSpec& train, double steps_per_epoch)
{
  if (train.steps > 0) return train.steps;
  return static_cast<std::int64_t>(std::ceil(train.epochs * steps_per_epoch * (1 - slack)));
}

void require_sound(const TrainingPlan& plan, const RunSpec& spec)
{
  if (plan.global_batch <= 0 || plan.batch_per_rank * spec.workers() != plan.global_batch)
    throw Error(
        ErrorKind::recipe,
        fmt::format(
            "train.global_batch of {} does not divide among {} workers; choose a multiple of {}, or give train.batch_per_rank.",
            plan.global_batch, spec.workers(), spec.workers()));
  if (plan.micro_batch * spec.train.accumulation != plan.batch_per_rank)
    throw Error(ErrorKind::recipe, fmt::format("train.accumulation of {} does not divide the {} samples of a rank's batch.",
                                               spec.train.accumulation, plan.batch_per_rank));
  if (plan.steps <= 0) throw Error(ErrorKind::recipe, "The run has no steps; give train.epochs or train.steps.");
  if (plan.warmup_steps >= plan.steps)
    throw Error(ErrorKind::recipe,
                fmt::format("train.warmup_steps of {} leaves none of the {} steps to measure; lower it or train longer.",
                            plan.warmup_steps, plan.steps));
}

} // namespace

double TrainingPlan::epoch_after(std::int64_t step) const
{
  return static_cast<double>(step) * static_cast<double>(global_batch) / static_cast<double>(samples);
}

bool TrainingPlan::evaluates_after(std::int64_t step) const
{
  if (step == steps) return true;
  if (eval_every_epochs <= 0) return false;
  const auto periods = [&](std::int64_t s) { return std::floor(epoch_after(s) / eval_every_epochs + slack); };
  return periods(step) > periods(step - 1);
}

TrainingPlan make_plan(const RunSpec& spec, std::int64_t samples)
{
  TrainingPlan plan;
  plan.samples = samples;
  plan.global_batch = spec.effective_global_batch();
  plan.batch_per_rank = spec.effective_batch_per_rank();
  plan.micro_batch = plan.batch_per_rank / spec.train.accumulation;
  plan.steps = step_count(spec.train, static_cast<double>(samples) / static_cast<double>(plan.global_batch));
  plan.warmup_steps = spec.train.warmup_steps;
  plan.eval_every_epochs = spec.train.eval_every_epochs;
  require_sound(plan, spec);
  plan.epochs = spec.train.epochs > 0 ? spec.train.epochs : plan.epoch_after(plan.steps);
  return plan;
}

} // namespace dt::train
