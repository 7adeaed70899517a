#include "store/analysis/verdict/scaling_answer.hpp"

#include "store/analysis/statistics/candidate.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {
namespace {

// `half_digit`: half of the last printed digit of the ratio.
Side side_of_one(Interval ratio, double half_digit)
{
  if (!std::isfinite(ratio.low)) return Side::unknown;
  if (ratio.high < 1 - half_digit) return Side::below;
  return ratio.low >= 1 + half_digit ? Side::above : Side::alike;
}
constexpr double half_of_a_percent_digit = 0.0005; // "100.0"
constexpr double half_of_a_factor_digit = 0.005;   // "1.00"

// The interval of the speed-up.
Interval speedup_interval(const ScalingRow& point)
{
  const double ideal = point.is_part ? 1 : static_cast<double>(point.size) / static_cast<double>(point.baseline_size);
  return {point.efficiency_low * ideal, point.efficiency_high * ideal};
}

Scales answer_of(const ScalingRow& best, Side side)
{
  const bool is_more = best.speedup >= 1 + half_of_a_factor_digit;
  if (side == Side::above || (best.is_exact && is_more)) return Scales::yes;
  return side == Side::below || best.is_exact ? Scales::no : Scales::cannot_tell;
}

} // namespace

const ScalingRow* copies_among(std::span<const ScalingRow> points)
{
  const auto found =
      std::ranges::find_if(points.rbegin(), points.rend(), [](const ScalingRow& point) { return point.copies > 0; });
  return found == points.rend() ? nullptr : &*found;
}

ScaleAnswer scale_answer(std::span<const ScalingRow> points)
{
  if (const auto* copies = copies_among(points)) return {.answer = Scales::no, .copies = copies};
  ScaleAnswer found;
  for (const auto& point : points) {
    if (!std::isfinite(point.efficiency) || point.size == point.baseline_size) continue;
    if (found.best == nullptr || point.speedup > found.best->speedup) found.best = &point;
    if (found.largest == nullptr || point.size >= found.largest->size) found.largest = &point;
  }
  if (found.best == nullptr) return found;
  const auto side = side_of_one(speedup_interval(*found.best), half_of_a_factor_digit);
  found.answer = answer_of(*found.best, side);
  found.is_within_error = side == Side::alike;
  return found;
}

Side against_ideal(const ScalingRow& point)
{
  return side_of_one({point.efficiency_low, point.efficiency_high},
                     point.is_part ? half_of_a_factor_digit : half_of_a_percent_digit);
}

Side against_point(std::span<const ScalingRow> points, std::size_t point, std::size_t other)
{
  return side_of_one(efficiency_interval(points, point, other), half_of_a_percent_digit);
}

MissingRepeats missing_repeats(std::span<const ScalingRow> points)
{
  std::vector<Candidate> candidates;
  double fewest = least_runs;
  for (const auto& point : points) {
    candidates.push_back({point.label, point.throughputs});
    fewest = std::min(fewest, static_cast<double>(point.throughputs.size()));
  }
  MissingRepeats missing{.are_missing = fewest < least_runs};
  if (!missing.are_missing) return missing;
  const auto scatter = pooled_scatter(candidates, Scale::ratio);
  missing.resolvable = resolvable_difference(scatter.cv, scatter.freedom, fewest, fewest, 0.95);
  missing.has_outliers = std::ranges::any_of(points, [](const auto& point) { return point.outlying > 0; });
  for (const auto& point : points)
    if (!std::isfinite(point.efficiency_low) && std::abs(point.efficiency - 1) > missing.resolvable)
      missing.beyond.push_back(&point);
  return missing;
}

} // namespace dt::store
