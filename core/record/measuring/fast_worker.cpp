#include "core/record/measuring/fast_worker.hpp"

#include "core/maths/statistics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace dt {
namespace {

using Rows = std::vector<std::span<const double>>;

// By how much a worker exceeds the lower quartile of its window in each interval in which it pauses; 0 in the others.
std::vector<double> pauses_in(std::span<const double> times_s)
{
  const std::vector<double> all(times_s.begin(), times_s.end());
  const double quartile_s = quantile(all, 0.25), decile_s = quantile(all, 0.1);
  const double least_s = std::max(8 * (quartile_s - decile_s), quartile_s / 20);
  std::vector<double> pauses;
  for (const double time_s : times_s) pauses.push_back(time_s - quartile_s > least_s ? time_s - quartile_s : 0);
  return pauses;
}

void add_window(FastSteps& sums, const Rows& rows)
{
  const auto intervals = rows.front().size();
  std::vector<double> times_s;
  std::vector<std::vector<double>> pauses;
  for (const auto& row : rows) {
    times_s.insert(times_s.end(), row.begin(), row.end());
    pauses.push_back(pauses_in(row));
  }
  sums.useful_s += static_cast<double>(intervals) * quantile(std::move(times_s), 0.25);
  for (std::size_t i = 0; i < intervals; ++i) {
    std::vector<double> in_interval;
    for (const auto& row : pauses) in_interval.push_back(row[i]);
    sums.pauses_s += std::accumulate(in_interval.begin(), in_interval.end(), 0.0) / static_cast<double>(rows.size());
    sums.common_pauses_s += fast_sum_s(std::move(in_interval));
  }
}

} // namespace

FastSteps fast_steps(const Rows& useful_s)
{
  const auto intervals = useful_s.empty() ? 0 : useful_s.front().size();
  const auto windows = std::max<std::size_t>(1, (intervals + intervals_of_window / 2) / intervals_of_window);
  FastSteps sums;
  for (std::size_t window = 0, begin = 0; window < windows && intervals > 0; ++window) {
    const auto end = intervals * (window + 1) / windows;
    Rows part;
    for (const auto& row : useful_s) part.push_back(row.subspan(begin, end - begin));
    add_window(sums, part);
    begin = end;
  }
  return sums;
}

double fast_sum_s(std::vector<double> useful_sums_s)
{
  if (useful_sums_s.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(useful_sums_s.begin(), useful_sums_s.end());
  return useful_sums_s[(useful_sums_s.size() - 1) / 4];
}

} // namespace dt
