#include "engine/train/record/statistics.hpp"

#include "core/maths/statistics.hpp"

#include <algorithm>
#include <span>

namespace dt::train {
namespace {

constexpr auto evaluation_index = static_cast<std::size_t>(Phase::evaluation);

} // namespace

void TimeSeries::add(double seconds)
{
  samples_.push_back(static_cast<float>(seconds));
  total_s_ += seconds;
}

PhaseStats TimeSeries::summary() const
{
  if (samples_.empty()) return {};
  auto ascending = samples_;
  std::sort(ascending.begin(), ascending.end());
  return {.total_s = total_s_,
          .mean_s = total_s_ / static_cast<double>(ascending.size()),
          .p50_s = quantile_of_sorted(std::span<const float>(ascending), 0.50),
          .p95_s = quantile_of_sorted(std::span<const float>(ascending), 0.95),
          .p99_s = quantile_of_sorted(std::span<const float>(ascending), 0.99),
          .max_s = static_cast<double>(ascending.back())};
}

void StepStatistics::add_step(const std::array<double, phase_count>& phase_s, double step_s)
{
  for (std::size_t i = 0; i < phase_count; ++i)
    if (i != evaluation_index) phases_[i].add(phase_s[i]);
  steps_.add(step_s);
}

void StepStatistics::add_evaluation(double seconds) { phases_[evaluation_index].add(seconds); }

void StepStatistics::fill(RankRecord& record) const
{
  for (std::size_t i = 0; i < phase_count; ++i) record.phases[i] = phases_[i].summary();
  record.step = steps_.summary();
}

} // namespace dt::train
