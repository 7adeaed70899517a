#include "engine/sync/exchange/outer_optimizer.hpp"

#include "core/error.hpp"
#include "core/maths/function_clones.hpp"
#include "engine/comm/machine/pass.hpp"
#include "engine/sync/exchange/team.hpp"

#include <cmath>

namespace dt::sync {
namespace {

// For each rule: one pass over `n` floats. w: outer parameters, sum: sum_i (w - w^i), v and m, s: the rule's buffers.
struct Factors {
  float share, rate, keep, take = 0, keep_square = 0, take_square = 0, root = 0, epsilon = 0;
};

DT_CLONES void sgd_pass(float* __restrict w, const float* __restrict sum, std::size_t n, Factors f)
{
  for (std::size_t i = 0; i < n; ++i) w[i] -= f.rate * (f.share * sum[i]);
}

DT_CLONES void momentum_pass(float* __restrict w, float* __restrict v, const float* __restrict sum, std::size_t n, Factors f)
{
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = f.keep * v[i] + f.share * sum[i];
    w[i] -= f.rate * v[i];
  }
}

DT_CLONES void nesterov_pass(float* __restrict w, float* __restrict v, const float* __restrict sum, std::size_t n, Factors f)
{
  for (std::size_t i = 0; i < n; ++i) {
    const float d = f.share * sum[i];
    v[i] = f.keep * v[i] + d;
    w[i] -= f.rate * (d + f.keep * v[i]);
  }
}

DT_CLONES void adam_pass(float* __restrict w, float* __restrict m, float* __restrict s, const float* __restrict sum,
                         std::size_t n, Factors f)
{
  for (std::size_t i = 0; i < n; ++i) {
    const float d = f.share * sum[i];
    m[i] = f.keep * m[i] + f.take * d;
    s[i] = f.keep_square * s[i] + f.take_square * d * d;
    w[i] -= f.rate * m[i] / (f.root * std::sqrt(s[i]) + f.epsilon);
  }
}

// rate: lr / (1 - mu^t); root: 1 / sqrt(1 - b2^t).
Factors adam_factors(const OuterSpec& spec, float share, std::int64_t update)
{
  const auto t = static_cast<double>(update);
  return {.share = share,
          .rate = static_cast<float>(spec.learning_rate / (1 - std::pow(spec.momentum, t))),
          .keep = static_cast<float>(spec.momentum),
          .take = static_cast<float>(1 - spec.momentum),
          .keep_square = static_cast<float>(spec.beta2),
          .take_square = static_cast<float>(1 - spec.beta2),
          .root = static_cast<float>(1 / std::sqrt(1 - std::pow(spec.beta2, t))),
          .epsilon = static_cast<float>(spec.epsilon)};
}

// w <- w - share sum: the mean of the workers' values, if share is 1/P.
void average(const Vector& w, const Vector& sum, float share)
{
  if (w.combine_on_device(1, sum, -share) || !comm::begin_pass(w.host().data(), 3 * w.size() * sizeof(float))) return;
  sgd_pass(w.host().data(), sum.read().data(), w.size(), {.share = share, .rate = 1, .keep = 0});
}

} // namespace

OuterOptimizer::OuterOptimizer(const OuterSpec& spec, Replica& replica)
    : spec_(spec), statistics_(replica.statistics().begin(), replica.statistics().end())
{
  const auto size = weights_of(replica).size();
  if (outer_buffers(spec.rule) == 1) mean_ = OwnVector(comm::Floats(size), replica);
  if (outer_buffers(spec.rule) < 2) return;
  mean_ = OwnVector(comm::Floats(size));
  square_ = OwnVector(comm::Floats(size));
}

void OuterOptimizer::step(Range range, const Vector& outer, const Vector& sum, float share, std::int64_t update)
{
  for (const auto& statistic : statistics_) {
    if (statistic.begin < range.begin || statistic.begin >= range.end) continue;
    step_rule({range.begin, statistic.begin}, outer, sum, share, update);
    average(values_at(outer, statistic), values_at(sum, statistic), share);
    range.begin = statistic.end;
  }
  step_rule(range, outer, sum, share, update);
}

// With what combine_on_device() can compute; false for Adam, and if the vectors lie in the host's memory.
bool OuterOptimizer::step_on_device(Range range, const Vector& outer, const Vector& sum, float share)
{
  const auto rate = static_cast<float>(spec_.learning_rate), mu = static_cast<float>(spec_.momentum);
  const auto w = values_at(outer, range), d = values_at(sum, range);
  if (spec_.rule == OuterRule::sgd) return w.combine_on_device(1, d, -rate * share);
  const auto v = mean_.at(range);
  if (spec_.rule == OuterRule::adam || !v.combine_on_device(mu, d, share)) return false;
  return spec_.rule == OuterRule::momentum ? w.combine_on_device(1, v, -rate)
                                           : w.combine_on_device(1, d, -rate * share, &v, -rate * mu);
}

void OuterOptimizer::step_rule(Range range, const Vector& outer, const Vector& sum, float share, std::int64_t update)
{
  if (range.empty() || step_on_device(range, outer, sum, share)) return;
  float* w = values_at(outer, range).host().data();
  float* v = mean_.size() == 0 ? nullptr : mean_.at(range).host().data();
  float* s = square_.size() == 0 ? nullptr : square_.at(range).host().data();
  const float* d = values_at(sum, range).read().data();
  const auto vectors = 3 + 2 * static_cast<std::size_t>(outer_buffers(spec_.rule));
  if (!comm::begin_pass(w, vectors * range.size() * sizeof(float))) return;
  const auto factors =
      spec_.rule == OuterRule::adam
          ? adam_factors(spec_, share, update)
          : Factors{.share = share, .rate = static_cast<float>(spec_.learning_rate), .keep = static_cast<float>(spec_.momentum)};
  share_pass(range.size(), [=, this](Range part) {
    switch (const auto at = part.begin; spec_.rule) {
    case OuterRule::sgd:
      return sgd_pass(w + at, d + at, part.size(), factors);
    case OuterRule::momentum:
      return momentum_pass(w + at, v + at, d + at, part.size(), factors);
    case OuterRule::nesterov:
      return nesterov_pass(w + at, v + at, d + at, part.size(), factors);
    case OuterRule::adam:
      return adam_pass(w + at, v + at, s + at, d + at, part.size(), factors);
    }
  });
}

std::vector<StrategyState> OuterOptimizer::state()
{
  std::vector<StrategyState> all;
  if (mean_.size() > 0) all.push_back({square_.size() == 0 ? "outer_velocity" : "outer_mean", mean_.host(), false});
  if (square_.size() > 0) all.push_back({"outer_square", square_.host(), false});
  return all;
}

void require_exact_statistics(const SyncSpec& sync, std::span<const Range> statistics)
{
  if (sync.wire == Wire::float32 || statistics.empty()) return;
  throw Error(ErrorKind::recipe, "sync.wire: " + std::string(name_of(sync.wire)) +
                                     " would round the running variances of batch normalisation, which may then become " +
                                     "negative. Take sync.wire: float32.");
}

} // namespace dt::sync
