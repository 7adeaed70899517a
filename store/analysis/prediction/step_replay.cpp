#include "store/analysis/prediction/step_replay.hpp"

#include "core/maths/random.hpp"

#include <algorithm>
#include <utility>

namespace dt::store {
namespace {

constexpr std::size_t replayed_steps = 256;
constexpr std::uint64_t replay_seed = 0x7072656469637400;

void shuffle(std::vector<double>& values, Random& random)
{
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

double cost_of(const SynchronousStep& step, const Bucket& bucket)
{
  return cost_s(step.link, step.terms, static_cast<std::size_t>(bucket.bytes));
}

// The times of a round that do not scatter: input of every step, and updates of all but the last.
double before_compute_s(const SynchronousStep& step)
{
  const auto period = static_cast<double>(step.period);
  return period * step.input_s + (period - 1) * step.update_s;
}

} // namespace

// Adds one worker's steps to all rounds.
void StepReplay::add_worker(const SynchronousStep& step, const std::vector<double>& factors, double own_factor)
{
  const auto period = static_cast<std::size_t>(step.period);
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    double before = 0; // steps of the round before its last one
    for (std::size_t i = 0; i + 1 < period; ++i) before += own_factor * factors[r * period + i];
    const double compute = own_factor * factors[r * period + period - 1];
    auto& round = rounds_[r];
    round.computed = std::max(round.computed, before + compute);
    round.last_compute = std::max(round.last_compute, compute);
    for (std::size_t b = 0; b < round.ready.size(); ++b)
      round.ready[b] = std::max(round.ready[b], before + compute * step.buckets[b].ready);
  }
}

StepReplay::StepReplay(const SynchronousStep& step)
{
  const auto period = static_cast<std::size_t>(step.period);
  rounds_.resize(std::max<std::size_t>(1, replayed_steps / period));
  if (period > 1)
    for (auto& round : rounds_) round.ready.assign(step.buckets.size(), 0);
  auto factors = step_factors(step.spread, rounds_.size() * period);
  const bool varies = factors.front() != factors.back();
  Random random(replay_seed);
  for (const double own : worker_factors(step.spread, static_cast<std::size_t>(step.workers))) {
    if (varies) shuffle(factors, random);
    add_worker(step, factors, own);
  }
}

// When the last sum of the round is done.
double StepReplay::end_of_sums_s(const SynchronousStep& step, const Round& round)
{
  double end_s = 0;
  for (std::size_t b = 0; b < step.buckets.size(); ++b) {
    // With a period of 1 a worker has each bucket after the same share of its own time: the slowest worker of the step is last.
    const double ready = round.ready.empty() ? round.last_compute * step.buckets[b].ready : round.ready[b];
    end_s = std::max(end_s, before_compute_s(step) + step.compute_s * ready) + cost_of(step, step.buckets[b]);
  }
  return end_s;
}

ReplayedStep StepReplay::of(const SynchronousStep& step) const
{
  const auto period = static_cast<double>(step.period);
  const double mean_s = before_compute_s(step) + period * step.compute_s;
  const double share = 1 / (period * static_cast<double>(rounds_.size()));
  ReplayedStep replayed;
  for (const auto& round : rounds_) {
    const double computed_s = before_compute_s(step) + step.compute_s * round.computed;
    const double end_s = step.workers > 1 ? std::max(computed_s, end_of_sums_s(step, round)) : computed_s;
    replayed.step_s += share * (end_s + step.update_s);
    replayed.communication_s += share * (end_s - computed_s);
    replayed.straggler_s += share * (computed_s - mean_s);
  }
  return replayed;
}

ReplayedStep replay(const SynchronousStep& step) { return StepReplay(step).of(step); }

double isolated_s(const SynchronousStep& step)
{
  double seconds = 0;
  if (step.workers > 1)
    for (const auto& bucket : step.buckets) seconds += cost_of(step, bucket);
  return seconds;
}

} // namespace dt::store
