// The reference's gradients against central differences of fourth order, in double precision.
#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/nn/reference.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt::engine;
using reference::Values;
using reference::Windows;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
const double step = std::pow(epsilon, 0.2); // where rounding, eps F / h, and truncation, h^4 F, are of one size

double dot(const Values& a, const Values& b)
{
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// (f(x - 2h) - 8 f(x - h) + 8 f(x + h) - f(x + 2h)) / 12 h
double difference(const std::function<double(const Values&)>& f, Values x, std::size_t i)
{
  const double middle = x[i];
  const auto at = [&](double steps) {
    x[i] = middle + steps * step;
    return f(x);
  };
  return (at(-2) - 8 * at(-1) + 8 * at(1) - at(2)) / (12 * step);
}

// magnitude: a bound of what is summed up in f (rounding), and of f's fifth derivative (truncation).
void check_gradient(const std::function<double(const Values&)>& f, const Values& x, const Values& gradient, double magnitude)
{
  REQUIRE(gradient.size() == x.size());
  const double bound = 4 * magnitude * (epsilon / step + std::pow(step, 4) / 30);
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(difference(f, x, i) - gradient[i]) <= bound);
  }
}

const std::vector<Windows> shapes{
    {1, 1, 5, 5, 1, 3, 1, 0}, {2, 3, 7, 5, 2, 3, 2, 1}, {1, 2, 11, 7, 3, 5, 3, 2},
    {3, 1, 4, 4, 5, 4, 1, 0}, {2, 5, 1, 1, 3, 1, 1, 0},
};

} // namespace

TEST_CASE("the reference convolution's gradients are its derivatives")
{
  for (const auto& s : shapes) {
    const auto x = numbers(s.inputs(), 1), w = numbers(s.weights(), 2), b = numbers(s.out_channels, 3),
               c = numbers(s.outputs(), 4);
    const auto gradients = reference::convolution_gradients(s, x, w, c);
    const auto magnitude = static_cast<double>(s.outputs() * (s.weights() / s.out_channels + 1)); // all factors are below 1
    check_gradient([&](const Values& v) { return dot(c, reference::convolution(s, v, w, b)); }, x, gradients.input, magnitude);
    check_gradient([&](const Values& v) { return dot(c, reference::convolution(s, x, v, b)); }, w, gradients.weights, magnitude);
    check_gradient([&](const Values& v) { return dot(c, reference::convolution(s, x, w, v)); }, b, gradients.bias, magnitude);
  }
}

TEST_CASE("the reference pooling's gradient is its derivative")
{
  for (const auto& s : {Windows{2, 3, 6, 6, 3, 2, 2, 0}, Windows{1, 2, 7, 5, 2, 3, 2, 1}, Windows{3, 1, 5, 7, 1, 3, 1, 0}}) {
    const auto x = distinct_numbers(s.inputs()), c = numbers(s.outputs(), 4);
    check_gradient([&](const Values& v) { return dot(c, reference::max_pooling(s, v)); }, x,
                   reference::max_pooling_gradient(s, x, c), static_cast<double>(s.outputs()));
  }
}

TEST_CASE("the reference ReLU's gradient is its derivative")
{
  const auto x = distinct_numbers(50), c = numbers(50, 4);
  check_gradient([&](const Values& v) { return dot(c, reference::relu(v)); }, x, reference::relu_gradient(reference::relu(x), c),
                 50);
}

TEST_CASE("the reference loss's gradient is its derivative")
{
  const std::vector<std::int32_t> labels{0, 4, 2};
  const auto logits = numbers(15, 5);
  check_gradient([&](const Values& v) { return reference::softmax_cross_entropy(v, labels).mean; }, logits,
                 reference::softmax_cross_entropy(logits, labels).gradient, 5);
}
