#include "core/record/measuring/slow_start.hpp"

#include "core/maths/statistics.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace dt {
namespace {

constexpr std::size_t least_steps = 20, in_a_row = 5;
constexpr double least_share = 0.02;

std::vector<double> copy_of(std::span<const double> times_s) { return {times_s.begin(), times_s.end()}; }

// The index from which on the steps are no longer slow.
std::size_t settled_at(std::span<const double> step_s, double longest_s)
{
  for (std::size_t i = 0; i + in_a_row <= step_s.size(); ++i) {
    if (quantile(copy_of(step_s.subspan(i, in_a_row)), 0.5) > longest_s) continue;
    while (i < step_s.size() && step_s[i] > longest_s) ++i; // the first steps of the five may still be slow
    return i;
  }
  return step_s.size();
}

} // namespace

std::optional<SlowStart> slow_start_of(std::span<const double> step_s)
{
  if (step_s.size() < least_steps) return std::nullopt;
  const auto later = step_s.subspan(step_s.size() / 2);
  const double median_s = quantile(copy_of(later), 0.5);
  const double spread_s = quantile(copy_of(later), 0.25) - quantile(copy_of(later), 0.1);
  SlowStart start{.steps = settled_at(step_s, median_s + std::max(median_s / 10, 8 * spread_s))};
  if (start.steps == 0 || start.steps > step_s.size() / 2) return std::nullopt;
  const auto sum_of = [](std::span<const double> times_s) { return std::accumulate(times_s.begin(), times_s.end(), 0.0); };
  const double count = static_cast<double>(start.steps), slow_s = sum_of(step_s.first(start.steps));
  start.ratio = slow_s / count / median_s;
  start.share = (slow_s - count * median_s) / sum_of(step_s);
  return start.share < least_share ? std::nullopt : std::optional(start);
}

std::string words_of(const SlowStart& start, std::size_t measured_steps, long long warmup_steps)
{
  const bool is_one = start.steps == 1;
  return fmt::format("the first {}of {} measured steps {} {:.1f} times as long as the later ones, {:.1f} % of the measured time; "
                     "train.warmup_steps: {} leaves {} out",
                     is_one ? "" : std::to_string(start.steps) + " ", measured_steps, is_one ? "takes" : "take", start.ratio,
                     start.share * 100, warmup_steps, is_one ? "it" : "them");
}

} // namespace dt
