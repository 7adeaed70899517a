#include "engine/nn/graph/network.hpp"

#include "engine/nn/graph/make_layers.hpp"
#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/refusal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
using dt::test::refusal;

namespace {

struct Batch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

Batch random_batch(const Network& network, std::uint64_t stream = 20)
{
  const auto& options = network.options();
  Batch batch{to_float(numbers(options.batch * options.image.size(), stream)), {}};
  for (std::int64_t i = 0; i < options.batch; ++i) batch.labels.push_back(static_cast<std::int32_t>(i * 7 % options.classes));
  return batch;
}

double sgd_step(Network& network, const Batch& batch, float rate = 0.05F)
{
  const double loss = network.forward_backward(batch.images, batch.labels);
  const auto weights = network.weights();
  const auto gradients = network.gradients();
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= rate * gradients[i];
  return loss;
}

NetworkOptions lenet(std::int64_t batch, std::uint64_t seed = 1, int threads = 1)
{
  return {.model = "lenet", .batch = batch, .threads = threads, .seed = seed};
}

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

// Weights after a few steps, to the bit.
std::vector<float> trained(const NetworkOptions& options)
{
  Network network(options);
  const auto batch = random_batch(network);
  for (int step = 0; step < 5; ++step) sgd_step(network, batch);
  return copy_of(network.weights());
}

bool is_aligned(const float* data) { return reinterpret_cast<std::uintptr_t>(data) % 64 == 0; }

} // namespace

TEST_CASE("LeNet has 61,706 parameters in ten aligned, disjoint tensors")
{
  Network network(lenet(4));
  CHECK(network.parameter_count() == 61706);
  REQUIRE(network.parameters().size() == 10);
  CHECK(network.parameters()[0].name == "conv1.weight");
  CHECK(network.parameters()[9].name == "fc3.bias");
  CHECK(network.weights().size() == network.gradients().size());
  CHECK(is_aligned(network.gradients().data()));
  std::int64_t end = 0;
  for (const auto& parameter : network.parameters()) {
    CHECK(is_aligned(network.weights().data() + parameter.offset));
    CHECK(parameter.offset >= end);
    CHECK((parameter.kind == ParameterKind::bias) == parameter.name.ends_with(".bias"));
    end = parameter.offset + parameter.size;
  }
  CHECK(end <= static_cast<std::int64_t>(network.weights().size()));
}

TEST_CASE("plain weights come back as they were set")
{
  Network network(lenet(3));
  const auto values = to_float(numbers(network.parameter_count(), 30));
  network.set_plain_weights(values);
  CHECK(network.plain_weights() == values);
  CHECK_THROWS_WITH(network.set_plain_weights({values.data(), 5}), Catch::Contains("61706") && Catch::Contains("5 values"));
}

TEST_CASE("the initial weights depend on the seed only, not on batch or threads")
{
  const auto weights = Network(lenet(64, 7)).plain_weights();
  CHECK(Network(lenet(1, 7)).plain_weights() == weights);
  CHECK(Network(lenet(3, 7, 2)).plain_weights() == weights);
  CHECK(Network(lenet(64, 8)).plain_weights() != weights);
}

TEST_CASE("two threads train to equal bits twice, and near one thread's weights")
{
  const auto two = trained(lenet(16, 3, 2)), one = trained(lenet(16, 3));
  CHECK(two == trained(lenet(16, 3, 2)));
  for (std::size_t i = 0; i < one.size(); ++i) REQUIRE(two[i] == Approx(one[i]).margin(1e-5));
}

TEST_CASE("the gradient is a function of weights and batch, whatever was computed before")
{
  Network network(lenet(8));
  const auto first = random_batch(network, 40), second = random_batch(network, 41);
  network.forward_backward(first.images, first.labels);
  const auto gradients = copy_of(network.gradients());
  network.forward_backward(second.images, second.labels);
  CHECK(copy_of(network.gradients()) != gradients);
  network.forward_backward(first.images, first.labels);
  CHECK(copy_of(network.gradients()) == gradients);
}

TEST_CASE("LeNet learns 64 random samples by heart")
{
  Network network(lenet(64));
  const auto batch = random_batch(network);
  for (int step = 0; step < 200; ++step) sgd_step(network, batch);
  const auto evaluation = network.evaluate(batch.images, batch.labels);
  CHECK(evaluation.correct == 64);
  CHECK(evaluation.samples == 64);
  CHECK(evaluation.loss_sum / 64 < 0.05);
}

