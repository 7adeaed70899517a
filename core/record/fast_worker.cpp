#include "core/record/fast_worker.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <limits>

namespace dt {

double fast_useful_s(const std::vector<std::span<const double>>& useful_s)
{
  const auto intervals = useful_s.empty() ? 0 : useful_s.front().size();
  const auto windows = std::max<std::size_t>(1, (intervals + intervals_of_window / 2) / intervals_of_window);
  double sum_s = 0;
  for (std::size_t window = 0, begin = 0; window < windows && intervals > 0; ++window) {
    const auto end = intervals * (window + 1) / windows;
    std::vector<double> times_s;
    for (const auto& row : useful_s) {
      const auto part = row.subspan(begin, end - begin);
      times_s.insert(times_s.end(), part.begin(), part.end());
    }
    sum_s += static_cast<double>(end - begin) * quantile(std::move(times_s), 0.25);
    begin = end;
  }
  return sum_s;
}

double fast_sum_s(std::vector<double> useful_sums_s)
{
  if (useful_sums_s.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(useful_sums_s.begin(), useful_sums_s.end());
  return useful_sums_s[(useful_sums_s.size() - 1) / 4];
}

} // namespace dt
