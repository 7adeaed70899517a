// What a network does at the edges: too little memory, low precision, convolutions by Winograd's algorithm.
#include "engine/nn/graph/network.hpp"

#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/refusal.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
using dt::test::refusal;

namespace {

NetworkOptions small(const std::string& model, std::int64_t batch)
{
  return {.model = model, .image = {3, 32, 32}, .classes = 10, .batch = batch};
}

struct Batch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

Batch random_batch(const NetworkOptions& options)
{
  Batch batch{to_float(numbers(options.batch * options.image.size(), 5)), {}};
  for (std::int64_t i = 0; i < options.batch; ++i) batch.labels.push_back(static_cast<std::int32_t>(i * 7 % options.classes));
  return batch;
}

struct Result {
  double loss;
  std::vector<float> gradients;
};

Result pass(Network& network, const Batch& batch)
{
  const double loss = network.forward_backward(batch.images, batch.labels);
  return {loss, network.plain_gradients()};
}

Result pass(const NetworkOptions& options)
{
  Network network(options);
  return pass(network, random_batch(options));
}

// |a - b| / |b|
double distance(const std::vector<float>& a, const std::vector<float>& b)
{
  REQUIRE(a.size() == b.size());
  double difference = 0, length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    length += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / length);
}

} // namespace

TEST_CASE("a batch that memory does not hold is refused with the need, what there is and what fits")
{
  auto options = small("resnet20", 64);
  const auto need = Network(options).memory();
  const auto refused_with = [&](std::int64_t limit_bytes) {
    options.memory_limit_bytes = limit_bytes;
    return refusal(ErrorKind::recipe, [&] { Network network(options); });
  };
  CHECK_THAT(refused_with(need.parameters + need.activations / 2),
             Catch::StartsWith("Model resnet20 with batches of 64 needs ") && Catch::Contains("at most about 32 samples"));
  CHECK_THAT(refused_with(1000), Catch::Contains("Not even one"));
  CHECK(refused_with(need.total()).empty());
}

TEST_CASE("a batch far beyond any memory is refused before oneDNN sees it")
{
  auto options = small("vgg16-cifar", 1'000'000'000);
  options.memory_limit_bytes = 1'000'000'000;
  CHECK_THAT(refusal(ErrorKind::recipe, [&] { Network network(options); }),
             Catch::StartsWith("Model vgg16-cifar with batches of 1000000000 needs "));
}

TEST_CASE("activations that are not needed together share their memory")
{
  for (const auto* model : {"resnet20", "vgg11-cifar", "googlenet-cifar"}) {
    const auto need = Network(small(model, 8)).memory();
    INFO(model << ": " << need.activations << " of " << need.unshared);
    CHECK(need.activations < need.unshared / 2);
  }
}

TEST_CASE("Winograd's convolutions give the direct ones' loss and gradients within their rounding")
{
  auto options = small("vgg11-cifar", 4);
  options.dropout = false;
  const auto fast = pass(options);
  options.winograd = false;
  const auto direct = pass(options);
  CHECK(fast.loss == Approx(direct.loss).epsilon(1e-5));
  CHECK(distance(fast.gradients, direct.gradients) < 1e-4);
}

TEST_CASE("a network of Winograd's convolutions evaluates with the weights it trained, at any batch")
{
  auto options = small("alexnet-cifar", 4);
  options.dropout = false;
  Network network(options);
  const auto batch = random_batch(options);
  const double loss = network.forward_backward(batch.images, batch.labels);
  for (const std::int64_t samples : {1, 3, 4}) {
    options.batch = samples;
    Network evaluating(options, network);
    const auto part = random_batch(options);
    const auto found = evaluating.evaluate(part.images, part.labels);
    CHECK(found.samples == samples);
    if (samples == 4) CHECK(found.loss_sum / 4 == Approx(loss).epsilon(1e-5));
  }
}

TEST_CASE("bfloat16 is refused where the processor does not have it")
{
  auto options = small("resnet20", 16);
  options.precision = Precision::bf16;
  const auto why = refusal(ErrorKind::recipe, [&] { Network network(options); });
  CHECK(why.empty() == is_supported(Precision::bf16));
  if (!why.empty()) CHECK_THAT(why, Catch::StartsWith("This processor has no instructions for bfloat16"));
}

TEST_CASE("the reference computes in fp32 only")
{
  auto options = small("resnet20", 2);
  options.reference = true;
  options.precision = Precision::bf16;
  if (is_supported(Precision::bf16))
    CHECK(refusal(ErrorKind::recipe, [&] { Network network(options); }) ==
          "engine: reference computes in fp32 only; leave train.precision at fp32.");
}
