#include "store/analysis/prediction/step_replay.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <utility>

namespace dt::store {
namespace {

constexpr std::size_t replayed_steps = 256;
constexpr std::uint64_t seed = 0x7072656469637400;

void shuffle(std::vector<double>& values, Random& random)
{
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

double cost_of(const CostTerms& terms, const CostModel& link, const Bucket& bucket)
{
  return cost_s(link, terms, static_cast<std::size_t>(bucket.bytes));
}

} // namespace

// Adds one worker's steps to all rounds.
void StepReplay::add_worker(const std::vector<double>& factors, double own_factor)
{
  const auto period = static_cast<std::size_t>(step_.period);
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    double before_s = 0; // steps of the round before its last one
    for (std::size_t i = 0; i + 1 < period; ++i)
      before_s += step_.input_s + step_.compute_s * own_factor * factors[r * period + i] + step_.update_s;
    const double compute_s = step_.compute_s * own_factor * factors[r * period + period - 1];
    auto& round = rounds_[r];
    round.computed_s = std::max(round.computed_s, before_s + step_.input_s + compute_s);
    round.last_compute_s = std::max(round.last_compute_s, compute_s);
    for (std::size_t b = 0; b < round.ready_s.size(); ++b)
      round.ready_s[b] = std::max(round.ready_s[b], before_s + step_.input_s + compute_s * step_.buckets[b].ready);
  }
}

StepReplay::StepReplay(const SynchronousStep& step) : step_(step)
{
  const auto period = static_cast<std::size_t>(step_.period);
  rounds_.resize(std::max<std::size_t>(1, replayed_steps / period));
  if (period > 1)
    for (auto& round : rounds_) round.ready_s.assign(step_.buckets.size(), 0);
  auto factors = step_factors(step_.spread, rounds_.size() * period);
  const bool varies = factors.front() != factors.back();
  Random random(seed);
  for (const double own : worker_factors(step_.spread, static_cast<std::size_t>(step_.workers))) {
    if (varies) shuffle(factors, random);
    add_worker(factors, own);
  }
}

// When the last sum of the round is done.
double StepReplay::end_of_sums_s(const Round& round, const CostTerms& terms, const CostModel& link) const
{
  double end_s = 0;
  for (std::size_t b = 0; b < step_.buckets.size(); ++b) {
    // With a period of 1 a worker has each bucket after the same share of its own time: the slowest worker of the step is last.
    const double ready_s =
        round.ready_s.empty() ? step_.input_s + round.last_compute_s * step_.buckets[b].ready : round.ready_s[b];
    end_s = std::max(end_s, ready_s) + cost_of(terms, link, step_.buckets[b]);
  }
  return end_s;
}

ReplayedStep StepReplay::over(const CostTerms& terms, const CostModel& link) const
{
  const auto period = static_cast<double>(step_.period);
  const double mean_s = period * (step_.input_s + step_.compute_s) + (period - 1) * step_.update_s;
  const double share = 1 / (period * static_cast<double>(rounds_.size()));
  ReplayedStep replayed;
  for (const auto& round : rounds_) {
    const double end_s = step_.workers > 1 ? std::max(round.computed_s, end_of_sums_s(round, terms, link)) : round.computed_s;
    replayed.step_s += share * (end_s + step_.update_s);
    replayed.communication_s += share * (end_s - round.computed_s);
    replayed.straggler_s += share * (round.computed_s - mean_s);
  }
  return replayed;
}

ReplayedStep replay(const SynchronousStep& step) { return StepReplay(step).over(step.terms, step.link); }

double isolated_s(const SynchronousStep& step)
{
  double seconds = 0;
  if (step.workers > 1)
    for (const auto& bucket : step.buckets) seconds += cost_of(step.terms, step.link, bucket);
  return seconds;
}

} // namespace dt::store
