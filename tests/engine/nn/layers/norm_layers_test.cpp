// Batch norm with what is joined to it, local response norm, and dropout.
#include "tests/engine/nn/layers/layer_bench.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
using reference::Channels;
using reference::Values;

namespace {

constexpr double norm_epsilon = 1e-5;

double largest(const Values& values)
{
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

struct NormInput {
  Channels shape;
  Shape image;
  Values x, gamma, beta, running_mean, running_variance, c;
  LayerInput layer() const { return {shape.batch, x, joined({gamma, beta, running_mean, running_variance}), c}; }
};

NormInput norm_input(std::int64_t batch, const Shape& image)
{
  const Channels shape{batch, image.channels, image.height * image.width};
  auto variance = numbers(image.channels, 6);
  for (auto& value : variance) value = 1.5 + value;
  return {shape,
          image,
          numbers(shape.size(), 1),
          numbers(image.channels, 2),
          numbers(image.channels, 3),
          numbers(image.channels, 5),
          variance,
          numbers(shape.size(), 4)};
}

// To first order, with n numbers a channel rounded at random, u = 2^-24 and r = (max|x| + max|mean|) / standard deviation: a sum
// of n is off by about 4 sqrt(n) u of its largest possible value, so (x - mean) / s by that times 2 r, from mean and variance;
// the product of two of those, which the gradient has, by r^2.
Values allowed_error(const NormInput& in, std::size_t size, double factor)
{
  const auto norm = reference::batch_norm(in.shape, in.x, in.gamma, in.beta, norm_epsilon);
  const double least = std::sqrt(*std::min_element(norm.variance.begin(), norm.variance.end()) + norm_epsilon);
  const double r = (largest(in.x) + largest(norm.mean)) / least, n = static_cast<double>(in.shape.batch * in.shape.places);
  return Values(size, factor * (4 * std::sqrt(n) + 4) * 0x1p-24 * (1 + 2 * r + r * r) / 2);
}

struct NormExpected {
  Values output, input_gradient, weight_gradients;
  double gradient_factor; // largest number before d in dL/dx
};

// d: the gradient of the norm's own output. The statistics' gradients are this batch's values.
NormExpected expected_of(const NormInput& in, const Values& d)
{
  const auto norm = reference::batch_norm(in.shape, in.x, in.gamma, in.beta, norm_epsilon);
  const auto gradients = reference::batch_norm_gradients(in.shape, in.x, in.gamma, d, norm_epsilon);
  const double least = std::sqrt(*std::min_element(norm.variance.begin(), norm.variance.end()) + norm_epsilon);
  return {norm.output, gradients.input, joined({gradients.gamma, gradients.beta, norm.mean, norm.variance}), 1 / least};
}

void check_norm(const NormInput& in, const LayerOutput& out, const NormExpected& expected)
{
  CHECK(count_outside(out.output, expected.output, allowed_error(in, out.output.size(), 1)) == 0);
  CHECK(count_outside(out.input_gradient, expected.input_gradient, allowed_error(in, in.x.size(), expected.gradient_factor)) ==
        0);
  const double samples = static_cast<double>(in.shape.batch * in.shape.places); // summed up in the parameters' gradients
  CHECK(count_outside(out.weight_gradients, expected.weight_gradients, allowed_error(in, out.weight_gradients.size(), samples)) ==
        0);
}

Values sum_of(Values a, const Values& b)
{
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

std::vector<NormInput> norm_inputs()
{
  return {norm_input(3, {1, 5, 5}),  norm_input(2, {3, 7, 5}),   norm_input(1, {17, 3, 3}),
          norm_input(5, {16, 1, 1}), norm_input(2, {32, 7, 11}), norm_input(64, {13, 1, 1})};
}

void describe_case(const NormInput& in)
{
  UNSCOPED_INFO("batch " << in.shape.batch << ", " << in.image.channels << "x" << in.image.height << "x" << in.image.width);
}

} // namespace

TEST_CASE("batch norm agrees with the reference over odd shapes, with a ReLU joined to it and without")
{
  for (const auto& in : norm_inputs())
    for (const bool relu : {false, true}) {
      describe_case(in);
      const auto out = run_layers(described(in.image,
                                            [&](ModelBuilder& b) {
                                              const auto norm = b.batch_norm("n", b.input());
                                              return relu ? b.relu(norm) : norm;
                                            }),
                                  in.layer());
      auto expected = expected_of(in, relu ? reference::relu_gradient(out.output, in.c) : in.c);
      if (relu) expected.output = reference::relu(expected.output);
      check_norm(in, out, expected); // its statistics' gradients are the batch's values
    }
}

TEST_CASE(
    "batch norm with a shortcut added to it agrees with the reference, whichever is named first, with a ReLU behind and without")
{
  for (const auto& in : norm_inputs())
    for (const bool norm_first : {true, false})
      for (const bool relu : {true, false}) {
        describe_case(in);
        const auto model = described(in.image, [&](ModelBuilder& b) {
          const auto shortcut = b.relu(b.input()), norm = b.batch_norm("n", b.input());
          const auto sum = norm_first ? b.add(norm, shortcut) : b.add(shortcut, norm);
          return relu ? b.relu(sum) : sum;
        });
        const auto out = run_layers(model, in.layer());
        const auto d = relu ? reference::relu_gradient(out.output, in.c) : in.c;
        auto expected = expected_of(in, d);
        expected.output = sum_of(expected.output, reference::relu(in.x));
        if (relu) expected.output = reference::relu(expected.output);
        expected.input_gradient = sum_of(expected.input_gradient, reference::relu_gradient(in.x, d));
        check_norm(in, out, expected);
      }
}

// Four samples: two and four threads divide them; three take groups of channels, or samples where there are fewer groups.
TEST_CASE("batch norm with what is joined to it gives equal bits for every number of threads")
{
  for (const auto& image : {Shape{5, 7, 3}, Shape{64, 5, 5}})
    for (const auto precision : {Precision::fp32, Precision::bf16}) {
      const auto in = norm_input(4, image);
      const auto computed = [&](int threads) {
        auto layer = in.layer();
        layer.precision = precision, layer.threads = threads;
        const auto describe = [](ModelBuilder& b) { return b.relu(b.add(b.batch_norm("n", b.input()), b.relu(b.input()))); };
        return run_layers(described(image, describe, LayerKernels::library, precision), layer);
      };
      const auto one = computed(1);
      for (const int threads : {2, 3, 4}) {
        INFO(image.channels << " channels, " << threads << " threads, bf16 " << (precision == Precision::bf16));
        const auto out = computed(threads);
        CHECK((out.output == one.output));
        CHECK((out.input_gradient == one.input_gradient));
        CHECK((out.weight_gradients == one.weight_gradients));
      }
    }
}

TEST_CASE("two batch norms that are added agree with the reference")
{
  const auto in = norm_input(3, {5, 7, 3}), other = norm_input(3, {5, 7, 3});
  const auto model =
      described(in.image, [](ModelBuilder& b) { return b.add(b.batch_norm("m", b.input()), b.batch_norm("n", b.input())); });
  auto layer = in.layer();
  layer.weights = joined({layer.weights, layer.weights});
  const auto out = run_layers(model, layer);
  auto expected = expected_of(in, in.c);
  expected.output = sum_of(expected.output, expected.output);
  expected.input_gradient = sum_of(expected.input_gradient, expected.input_gradient);
  expected.weight_gradients = joined({expected.weight_gradients, expected.weight_gradients});
  check_norm(in, out, expected);
}

TEST_CASE("batch norm in an evaluation takes the running statistics")
{
  for (const auto& in : norm_inputs()) {
    describe_case(in);
    const auto model = described(in.image, [](ModelBuilder& b) { return b.batch_norm("n", b.input()); });
    auto expected = in.x;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto c = i / static_cast<std::size_t>(in.shape.places) % static_cast<std::size_t>(in.shape.channels);
      expected[i] = in.gamma[c] * (in.x[i] - in.running_mean[c]) / std::sqrt(in.running_variance[c] + norm_epsilon) + in.beta[c];
    }
    CHECK(count_outside(evaluate_layers(model, in.layer()), expected, Values(expected.size(), 16 * 0x1p-24 * 4)) == 0);
  }
}

TEST_CASE("local response norm agrees with the reference over odd shapes")
{
  for (const auto& lrn : {reference::Lrn{5, 0.5, 0.75, 1}, reference::Lrn{3, 1, 0.5, 2}, reference::Lrn{5, 1e-4, 0.75, 2}})
    for (const auto& image : {Shape{1, 3, 3}, Shape{7, 5, 3}, Shape{16, 4, 4}, Shape{96, 7, 7}, Shape{17, 1, 1}}) {
      INFO(image.channels << " channels, " << lrn.size << " summed");
      const Channels s{2, image.channels, image.height * image.width};
      const auto x = numbers(s.size(), 1), c = numbers(s.size(), 4);
      const auto model = described(image, [&](ModelBuilder& b) {
        return b.lrn(b.input(), {.size = lrn.size, .alpha = lrn.alpha, .beta = lrn.beta, .k = lrn.k});
      });
      const auto out = run_layers(model, {s.batch, x, {}, c});
      const double allowed =
          static_cast<double>(4 * lrn.size + 16) * 0x1p-24; // a power is a few roundings; all factors are below 2
      CHECK(count_outside(out.output, reference::lrn(s, lrn, x), Values(x.size(), allowed)) == 0);
      CHECK(count_outside(out.input_gradient, reference::lrn_gradient(s, lrn, x, c), Values(x.size(), allowed)) == 0);
    }
}

TEST_CASE("dropout drops its rate, scales what is left, and lets the gradient through the same places")
{
  for (const double rate : {0.5, 0.7})
    for (const auto& image : {Shape{1, 1, 3001}, Shape{17, 13, 11}}) {
      const auto size = 2 * image.size();
      const auto x = numbers(size, 1), c = numbers(size, 4);
      const auto out = run_layers(described(image, [&](ModelBuilder& b) { return b.dropout(b.input(), rate); }), {2, x, {}, c});
      double dropped = 0;
      Values expected = x, gradient = c;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double factor = out.output[i] == 0 ? 0 : 1 / (1 - rate);
        dropped += out.output[i] == 0 ? 1 : 0;
        expected[i] *= factor;
        gradient[i] *= factor;
      }
      INFO("rate " << rate << ", " << size << " numbers");
      CHECK(dropped / static_cast<double>(size) ==
            Approx(rate).margin(4 * std::sqrt(0.25 / static_cast<double>(size)))); // 4 sigma
      CHECK(count_outside_sums(out.output, expected, absolute(expected), 1) == 0);
      CHECK(count_outside_sums(out.input_gradient, gradient, absolute(gradient), 1) == 0);
      const auto model = described(image, [&](ModelBuilder& b) { return b.dropout(b.input(), rate); });
      CHECK(evaluate_layers(model, {2, x, {}, c}) == to_double(to_float(x)));
    }
}
