#include "store/analysis/statistics/drift.hpp"

#include "core/maths/random.hpp"
#include "core/maths/statistics.hpp"
#include "store/analysis/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace dt::store {
namespace {

// Twice the ranks, so that those of equal values, which share their mean, are whole numbers.
std::vector<std::int64_t> doubled_ranks(std::span<const double> values)
{
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<std::int64_t> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    auto end = first + 1;
    while (end < order.size() && !(values[order[first]] < values[order[end]])) ++end;
    for (auto i = first; i < end; ++i) ranks[order[i]] = static_cast<std::int64_t>(first + end + 1);
    first = end;
  }
  return ranks;
}

// The path S(t) = sum of the first t ranks less t times their mean: how far it goes between its lowest and its highest place, and
// which these are, in ascending order.
struct Excursion {
  std::int64_t size = 0;
  std::size_t first = 0, last = 0;
};

Excursion excursion_of(std::span<const std::int64_t> doubled)
{
  const auto mean = static_cast<std::int64_t>(doubled.size()) + 1; // of the doubled ranks
  std::int64_t sum = 0, low = 0, high = 0;
  std::size_t lowest = 0, highest = 0;
  for (std::size_t t = 1; t < doubled.size(); ++t) {
    sum += doubled[t - 1] - mean;
    if (sum < low) low = sum, lowest = t;
    if (sum > high) high = sum, highest = t;
  }
  return {high - low, std::min(lowest, highest), std::max(lowest, highest)};
}

void shuffle(std::vector<std::int64_t>& values, Random& random)
{
  for (auto i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

// The share of the orders of the values that go as far. If it is clearly above the level, the rest of the orders is not drawn.
double p_of(std::int64_t size, std::vector<std::int64_t> doubled)
{
  constexpr int orders = 9999;
  Random random(doubled.size());
  int as_large = 1, drawn = 1; // this one
  for (; drawn <= orders && as_large <= 2 * change_level * orders; ++drawn) {
    shuffle(doubled, random);
    as_large += excursion_of(doubled).size >= size ? 1 : 0;
  }
  return static_cast<double>(as_large) / drawn;
}

// The sum of squares of the differences of values that lie so far apart, without the largest tenth, in which changes of the level
// stand.
double squares_of_differences(std::span<const double> series, std::size_t lag)
{
  std::vector<double> squares;
  for (std::size_t i = lag; i < series.size(); ++i)
    squares.push_back((series[i] - series[i - lag]) * (series[i] - series[i - lag]));
  std::ranges::sort(squares);
  squares.resize(squares.size() - squares.size() / 10);
  return std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(squares.size());
}

// The correlation of a value with the one before it, whatever changes of the level there are: squares of differences at distances
// of one, two and three are as 1, 1 + r and 1 + r + r².
double correlation_of(std::span<const double> series)
{
  constexpr std::size_t least = 10;
  if (series.size() < least) return 0;
  const double near = squares_of_differences(series, 1),
               far = squares_of_differences(series, 2) + squares_of_differences(series, 3);
  if (!(near > 0)) return 0;
  const double more = far / near - 2; // 2 r + r²
  return std::clamp(std::sqrt(1 + std::max(0.0, more)) - 1, least_correlation, most_correlation);
}

// What a value adds to that before it, for a series whose values depend on each other. Misses (infinite) cannot be taken apart.
std::vector<double> increments_of(std::span<const double> series)
{
  std::vector<double> values(series.begin(), series.end());
  if (values.empty() || !std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) return values;
  const double centre = median(values), correlation = correlation_of(series);
  double before = 0;
  for (auto& value : values) {
    const double distance = value - centre;
    value = distance - correlation * std::exchange(before, distance);
  }
  return values;
}

// Leaves those places at which the values up to the place before differ from those up to the place after; the worst goes first.
void keep_steps(std::span<const double> series, std::vector<ChangePoint>& places)
{
  const auto p_at = [&](std::size_t i) {
    const auto begin = i == 0 ? 0 : places[i - 1].first, end = i + 1 == places.size() ? series.size() : places[i + 1].first;
    return rank_test(series.subspan(begin, places[i].first - begin), series.subspan(places[i].first, end - places[i].first)).p;
  };
  while (!places.empty()) {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < places.size(); ++i)
      if (p_at(i) > p_at(worst)) worst = i;
    if (p_at(worst) <= change_level) return;
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

// Sum of the distances of the values from their median.
double spread_of(std::span<const double> values)
{
  const double centre = median({values.begin(), values.end()});
  double sum = 0;
  for (const double value : values) sum += std::abs(value - centre);
  return sum;
}

// The place of a single change: that whose two sides scatter least. By ranks alone, the lowest value of a higher level belongs as
// well to the lower one. Where values are infinite, ranks are all there is.
std::size_t corner_of(std::span<const double> values)
{
  std::vector<double> finite(values.begin(), values.end());
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    const auto ranks = doubled_ranks(values);
    std::ranges::transform(ranks, finite.begin(), [](auto rank) { return static_cast<double>(rank); });
  }
  const std::span<const double> all(finite);
  std::size_t corner = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t t = 1; t < all.size(); ++t)
    if (const double spread = spread_of(all.first(t)) + spread_of(all.subspan(t)); spread < least) least = spread, corner = t;
  return corner;
}

// Moves each place to where the values between the places beside it change: the path of a whole series has blunt corners.
void sharpen(std::span<const double> series, std::vector<ChangePoint>& places)
{
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto begin = i == 0 ? 0 : places[i - 1].first, end = i + 1 == places.size() ? series.size() : places[i + 1].first;
    places[i].first = begin + corner_of(series.subspan(begin, end - begin));
  }
}

