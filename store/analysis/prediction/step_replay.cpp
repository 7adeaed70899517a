#include "store/analysis/prediction/step_replay.hpp"

#include "core/random.hpp"

#include <algorithm>
#include <utility>

namespace dt::store {
namespace {

constexpr std::size_t replayed_steps = 256;
constexpr std::uint64_t seed = 0x7072656469637400;

// The steps between two exchanges. Times count from its begin.
struct Round {
  double computed_s = 0;            // when the slowest worker ends its last backward pass
  double last_compute_s = 0;        // of the slowest worker of that step, with input; only with a period of 1
  std::vector<double> ready_s = {}; // [bucket]: when the slowest worker has it; only with a longer period
};

double cost_of(const SynchronousStep& step, const Bucket& bucket)
{
  return cost_s(step.link, step.terms, static_cast<std::size_t>(bucket.bytes));
}

void shuffle(std::vector<double>& values, Random& random)
{
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

// Adds one worker's steps to all rounds.
void add_worker(std::vector<Round>& rounds, const SynchronousStep& step, const std::vector<double>& factors, double own_factor)
{
  const auto period = static_cast<std::size_t>(step.period);
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    double before_s = 0; // steps of the round before its last one
    for (std::size_t i = 0; i + 1 < period; ++i)
      before_s += step.input_s + step.compute_s * own_factor * factors[r * period + i] + step.update_s;
    const double compute_s = step.compute_s * own_factor * factors[r * period + period - 1];
    auto& round = rounds[r];
    round.computed_s = std::max(round.computed_s, before_s + step.input_s + compute_s);
    round.last_compute_s = std::max(round.last_compute_s, compute_s);
    for (std::size_t b = 0; b < round.ready_s.size(); ++b)
      round.ready_s[b] = std::max(round.ready_s[b], before_s + step.input_s + compute_s * step.buckets[b].ready);
  }
}

std::vector<Round> rounds_of(const SynchronousStep& step)
{
  const auto period = static_cast<std::size_t>(step.period);
  const std::size_t count = std::max<std::size_t>(1, replayed_steps / period);
  std::vector<Round> rounds(count);
  if (period > 1)
    for (auto& round : rounds) round.ready_s.assign(step.buckets.size(), 0);
  auto factors = step_factors(step.spread, count * period);
  const bool varies = factors.front() != factors.back();
  Random random(seed);
  for (const double own : worker_factors(step.spread, static_cast<std::size_t>(step.workers))) {
    if (varies) shuffle(factors, random);
    add_worker(rounds, step, factors, own);
  }
  return rounds;
}

// When the last sum of the round is done.
double end_of_sums_s(const SynchronousStep& step, const Round& round)
{
  double end_s = 0;
  for (std::size_t b = 0; b < step.buckets.size(); ++b) {
    // With a period of 1 a worker has each bucket after the same share of its own time: the slowest worker of the step is last.
    const double ready_s = round.ready_s.empty() ? step.input_s + round.last_compute_s * step.buckets[b].ready : round.ready_s[b];
    end_s = std::max(end_s, ready_s) + cost_of(step, step.buckets[b]);
  }
  return end_s;
}

} // namespace

ReplayedStep replay(const SynchronousStep& step)
{
  const auto rounds = rounds_of(step);
  const auto period = static_cast<double>(step.period);
  const double mean_s = period * (step.input_s + step.compute_s) + (period - 1) * step.update_s;
  const double share = 1 / (period * static_cast<double>(rounds.size()));
  ReplayedStep replayed;
  for (const auto& round : rounds) {
    const double end_s = step.workers > 1 ? std::max(round.computed_s, end_of_sums_s(step, round)) : round.computed_s;
    replayed.step_s += share * (end_s + step.update_s);
    replayed.communication_s += share * (end_s - round.computed_s);
    replayed.straggler_s += share * (round.computed_s - mean_s);
  }
  return replayed;
}

double isolated_s(const SynchronousStep& step)
{
  double seconds = 0;
  if (step.workers > 1)
    for (const auto& bucket : step.buckets) seconds += cost_of(step, bucket);
  return seconds;
}

} // namespace dt::store