TEST_CASE("evaluation changes neither weights nor gradients, and counts what training computes")
{
  Network network(lenet(6));
  const auto batch = random_batch(network);
  const double loss = network.forward_backward(batch.images, batch.labels);
  const auto weights = copy_of(network.weights()), gradients = copy_of(network.gradients());
  CHECK(network.evaluate(batch.images, batch.labels).loss_sum / 6 == Approx(loss));
  CHECK(copy_of(network.weights()) == weights);
  CHECK(copy_of(network.gradients()) == gradients);
}

TEST_CASE("a network of another batch size evaluates with the trained one's weights, also after more training")
{
  Network network(lenet(6));
  const auto weights = copy_of(network.weights());
  Network wide(lenet(10), network);
  CHECK(wide.weights().data() == network.weights().data());
  CHECK(copy_of(network.weights()) == weights);
  const auto batch = random_batch(network);
  auto padded = batch;
  padded.images.resize(static_cast<std::size_t>(10 * network.options().image.size()));
  padded.labels.resize(10, -1);
  for (int round = 0; round < 2; ++round) {
    const auto expected = network.evaluate(batch.images, batch.labels), got = wide.evaluate(padded.images, padded.labels);
    CHECK(got.samples == 6);
    CHECK(got.correct == expected.correct);
    CHECK(got.loss_sum == Approx(expected.loss_sum).epsilon(1e-5));
    for (int step = 0; step < 10; ++step) sgd_step(network, batch);
  }
}

TEST_CASE("shared weights outlive the network they were trained in")
{
  auto network = std::make_unique<Network>(lenet(6));
  Network wide(lenet(10), *network);
  const auto batch = random_batch(wide);
  const auto before = wide.evaluate(batch.images, batch.labels);
  network.reset();
  CHECK(wide.evaluate(batch.images, batch.labels).loss_sum == before.loss_sum);
}

TEST_CASE("wrong sizes, labels and uses are refused")
{
  Network network(lenet(2));
  auto batch = random_batch(network);
  const auto refused = [](auto action) { return refusal(ErrorKind::internal, action); };
  const auto trained_with = [&](std::int32_t label) {
    batch.labels[1] = label;
    return refused([&] { network.forward_backward(batch.images, batch.labels); });
  };
  CHECK(refused([&] {
          network.evaluate(batch.images, {batch.labels.data(), 1});
        }) == "The network was built for batches of 2 images (1568 floats), but was given 1 labels and 1568 floats.");
  CHECK(trained_with(10) == "Sample 1 of the batch has label 10, but the network has classes 0 to 9.");
  CHECK_THAT(trained_with(-1), Catch::Contains("label -1"));
  Network wide(lenet(2), network);
  CHECK_THAT(refused([&] { wide.forward_backward(batch.images, batch.labels); }), Catch::Contains("can only evaluate"));
  CHECK_THAT(refused([&] {
               Network({.model = "lenet", .image = {3, 32, 32}}, network);
             }),
             Catch::Contains("no conv1.weight of this shape at place 0"));
  CHECK_THROWS_WITH(Network(lenet(0)), Catch::Contains("batch 0"));
}

TEST_CASE("networks of equal options say that their layouts are equal")
{
  const auto layout = Network(lenet(64)).layout();
  CHECK(layout == Network(lenet(64, 2)).layout());
  CHECK(layout.starts_with("conv1.weight: dims 6x1x5x5 strides "));
}

TEST_CASE("a step reports the time of its two halves")
{
  Network network(lenet(2));
  const auto batch = random_batch(network);
  ComputeTimes times;
  network.forward_backward(batch.images, batch.labels, &times);
  CHECK(times.forward_s > 0);
  CHECK(times.backward_s > 0);
}

