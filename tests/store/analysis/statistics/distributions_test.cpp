#include "store/analysis/statistics/distributions.hpp"

#include "core/error.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan_value = std::numeric_limits<double>::quiet_NaN();

double student_t_975(double freedom) { return student_t_quantile(0.975, freedom); }

// The share of Student's distribution with f degrees of freedom below t, by Simpson's rule over its density.
double student_share_below(double t, double f)
{
  const double scale = std::exp(std::lgamma((f + 1) / 2) - std::lgamma(f / 2)) / std::sqrt(f * M_PI);
  const auto density = [&](double x) { return scale * std::pow(1 + x * x / f, -(f + 1) / 2); };
  constexpr int halves = 4000;
  const double width = t / halves;
  double sum = density(0) + density(t);
  for (int i = 1; i < halves; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(i * width);
  return 0.5 + sum * width / 3;
}

} // namespace

TEST_CASE("Student's t is that of the distribution, for any level and whole and other degrees of freedom from one")
{
  CHECK(student_t_975(2) == Approx(4.302652730).epsilon(1e-9)); // tables
  CHECK(student_t_975(4) == Approx(2.776445105).epsilon(1e-9));
  CHECK(student_t_975(30) == Approx(2.042272456).epsilon(1e-9));
  CHECK(student_t_975(1e12) == Approx(1.959963985).epsilon(1e-9)); // normal
  for (const double f : {1.0, 1.5, 2.0, 2.3, 2.9, 3.5, 5.1, 8.0, 17.5, 60.0, 400.0}) {
    CAPTURE(f);
    CHECK(student_share_below(student_t_975(f), f) == Approx(0.975).epsilon(1e-8));
  }
  CHECK(student_t_975(1) == Approx(12.70620474).epsilon(1e-9)); // tables
  CHECK(student_t_quantile(0.95, 5) == Approx(2.015048373).epsilon(1e-9));
  CHECK(student_t_quantile(0.995, 10) == Approx(3.169272673).epsilon(1e-9));
  CHECK(student_t_quantile(0.9995, 3) == Approx(12.92397864).epsilon(1e-9));
  CHECK(student_t_quantile(0.5, 7) == Approx(0).margin(1e-15));
  CHECK(student_t_quantile(0.025, 4) == Approx(-2.776445105).epsilon(1e-9));
  CHECK(student_t_quantile(0.995, infinity) == Approx(2.575829304).epsilon(1e-9)); // normal
  for (const double share : {0.55, 0.8, 0.9, 0.99, 0.999})
    CHECK(student_share_below(student_t_quantile(share, 2.7), 2.7) == Approx(share).epsilon(1e-8));
}

TEST_CASE("the two-sided p value of Student's t is its closed form with one and two degrees of freedom")
{
  for (const double t : {0.0, 0.3, 1.0, 4.0, 50.0, 1e6}) {
    CAPTURE(t);
    CHECK(student_t_two_sided_p(t, 1) == Approx(2 / M_PI * std::atan2(1, t)).epsilon(1e-12));
    CHECK(student_t_two_sided_p(t, 2) == Approx(2 / (2 + t * t) / (1 + t / std::sqrt(2 + t * t))).epsilon(1e-12));
    CHECK(student_t_two_sided_p(-t, 1) == student_t_two_sided_p(t, 1));
  }
  CHECK(student_t_two_sided_p(2.228138852, 10) == Approx(0.05).epsilon(1e-8)); // tables
  CHECK(student_t_two_sided_p(1.959963985, infinity) == Approx(0.05).epsilon(1e-8));
  CHECK(student_t_two_sided_p(infinity, 3) == 0);
}

TEST_CASE("Student's t passes NaN on and refuses what has no t")
{
  CHECK(std::isnan(student_t_quantile(0.975, nan_value)));
  CHECK(std::isnan(student_t_two_sided_p(nan_value, 3)));
  CHECK_THROWS_WITH(student_t_quantile(1, 3), "Student's t: the share must be between 0 and 1, not 1.000000");
  CHECK_THROWS_WITH(student_t_quantile(0.9, 0.5), "Student's t: the degrees of freedom must be at least 1, not 0.500000");
  CHECK_THROWS_AS(student_t_two_sided_p(1, 0), Error);
}
