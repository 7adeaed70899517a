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
inline constexpr double change_level = 0.005;
// A value may depend on the one before it: what was left on a machine one week is still there the next. The search takes a
// correlation between these two, as the series shows it; the test of the latest values, which are too few, takes this one.
inline constexpr double least_correlation = 0.1, most_correlation = 0.5, assumed_correlation = 0.3;

// The changes of a series in the order of time: those of a search, and that with which its latest values began.
//
// The search is a segmentation with a rank test in the way of Pettitt and Kuiper [Pettitt1979, Kuiper1960]. The values are first
// freed of their correlation r, x(t) - r x(t - 1). The path
//
//   S(t) = rank of value 1 + … + rank of value t - t (n + 1) / 2,  t = 0 … n - 1,
//
// has a corner where the level changes. If at most change_level of the orders of the values (9,999 random ones and this one) have
// a path that goes as far from its lowest to its highest place, these two places are the candidates: one of them where the level
// changes once, both where it changes and comes back. A candidate stays if the values on its two sides differ by the test of Mann
// and Whitney (p <= change_level); it moves to the place whose two sides scatter least around their medians. Then the parts are
// searched in the same way. Parts of fewer than `least_for_change` values have no change.
//
// The latest 2 to 8 values of the last level are compared with the 8 or more before them, because a loss should not have to last
// for months before it is seen. They changed if so few values lie beyond them (p <= 0.16 %, whatever the distribution), and if
// their mean differs by Student's t, whose error allows for assumed_correlation (p <= 0.05 %). Two values are enough after 35,
// three after 18.
//
// A year of 52 values without a change gets a false one with a probability of 0.1 %, and of 1 % if each value depends on the one
// before it by 0.3. With a scatter of 3 % a half is found in two weeks, 10 % in four weeks in 95 %, and 5 % in the middle of a
// year in 81 %: tests/store/analysis/statistics/drift_test.cpp. Values may be infinite; none may be NaN.
std::vector<ChangePoint> change_points_of(std::span<const double> series);

} // namespace dt::store