TEST_CASE("whoever listens to a backward pass does not change it")
{
  Network network(lenet(8)), silent(lenet(8));
  const auto batch = random_batch(network);
  std::vector<std::size_t> told;
  network.forward_backward(batch.images, batch.labels, nullptr, [&](std::size_t parameter) { told.push_back(parameter); });
  silent.forward_backward(batch.images, batch.labels);
  CHECK(told == std::vector<std::size_t>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(network.plain_gradients() == silent.plain_gradients());
}

TEST_CASE("gradients are told before the layers below are computed")
{
  Network network(lenet(8));
  const auto batch = random_batch(network);
  network.forward_backward(batch.images, batch.labels);
  const auto gradients = network.gradients();
  std::fill(gradients.begin(), gradients.end(), 7.0F);
  network.forward_backward(batch.images, batch.labels, nullptr, [&](std::size_t parameter) {
    for (std::size_t below = 0; below < parameter / 2 * 2; ++below)
      REQUIRE(gradients[static_cast<std::size_t>(network.parameters()[below].offset)] == 7.0F);
  });
}

TEST_CASE("what the listener to gradients takes is not counted as backward time")
{
  Network network(lenet(8));
  const auto batch = random_batch(network);
  ComputeTimes times;
  const auto begin = std::chrono::steady_clock::now();
  network.forward_backward(batch.images, batch.labels, &times,
                           [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  CHECK(times.forward_s + times.backward_s <= all.count() - 10 * 0.02);
  CHECK(times.backward_s > 0);
}

TEST_CASE("numbers too small for a normal float are flushed to zero in the thread that computed")
{
  Network network(lenet(1));
  volatile float tiny = 1e-38F;
  CHECK(tiny * 0.01F == 0.0F);
}

TEST_CASE("a profile is of the forward pass up to the losses, then of the backward pass, and every other operation is a layer's")
{
  for (const std::string model : {"lenet", "googlenet-cifar"}) {
    INFO(model);
    NetworkOptions options{.model = model, .image = {3, 32, 32}, .batch = 2};
    if (model == "lenet") options.image = {1, 28, 28};
    Network network(options);
    const auto batch = random_batch(network);
    const auto operations = network.profile(batch.images, batch.labels);
    std::set<std::string> layers{"loss"};
    for (const auto& layer : model::build_model(model_options(options)).layers) layers.insert(layer.name);
    const auto begin = std::ranges::find(operations, true, &OperationTime::backward);
    REQUIRE(begin != operations.begin());
    CHECK(std::prev(begin)->layer == "loss");
    CHECK(std::all_of(begin, operations.end(),
                      [](const auto& operation) { return operation.backward && operation.layer != "loss"; }));
    for (const auto& operation : operations) CHECK(layers.contains(operation.layer));
  }
}

TEST_CASE("what is told of a model is what its network has: parameters, and FLOPs of a step")
{
  for (const auto* name : {"lenet", "resnet20"}) {
    const auto [image, classes] = model::natural_input(name);
    const Network network({.model = name, .image = image, .classes = classes, .batch = 2});
    const auto totals = model::build_model({.model = name, .image = image, .classes = classes}).totals();
    CHECK(network.parameter_count() == totals.parameters);
    CHECK(network.flops() == Approx(2 * totals.step_flops));
  }
}

TEST_CASE("weights have PyTorch's shapes, with dropout and without, in image lanes and outside")
{
  using Dims = std::vector<std::int64_t>;
  const auto check = [](NetworkOptions options, const std::map<std::string, Dims>& expected) {
    for (const bool dropout : {true, false})
      for (const bool lanes : {true, false}) {
        options.batch = 2, options.dropout = dropout, options.image_lanes = lanes;
        const Network network(options);
        std::map<std::string, Dims> found;
        for (const auto& parameter : network.parameters())
          if (expected.contains(parameter.name)) found[parameter.name] = parameter.dims;
        INFO(options.model << ", dropout " << dropout << ", lanes " << lanes);
        CHECK(found == expected);
      }
  };
  check({.model = "lenet"}, {{"conv1.weight", {6, 1, 5, 5}}, {"conv1.bias", {6}}, {"fc1.weight", {120, 400}}});
  check({.model = "resnet20", .image = {3, 32, 32}}, {{"fc.weight", {10, 64}}, {"conv1_norm.weight", {16}}});
  check({.model = "custom",
         .layers = {"dropout rate=0.3", "convolution channels=8 groups=4 kernel=3 name=c padding=1",
                    "inner_product outputs=classes name=f"},
         .image = {4, 6, 6}},
        {{"c.weight", {8, 1, 3, 3}}, {"f.weight", {10, 288}}});
  check({.model = "custom", .layers = {"dropout rate=0.3", "inner_product outputs=classes name=f"}}, {{"f.weight", {10, 784}}});
}