void search(std::span<const double> series, std::span<const double> increments, std::size_t begin,
            std::vector<ChangePoint>& found)
{
  if (series.size() < least_for_change) return;
  const auto ranks = doubled_ranks(increments);
  const auto excursion = excursion_of(ranks);
  const double p = p_of(excursion.size, ranks);
  if (p > change_level) return;
  std::vector<ChangePoint> places;
  for (const auto place : {excursion.first, excursion.last})
    if (place > 0) places.push_back({.first = place, .before = 0, .after = 0, .p = p});
  keep_steps(increments, places);
  sharpen(series, places);
  if (places.empty()) return;
  std::size_t part = 0;
  for (auto place : places) {
    search(series.subspan(part, place.first - part), increments.subspan(part, place.first - part), begin + part, found);
    part = place.first;
    place.first += begin;
    found.push_back(place);
  }
  search(series.subspan(part), increments.subspan(part), begin + part, found);
}

// The variance of a mean of so many values that depend on each other by assumed_correlation, for a variance of 1.
double variance_of_mean(std::size_t count)
{
  const auto n = static_cast<double>(count);
  double sum = 1, correlation = 1;
  for (std::size_t lag = 1; lag < count; ++lag)
    sum += 2 * (1 - static_cast<double>(lag) / n) * (correlation *= assumed_correlation);
  return sum / n;
}

// The probability that the latest values are as far from those before them by chance, by their means: Student's t with the
// scatter of those before.
double p_of_latest(std::span<const double> past, std::span<const double> latest)
{
  const auto moments = moments_of(past);
  const double error = std::sqrt(moments.variance * (variance_of_mean(past.size()) + variance_of_mean(latest.size())));
  return two_sided_p({moments_of(latest).mean - moments.mean, error, moments.count - 1});
}

// The probability that the latest values lie so far out by chance, whatever their distribution: that all of them are among the k
// + j values that are farthest on one side, where j of those before lie beyond the nearest of them.
double p_of_places(std::span<const double> past, std::span<const double> latest)
{
  const auto [low, high] = std::ranges::minmax(latest);
  const auto below = std::ranges::count_if(past, [&](double value) { return value <= high; }),
             above = std::ranges::count_if(past, [&](double value) { return value >= low; });
  const auto farther = static_cast<double>(std::min(below, above)), n = static_cast<double>(past.size() + latest.size());
  double p = 2;
  for (std::size_t i = 0; i < latest.size(); ++i) p *= (farther + static_cast<double>(i) + 1) / (n - static_cast<double>(i));
  return p; // 2 C(k + j, k) / C(n, k)
}

// The change with which the latest of the values began, if they are too few for the search.
std::optional<ChangePoint> latest_change(std::span<const double> values)
{
  constexpr std::size_t least_latest = 2, most_latest = 8, least_past = 8;
  constexpr double place_level = 0.0016, mean_level = 0.0005;
  const bool are_finite = std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  std::optional<ChangePoint> change;
  for (std::size_t count = least_latest; count <= most_latest && count + least_past <= values.size(); ++count) {
    const auto past = values.first(values.size() - count), latest = values.last(count);
    const double by_places = p_of_places(past, latest);
    const double p = are_finite ? std::max(by_places * mean_level / place_level, p_of_latest(past, latest)) : by_places;
    if (p <= mean_level && (!change || p < change->p))
      change = ChangePoint{.first = past.size(), .before = 0, .after = 0, .p = p};
  }
  return change;
}

double median_between(std::span<const double> series, std::size_t begin, std::size_t end)
{
  const auto part = series.subspan(begin, end - begin);
  return median({part.begin(), part.end()});
}

} // namespace

Interval median_interval(std::vector<double> values)
{
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double share = std::exp2(-n), below = share; // P(Binomial = k), P(Binomial <= k)
  std::size_t k = 0;
  while (below <= 0.025) {
    ++k;
    share *= (n - static_cast<double>(k) + 1) / static_cast<double>(k);
    below += share;
  }
  if (k == 0) return {nan, nan};
  return {values[k - 1], values[values.size() - k]};
}

std::vector<ChangePoint> change_points_of(std::span<const double> series)
{
  std::vector<ChangePoint> found;
  search(series, increments_of(series), 0, found);
  const auto level = found.empty() ? std::size_t{0} : found.back().first;
  if (auto latest = latest_change(series.subspan(level))) {
    latest->first += level;
    found.push_back(*latest);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].before = median_between(series, i == 0 ? 0 : found[i - 1].first, found[i].first);
    found[i].after = median_between(series, found[i].first, i + 1 == found.size() ? series.size() : found[i + 1].first);
  }
  return found;
}

} // namespace dt::store
