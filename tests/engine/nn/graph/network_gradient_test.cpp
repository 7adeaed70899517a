// LeNet as a whole: its gradient against the reference's, and the reference's against differences.
#include "engine/nn/graph/network.hpp"
#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/nn/reference.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
using reference::Values;
using reference::Windows;

namespace {

// A convolution or inner product, a ReLU, and perhaps a pooling of 2x2 behind it.
struct Stage {
  Windows shape;
  bool relu, pool;
  Windows pooling() const
  {
    return {shape.batch, shape.out_channels, shape.out_height(), shape.out_width(), shape.out_channels, 2, 2, 0};
  }
};

struct ReferenceLeNet {
  std::vector<Stage> stages;
  std::vector<std::int32_t> labels;

  ReferenceLeNet(std::int64_t channels, std::int64_t side, std::int64_t padding, std::vector<std::int32_t> batch_labels)
      : labels(std::move(batch_labels))
  {
    const auto n = static_cast<std::int64_t>(labels.size());
    stages = {{{n, channels, side, side, 6, 5, 1, padding}, true, true},
              {{n, 6, 14, 14, 16, 5, 1, 0}, true, true},
              {reference::inner_product(n, 400, 120), true, false},
              {reference::inner_product(n, 120, 84), true, false},
              {reference::inner_product(n, 84, 10), false, false}};
  }

  // Loss, and the gradient of all parameters in plain order.
  std::pair<double, Values> loss(const Values& images, const Values& weights) const
  {
    std::vector<Values> inputs{images}, activations, stage_weights;
    auto next = weights.begin();
    for (const auto& [shape, relu, pool] : stages) {
      stage_weights.emplace_back(next, next + shape.weights());
      next += shape.weights();
      const Values bias(next, next + shape.out_channels);
      next += shape.out_channels;
      auto y = reference::convolution(shape, inputs.back(), stage_weights.back(), bias);
      if (relu) y = reference::relu(y);
      activations.push_back(y);
      inputs.push_back(pool ? reference::max_pooling(Stage{shape, relu, pool}.pooling(), y) : y);
    }
    const auto result = reference::softmax_cross_entropy(inputs.back(), labels);
    return {result.mean, backward(inputs, activations, stage_weights, result.gradient)};
  }

  Values backward(const std::vector<Values>& inputs, const std::vector<Values>& activations, const std::vector<Values>& weights,
                  Values c) const
  {
    Values all;
    for (auto i = stages.size(); i-- > 0;) {
      if (stages[i].pool) c = reference::max_pooling_gradient(stages[i].pooling(), activations[i], c);
      if (stages[i].relu) c = reference::relu_gradient(activations[i], c);
      const auto gradients = reference::convolution_gradients(stages[i].shape, inputs[i], weights[i], c);
      auto stage = gradients.weights;
      stage.insert(stage.end(), gradients.bias.begin(), gradients.bias.end());
      all.insert(all.begin(), stage.begin(), stage.end());
      c = gradients.input;
    }
    return all;
  }
};

double norm(const Values& values)
{
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

const std::vector<std::int32_t> labels{3, 0, 9};

void check_network(const Shape& image, std::int64_t padding, bool image_lanes = false)
{
  Network network({.model = "lenet", .image = image, .batch = 3, .seed = 5, .image_lanes = image_lanes});
  const auto images = numbers(3 * image.size(), 11);
  const double loss = network.forward_backward(to_float(images), labels);
  const auto [expected_loss, expected] =
      ReferenceLeNet(image.channels, image.height, padding, labels).loss(images, to_double(network.plain_weights()));
  CHECK(loss == Approx(expected_loss).epsilon(1e-6));
  auto difference = to_double(network.plain_gradients());
  REQUIRE(difference.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) difference[i] -= expected[i];
  CHECK(norm(difference) <= 1e-6 * norm(expected)); // five layers of sums of up to 400 terms, rounded to 2^-24 at random
}

} // namespace

TEST_CASE("LeNet's loss and gradient agree with the reference on 1x28x28") { check_network({1, 28, 28}, 2); }

TEST_CASE("LeNet's loss and gradient agree with the reference on 3x32x32") { check_network({3, 32, 32}, 0); }

TEST_CASE("LeNet in image lanes agrees with the reference too, on 1x28x28 and on 3x32x32")
{
  check_network({1, 28, 28}, 2, true);
  check_network({3, 32, 32}, 0, true);
}

TEST_CASE("LeNet in image lanes has the same bits with any number of threads, and an evaluation of any batch shares its weights")
{
  const auto images = to_float(numbers(40 * 28 * 28, 11));
  std::vector<std::int32_t> many(40);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(i % 10);
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 5}) {
    INFO(threads << " threads");
    NetworkOptions options{.model = "lenet", .batch = 40, .threads = threads, .image_lanes = true};
    Network network(options);
    const double loss = network.forward_backward(images, many);
    const auto gradients = network.plain_gradients();
    if (threads == 1) first = gradients;
    CHECK(gradients == first);
    for (const bool lanes : {true, false}) {
      options.image_lanes = lanes;
      const auto found = Network(options, network).evaluate(images, many);
      CHECK(found.loss_sum / 40 == Approx(loss).epsilon(1e-5));
    }
  }
}

TEST_CASE("an evaluation in image lanes shares weights of oneDNN's layers, and the other way round")
{
  const auto images = to_float(numbers(40 * 28 * 28, 11));
  const std::vector<std::int32_t> some(40, 3);
  for (const bool trained_in_lanes : {false, true}) {
    INFO("trained in lanes " << trained_in_lanes);
    NetworkOptions options{.model = "lenet", .batch = 40, .image_lanes = trained_in_lanes};
    Network network(options);
    const double loss = network.forward_backward(images, some);
    options.image_lanes = !trained_in_lanes;
    CHECK(Network(options, network).evaluate(images, some).loss_sum / 40 == Approx(loss).epsilon(1e-5));
  }
}

TEST_CASE("an evaluation has the kernels of the training whatever its batch, so it copies no weights")
{
  for (const std::int64_t batch : {8, 16}) {
    INFO("batch " << batch);
    const Network trained({.model = "lenet", .batch = batch});
    for (const std::int64_t samples : {8, 16}) {
      const Network evaluating({.model = "lenet", .batch = samples}, trained);
      CHECK(evaluating.algorithms() == trained.algorithms());
    }
  }
}

TEST_CASE("the reference LeNet's gradient is its derivative")
{
  const ReferenceLeNet lenet(1, 28, 2, labels);
  const auto images = numbers(3 * 28 * 28, 11);
  const auto start = to_double(Network({.model = "lenet", .batch = 1, .seed = 5}).plain_weights());
  const auto gradient = lenet.loss(images, start).second;
  constexpr double h = 1e-5; // small, so that no maximum changes its winner: rounding rules, with about eps / h
  for (std::size_t parameter = 0; parameter < start.size(); parameter += 6007) {
    const auto at = [&](double steps) {
      auto weights = start;
      weights[parameter] += steps * h;
      return lenet.loss(images, weights).first;
    };
    INFO("parameter " << parameter);
    CHECK(std::abs((at(-2) - 8 * at(-1) + 8 * at(1) - at(2)) / (12 * h) - gradient[parameter]) <= 1e-9);
  }
}
