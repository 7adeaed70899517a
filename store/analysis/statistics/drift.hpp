// Drift: whether and when the values of repeated measurements changed over weeks and months. Pure functions.
#pragma once

#include "store/analysis/statistics/welch.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dt::store {

// The narrowest interval between two of the values that holds the median of their distribution with a probability of at least 95
// %, whatever the distribution: the k-th smallest and the k-th largest value with P(Binomial(n, 1/2) < k) <= 2.5 %. Fewer than
// six values have none: both bounds are NaN. Values may be infinite.
Interval median_interval(std::vector<double> values);

// A change of the level of a series.
struct ChangePoint {
  std::size_t first = 0;        // the first value of the new level
  double before = 0, after = 0; // medians of the values between this change and its neighbours
  double p = 1;                 // that there is no change, of the part of the series that the change divides
};

// Fewer values cannot reach the level: of the orders of fourteen, 14 of 3,432 go as far as two halves that are wholly apart.
inline constexpr std::size_t least_for_change = 14;
inline constexpr double change_level = 0.01;

// The changes of a series in the order of time, by segmentation with a rank test in the way of Pettitt and Kuiper [Pettitt1979,
// Kuiper1960]. The path
//
//   S(t) = rank of value 1 + … + rank of value t - t (n + 1) / 2,  t = 0 … n - 1,
//
// has a corner where the level changes. If at most 1 % of the orders of the values (9,999 random ones and this one) have a path
// that goes as far from its lowest to its highest place, these two places are the candidates: one of them where the level changes
// once, both where it changes and comes back. A candidate stays if the values on its two sides differ by the test of Mann and
// Whitney (p <= 1 %); it moves to the place whose two sides scatter least around their medians. Then the parts are searched in
// the same way. A series without a change, whose values do not depend on each other, gets a false one with a probability of at
// most 1 %. Values that depend on those before them (a slow drift) get more. Fewer than `least_for_change` values have no change.
// Values may be infinite; none may be NaN.
std::vector<ChangePoint> change_points_of(std::span<const double> series);

} // namespace dt::store
