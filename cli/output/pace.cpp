#include "cli/output/pace.hpp"

#include "core/maths/statistics.hpp"
#include "core/record/field.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dt::cli {
namespace {

constexpr double window_s = 60;
constexpr std::size_t least_points = 7; // are kept, however slow the counter is
constexpr std::size_t most_parts = 5;

} // namespace

void Pace::add(double time_s, double count)
{
  if (!points_.empty() && count < points_.back().count) points_.clear();
  if (!points_.empty() && (count == points_.back().count || time_s <= points_.back().time_s)) return;
  points_.push_back({time_s, count});
  forget_old();
}

void Pace::forget_old()
{
  while (points_.size() > least_points && points_[1].time_s <= points_.back().time_s - window_s) points_.pop_front();
}

double Pace::per_s() const
{
  if (points_.size() < 2) return not_measured;
  // The first count may be much older than its time: it was there when somebody first looked.
  const std::size_t first = points_.size() > 2 ? 1 : 0, intervals = points_.size() - 1 - first;
  const std::size_t parts = std::min(most_parts, intervals);
  std::vector<double> rates;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto& begin = points_[first + part * intervals / parts];
    const auto& end = points_[first + (part + 1) * intervals / parts];
    rates.push_back((end.count - begin.count) / (end.time_s - begin.time_s));
  }
  return median(std::move(rates));
}

} // namespace dt::cli
