// LeNet in image lanes and outside: equal bits, and evaluations with the weights of a training.
#include "engine/nn/graph/network.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

TEST_CASE("LeNet in image lanes has the same bits with any number of threads")
{
  const auto images = to_float(numbers(40 * 28 * 28, 11));
  std::vector<std::int32_t> many(40);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int32_t>(i % 10);
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 5}) {
    INFO(threads << " threads");
    Network network({.model = "lenet", .batch = 40, .threads = threads, .image_lanes = true});
    network.forward_backward(images, many);
    const auto gradients = network.plain_gradients();
    if (threads == 1) first = gradients;
    CHECK(gradients == first);
  }
}

TEST_CASE("an evaluation in image lanes shares weights of a training in lanes and outside, and the other way round")
{
  const auto images = to_float(numbers(40 * 28 * 28, 11));
  const std::vector<std::int32_t> some(40, 3);
  for (const bool trained_in_lanes : {false, true})
    for (const bool evaluated_in_lanes : {false, true}) {
      INFO("trained in lanes " << trained_in_lanes << ", evaluated " << evaluated_in_lanes);
      NetworkOptions options{.model = "lenet", .batch = 40, .image_lanes = trained_in_lanes};
      Network network(options);
      const double loss = network.forward_backward(images, some);
      options.image_lanes = evaluated_in_lanes;
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
