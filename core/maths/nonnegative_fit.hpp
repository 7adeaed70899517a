// Fits y = a0 x0 + a1 x1 + a2 x2 with a >= 0 by least relative errors; outliers get less weight. Pure.
#pragma once

#include <array>
#include <span>

namespace dt {

struct FitSample {
  std::array<double, 3> x{};
  double y = 0; // above 0
};

struct NonnegativeFit {
  std::array<double, 3> unknowns{}; // 0 for an unknown that no sample depends on
  double spread = 0;                // median of the samples' relative errors: 0.1 is 10%
};

// Minimises the sum of squares of the relative errors. Errors above 10% count less, in inverse proportion (8 reweighted fits).
// Needs at least one sample.
NonnegativeFit fit_nonnegative(std::span<const FitSample> samples);

} // namespace dt
