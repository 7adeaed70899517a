// The reference's gradients against central differences of fourth order, in double precision.
#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/nn/reference.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
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

// magnitude: a bound of what is summed up in f (rounding); curvature: how many times larger f's fifth derivative may be
// (truncation).
void check_gradient(const std::function<double(const Values&)>& f, const Values& x, const Values& gradient, double magnitude,
                    double curvature = 1)
{
  REQUIRE(gradient.size() == x.size());
  const double bound = 4 * magnitude * (epsilon / step + curvature * std::pow(step, 4) / 30);
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(difference(f, x, i) - gradient[i]) <= bound);
  }
}

const std::vector<Windows> shapes{
    {1, 1, 5, 5, 1, 3, 1, 0}, {2, 3, 7, 5, 2, 3, 2, 1},    {1, 2, 11, 7, 3, 5, 3, 2},   {3, 1, 4, 4, 5, 4, 1, 0},
    {2, 5, 1, 1, 3, 1, 1, 0}, {2, 6, 5, 3, 4, 3, 1, 1, 2}, {1, 3, 7, 7, 3, 3, 2, 0, 3},
};

// Cauchy: a function that is analytic within r of a point and bounded by M there has a fifth derivative of at most 5! M / r^5.
double curvature_within(double radius) { return 120 / std::pow(radius, 5); }

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

TEST_CASE("the reference average pooling's gradient is its derivative, with padding and with windows that end outside")
{
  for (const auto& s : {Windows{2, 3, 6, 6, 3, 2, 2, 0}, Windows{1, 2, 7, 5, 2, 3, 2, 1},
                        Windows{1, 1, 8, 5, 1, 3, 2, 1, 1, true}, Windows{2, 1, 7, 7, 1, 7, 7, 0}}) {
    const auto x = numbers(s.inputs(), 1), c = numbers(s.outputs(), 4);
    check_gradient([&](const Values& v) { return dot(c, reference::average_pooling(s, v)); }, x,
                   reference::average_pooling_gradient(s, c), static_cast<double>(s.outputs()));
  }
}

TEST_CASE("a window that begins inside counts where the size is rounded up, and none begins in the padding behind")
{
  CHECK(Windows{1, 1, 8, 7, 1, 3, 2, 0, 1, true}.out_height() == 4);
  CHECK(Windows{1, 1, 8, 7, 1, 3, 2, 0, 1, true}.out_width() == 3);
  CHECK(Windows{1, 1, 8, 7, 1, 3, 2, 0}.out_height() == 3);
  CHECK(Windows{1, 1, 5, 5, 1, 2, 3, 1, 1, true}.out_height() == 2);
}

TEST_CASE("the reference batch norm gives each channel mean beta and variance gamma squared")
{
  const reference::Channels s{5, 3, 7};
  const auto norm = reference::batch_norm(s, numbers(s.size(), 1), {1, -2, 0.5}, {0, 3, -1}, 0);
  const auto again = reference::batch_norm(s, norm.output, {1, 1, 1}, {0, 0, 0}, 0);
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(again.mean[c] == Approx(Values{0, 3, -1}[c]).margin(1e-14));
    CHECK(again.variance[c] == Approx(Values{1, 4, 0.25}[c]));
  }
}

TEST_CASE("the reference batch norm's gradients are its derivatives")
{
  constexpr double epsilon_of_norm = 1e-5;
  for (const auto& s : {reference::Channels{2, 3, 5}, reference::Channels{7, 1, 1}, reference::Channels{1, 2, 11}}) {
    const auto x = numbers(s.size(), 1), gamma = numbers(s.channels, 2), beta = numbers(s.channels, 3), c = numbers(s.size(), 4);
    const auto gradients = reference::batch_norm_gradients(s, x, gamma, c, epsilon_of_norm);
    const auto of = [&](const Values& v, const Values& g, const Values& b) {
      return dot(c, reference::batch_norm(s, v, g, b, epsilon_of_norm).output);
    };
    // |y| stays below sqrt(n), and the variance above zero while one number moves by no more than its standard deviation, about
    // 1/2.
    const double magnitude = static_cast<double>(s.size()) * std::sqrt(static_cast<double>(s.batch * s.places));
    check_gradient([&](const Values& v) { return of(v, gamma, beta); }, x, gradients.input, magnitude, curvature_within(0.5));
    check_gradient([&](const Values& v) { return of(x, v, beta); }, gamma, gradients.gamma, magnitude);
    check_gradient([&](const Values& v) { return of(x, gamma, v); }, beta, gradients.beta, magnitude);
  }
}

TEST_CASE("the reference local response norm's gradient is its derivative")
{
  for (const auto& lrn : {reference::Lrn{5, 0.5, 0.75, 1}, reference::Lrn{3, 1, 0.5, 2}}) {
    for (const auto& s : {reference::Channels{2, 7, 3}, reference::Channels{1, 1, 2}, reference::Channels{1, 13, 1}}) {
      const auto x = numbers(s.size(), 1), c = numbers(s.size(), 4);
      // The denominator has no zero nearer than sqrt(k size / alpha), which is more than 2.
      check_gradient([&](const Values& v) { return dot(c, reference::lrn(s, lrn, v)); }, x, reference::lrn_gradient(s, lrn, x, c),
                     static_cast<double>(s.size()), curvature_within(2));
    }
  }
}

TEST_CASE("the reference concat takes apart what it joined")
{
  const std::vector<Values> inputs{numbers(3 * 4, 1), numbers(3 * 1, 2), numbers(3 * 7, 3)};
  CHECK(reference::concat_gradients(3, {4, 1, 7}, reference::concat(3, inputs)) == inputs);
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
  for (const double smoothing : {0.0, 0.1, 1.0})
    check_gradient([&](const Values& v) { return reference::softmax_cross_entropy(v, labels, smoothing).mean; }, logits,
                   reference::softmax_cross_entropy(logits, labels, smoothing).gradient, 5);
}
