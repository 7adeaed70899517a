#include "engine/sync/exchange/outer_optimizer.hpp"

#include "core/error.hpp"
#include "core/function_clones.hpp"
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

constexpr Factors averaging(float share) { return {.share = share, .rate = 1, .keep = 0}; }

} // namespace

OuterOptimizer::OuterOptimizer(const OuterSpec& spec, std::size_t size, std::span<const Range> statistics)
    : spec_(spec), statistics_(statistics.begin(), statistics.end()), mean_(outer_buffers(spec.rule) > 0 ? size : 0),
      square_(outer_buffers(spec.rule) > 1 ? size : 0)
{
}

void OuterOptimizer::step(Range range, std::span<float> outer, std::span<const float> sum, float share, std::int64_t update)
{
  for (const auto& statistic : statistics_) {
    if (statistic.begin < range.begin || statistic.begin >= range.end) continue;
    step_rule({range.begin, statistic.begin}, outer, sum, share, update);
    if (comm::begin_pass(outer.data(), 3 * statistic.size() * sizeof(float)))
      sgd_pass(outer.data() + statistic.begin, sum.data() + statistic.begin, statistic.size(), averaging(share));
    range.begin = statistic.end;
  }
  step_rule(range, outer, sum, share, update);
}

void OuterOptimizer::step_rule(Range range, std::span<float> outer, std::span<const float> sum, float share, std::int64_t update)
{
  const auto vectors = 3 + 2 * static_cast<std::size_t>(outer_buffers(spec_.rule));
  if (range.empty() || !comm::begin_pass(outer.data(), vectors * range.size() * sizeof(float))) return;
  float* w = outer.data() + range.begin;
  float* v = mean_.empty() ? nullptr : mean_.data() + range.begin;
  float* s = square_.empty() ? nullptr : square_.data() + range.begin;
  const float* d = sum.data() + range.begin;
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
  if (!mean_.empty()) all.push_back({square_.empty() ? "outer_velocity" : "outer_mean", mean_, false});
  if (!square_.empty()) all.push_back({"outer_square", square_, false});
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
