#include "engine/train/record/work_times.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace dt::train {
namespace {

double at(const std::array<double, phase_count>& phase_s, Phase phase) { return phase_s[static_cast<std::size_t>(phase)]; }

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

} // namespace

void WorkTimes::add_step(const std::array<double, phase_count>& phase_s, bool meets)
{
  if (!interval_is_open_) {
    useful_.push_back(0);
    busy_.push_back(0);
  }
  interval_is_open_ = !meets;
  const double useful_s = at(phase_s, Phase::forward) + at(phase_s, Phase::backward) + at(phase_s, Phase::optimizer);
  if (roles_.is_server) return; // a server's time is no training
  useful_.back() += useful_s;
  busy_.back() += useful_s + at(phase_s, Phase::input);
}

std::vector<double> WorkTimes::maxima(const std::vector<double>& own) const
{
  auto values = own;
  comm_.max_record(values);
  return values;
}

std::vector<double> WorkTimes::means(const std::vector<double>& own) const
{
  auto values = own;
  comm_.sum_record(values);
  for (auto& value : values) value /= static_cast<double>(roles_.workers.size());
  return values;
}

// The others wait for the last worker of an interval; its lateness is the time by which it exceeds the mean.
void WorkTimes::add_lateness(const std::vector<double>& busy_max)
{
  const auto mean = means(busy_);
  if (roles_.is_server) return;
  for (std::size_t k = 0; k < busy_.size(); ++k)
    if (busy_[k] == busy_max[k]) late_s_ += busy_max[k] - mean[k];
}

std::vector<std::vector<double>> WorkTimes::of_workers(std::span<const double> own) const
{
  const auto all = comm_.gather_numbers(own);
  std::vector<std::vector<double>> rows;
  if (!comm_.is_root()) return rows;
  for (const int worker : roles_.workers) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(worker) * own.size());
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(own.size()));
  }
  return rows;
}

double WorkTimes::of_root(double value) const
{
  std::vector<double> sum{comm_.is_root() ? value : 0};
  comm_.sum_record(sum);
  return sum[0];
}

// Gathers a part of the intervals at a time, so that rank 0 needs little memory for a long training on many ranks.
FastSteps WorkTimes::fast_steps_s() const
{
  constexpr std::size_t most_intervals = 32 * intervals_of_window;
  FastSteps sums;
  for (std::size_t begin = 0; begin < useful_.size(); begin += most_intervals) {
    const auto count = std::min(most_intervals, useful_.size() - begin);
    const auto rows = of_workers(std::span(useful_).subspan(begin, count));
    const auto part = fast_steps({rows.begin(), rows.end()});
    sums.useful_s += part.useful_s;
    sums.common_pauses_s += part.common_pauses_s;
    sums.pauses_s += part.pauses_s;
  }
  return {of_root(sums.useful_s), of_root(sums.common_pauses_s), of_root(sums.pauses_s)};
}

double WorkTimes::fast_worker_s() const
{
  std::vector<double> sums_s;
  for (const auto& row : of_workers(std::span(&own_useful_s_, 1))) sums_s.push_back(row[0]);
  return of_root(fast_sum_s(sums_s));
}

void WorkTimes::collect()
{
  own_useful_s_ += sum_of(useful_);
  sums_.useful_s = means({own_useful_s_})[0] * static_cast<double>(roles_.workers.size());
  sums_.useful_max_s = maxima({own_useful_s_})[0];
  sums_.useful_fast_s = fast_worker_s();
  const auto fast = fast_steps_s();
  sums_.useful_step_fast_s += fast.useful_s;
  sums_.common_pauses_s += fast.common_pauses_s;
  sums_.pauses_s += fast.pauses_s;
  sums_.useful_step_max_s += sum_of(maxima(useful_));
  const auto busy_max = maxima(busy_);
  sums_.busy_step_max_s += sum_of(busy_max);
  add_lateness(busy_max);
  useful_.clear();
  busy_.clear();
  interval_is_open_ = false;
}

} // namespace dt::train
