#include "store/analysis/statistics/welch.hpp"

#include "sleep_data.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

Moments moments(const std::vector<double>& values) { return moments_of(values); }

} // namespace

TEST_CASE("moments are the mean and the sample variance, and equal values have exactly none")
{
  const auto sample = moments({1, 2, 6});
  CHECK(sample.mean == Approx(3));
  CHECK(sample.variance == Approx(7)); // (4 + 1 + 9) / 2
  CHECK(sample.count == 3);
  CHECK(std::isnan(moments({}).mean));
  CHECK(moments({5}).mean == 5);
  CHECK(std::isnan(moments({5}).variance));
  for (const double value : {0.1, 1 / 3.0, 1e-9, 12345.678}) {
    CHECK(moments(std::vector<double>(7, value)).variance == 0);
    CHECK(moments(std::vector<double>(7, value)).mean == value);
  }
}

TEST_CASE("Welch's test of Student's data gives R's figures")
{
  const auto& truth = sleep_data::welch;
  const auto estimate = difference_of_means(moments(sleep_data::first), moments(sleep_data::second));
  CHECK(estimate.value == Approx(truth.difference));
  CHECK(estimate.value / estimate.standard_error == Approx(truth.t).epsilon(3e-5));
  CHECK(estimate.freedom == Approx(truth.freedom).epsilon(3e-5));
  CHECK(two_sided_p(estimate) == Approx(truth.p).epsilon(1e-4));
  const auto interval = confidence_interval(estimate, 0.95);
  CHECK(interval.low == Approx(truth.low).epsilon(1e-7));
  CHECK(interval.high == Approx(truth.high).epsilon(1e-6));
}

TEST_CASE("the paired test of Student's data gives R's figures")
{
  const auto& truth = sleep_data::paired;
  std::vector<double> differences;
  for (std::size_t i = 0; i < sleep_data::first.size(); ++i) differences.push_back(sleep_data::first[i] - sleep_data::second[i]);
  const auto estimate = mean_of(moments(differences));
  CHECK(estimate.value / estimate.standard_error == Approx(truth.t).epsilon(3e-5));
  CHECK(estimate.freedom == 9);
  CHECK(two_sided_p(estimate) == Approx(truth.p).epsilon(2e-4));
  const auto interval = confidence_interval(estimate, 0.95);
  CHECK(interval.low == Approx(truth.low).epsilon(1e-7));
  CHECK(interval.high == Approx(truth.high).epsilon(1e-7));
}

TEST_CASE("an interval excludes 0 exactly if the p value is below 1 - level, and degrees of freedom do not depend on the unit")
{
  const auto estimate = difference_of_means(moments(sleep_data::first), moments(sleep_data::second));
  const double p = two_sided_p(estimate);
  CHECK(confidence_interval(estimate, 1 - p - 1e-6).high < 0);
  CHECK(confidence_interval(estimate, 1 - p + 1e-6).high > 0);
  const auto ordinary = difference_of_means(moments({1, 2, 4}), moments({1, 3, 9, 2}));
  const auto tiny = difference_of_means(moments({1e-90, 2e-90, 4e-90}), moments({1e-90, 3e-90, 9e-90, 2e-90}));
  CHECK(tiny.freedom == Approx(ordinary.freedom));
}

TEST_CASE("with fewer than three values there is no interval and no p value, and without any scatter the interval is the "
          "difference itself")
{
  for (const auto& estimate : {difference_of_means(moments({1, 2}), moments({1, 2, 3})),
                               difference_of_means(moments({1, 2, 3}), moments({1, 2})), mean_of(moments({1, 2}))}) {
    CHECK_FALSE(std::isnan(estimate.value));
    CHECK(std::isnan(confidence_interval(estimate, 0.95).low));
    CHECK(std::isnan(confidence_interval(estimate, 0.95).high));
    CHECK(std::isnan(two_sided_p(estimate)));
  }
  const auto exact = difference_of_means(moments({5, 5, 5}), moments({3, 3, 3}));
  CHECK(confidence_interval(exact, 0.95).low == 2);
  CHECK(confidence_interval(exact, 0.95).high == 2);
  CHECK(two_sided_p(exact) == 0);
  CHECK(two_sided_p(difference_of_means(moments({5, 5, 5}), moments({5, 5, 5, 5}))) == 1);
}
