#include "engine/nn/graph/initial_weights.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

std::vector<StoredParameter> one(const ParameterShape& shape) { return {{shape, {}, {}}}; }

double variance(const std::vector<float>& values)
{
  double sum = 0, squares = 0;
  for (const float value : values) sum += value, squares += static_cast<double>(value) * value;
  const auto n = static_cast<double>(values.size());
  return squares / n - sum / n * sum / n;
}

} // namespace

TEST_CASE("the counter-based generator's numbers do not change between versions")
{
  CHECK(counted_uniform(1, 0, 0) == 0x1.631404p-1F);
  CHECK(counted_uniform(1, 0, 1) == 0x1.b15e54p-2F);
  CHECK(counted_uniform(1, 1, 0) == 0x1.5dd498p-2F);
  CHECK(counted_uniform(2, 0, 0) == 0x1.956ecp-4F);
}

TEST_CASE("initial weights have the variance of He's rule before a ReLU, half of it elsewhere, and biases are zero")
{
  const auto hidden = initial_weights(one({"w", {64, 8, 5, 5}, ParameterKind::weight, true, 200}), 3);
  const auto last = initial_weights(one({"w", {64, 200}, ParameterKind::weight, false, 200}), 3);
  CHECK(variance(hidden) == Approx(2.0 / 200).epsilon(0.03));
  CHECK(variance(last) == Approx(1.0 / 200).epsilon(0.03));
  CHECK(*std::max_element(hidden.begin(), hidden.end()) <= std::sqrt(6.0F / 200));
  CHECK(initial_weights(one({"b", {3}, ParameterKind::bias}), 3) == std::vector<float>(3, 0.0F));
}

TEST_CASE("a batch norm begins as one that only normalises")
{
  CHECK(initial_weights(one({"n.weight", {3}, ParameterKind::scale}), 3) == std::vector<float>(3, 1.0F));
  CHECK(initial_weights(one({"n.bias", {3}, ParameterKind::shift}), 3) == std::vector<float>(3, 0.0F));
  CHECK(initial_weights(one({"n.running_mean", {3}, ParameterKind::statistic}), 3) == std::vector<float>(3, 0.0F));
  CHECK(initial_weights(one({"n.running_var", {3}, ParameterKind::statistic}), 3) == std::vector<float>(3, 1.0F));
}

TEST_CASE("two parameters of one shape start differently, and so do two seeds")
{
  const ParameterShape shape{"w", {4, 4}, ParameterKind::weight, true, 4};
  const auto two = initial_weights({{shape, {}, {}}, {shape, {}, {}}}, 1);
  CHECK(!std::equal(two.begin(), two.begin() + 16, two.begin() + 16));
  CHECK(initial_weights(one(shape), 1) != initial_weights(one(shape), 2));
}
