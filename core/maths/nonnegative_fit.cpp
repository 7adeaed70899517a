#include "core/maths/nonnegative_fit.hpp"

#include "core/maths/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace dt {
namespace {

// One column for each unknown.
using Row = std::array<double, 3>;

constexpr int refits = 8;           // each refit takes its weights from the errors of the previous fit
constexpr double usual_error = 0.1; // a larger relative error gets less weight, in inverse proportion
constexpr int most_sweeps = 20'000;
constexpr double settled = 1e-10; // stop at this relative change of an unknown in a sweep

Row row_of(const FitSample& sample) { return {sample.x[0] / sample.y, sample.x[1] / sample.y, sample.x[2] / sample.y}; }

double dot(const Row& a, const Row& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The weighted sum of squares of (row · x - 1) as a function of x: x · matrix x - 2 x · vector + a constant.
struct Squares {
  std::array<Row, 3> matrix{};
  Row vector{};
};

Squares squares_of(const std::vector<Row>& rows, const std::vector<double>& weights)
{
  Squares squares;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < 3; ++i) {
      squares.vector[i] += weights[r] * rows[r][i];
      for (std::size_t j = 0; j < 3; ++j) squares.matrix[i][j] += weights[r] * rows[r][i] * rows[r][j];
    }
  return squares;
}

// Minimises the squares over x >= 0 by coordinate descent: each unknown in turn takes its best value while the others stay fixed.
// An unknown that no sample depends on stays 0.
Row least_squares(const Squares& squares)
{
  Row x{};
  double change = 1;
  for (int sweep = 0; sweep < most_sweeps && change > settled; ++sweep) {
    change = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (squares.matrix[i][i] <= 0) continue;
      const double slope = squares.vector[i] - dot(squares.matrix[i], x);
      const double next = std::max(0.0, x[i] + slope / squares.matrix[i][i]);
      change = std::max(change, std::abs(next - x[i]) / std::max(next, x[i] + std::numeric_limits<double>::min()));
      x[i] = next;
    }
  }
  return x;
}

} // namespace

NonnegativeFit fit_nonnegative(std::span<const FitSample> samples)
{
  std::vector<Row> rows;
  for (const auto& sample : samples) rows.push_back(row_of(sample));
  std::vector<double> weights(rows.size(), 1), errors(rows.size());
  Row x{};
  for (int fit = 0; fit < refits; ++fit) {
    x = least_squares(squares_of(rows, weights));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      errors[r] = std::abs(dot(rows[r], x) - 1);
      weights[r] = 1 / std::max(1.0, errors[r] / usual_error);
    }
  }
  return {.unknowns = x, .spread = median(errors)};
}

} // namespace dt
