// What a network does at the edges: too little memory, numbers that are none, low precision, several ranks.
#include "engine/nn/graph/network.hpp"

#include "core/error.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

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

template<class Call> std::string recipe_error(Call call)
{
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::recipe);
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("a batch that memory does not hold is refused with the need, what there is and what fits")
{
  auto options = small("resnet20", 64);
  const auto need = Network(options).memory();
  options.memory_limit_bytes = need.parameters + need.activations / 2;
  const auto words = recipe_error([&] { Network network(options); });
  CHECK(words.find("Model resnet20 with batches of 64 needs ") == 0);
  CHECK(words.find("A batch of at most about 32 samples a rank fits") != std::string::npos);
  options.memory_limit_bytes = 1000;
  CHECK(recipe_error([&] { Network network(options); }).find("Not even one sample fits") != std::string::npos);
  options.memory_limit_bytes = need.total();
  CHECK(recipe_error([&] { Network network(options); }) == "no error");
}

TEST_CASE("a batch far beyond any memory is refused before oneDNN sees it")
{
  auto options = small("vgg16-cifar", 1'000'000'000);
  options.memory_limit_bytes = 1'000'000'000;
  CHECK(recipe_error([&] { Network network(options); }).find("Model vgg16-cifar with batches of 1000000000 needs ") == 0);
}

TEST_CASE("activations that are not needed together share their memory")
{
  for (const auto* model : {"resnet20", "vgg11-cifar", "googlenet-cifar"}) {
    const auto need = Network(small(model, 8)).memory();
    INFO(model << ": " << need.activations << " of " << need.unshared);
    CHECK(need.activations < need.unshared / 2);
  }
}

TEST_CASE("the first layer whose output holds a number that is none is named")
{
  auto options = small("resnet20", 2);
  Network network(options);
  auto batch = random_batch(options);
  CHECK(network.first_non_finite(batch.images, batch.labels).empty());
  for (const auto& parameter : network.parameters())
    if (parameter.name == "conv3_1_a.weight")
      network.weights()[static_cast<std::size_t>(parameter.offset)] = std::numeric_limits<float>::infinity();
  CHECK(network.first_non_finite(batch.images, batch.labels) == "conv3_1_a");
  batch.images[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK(network.first_non_finite(batch.images, batch.labels) == "images");
}

TEST_CASE("gradients are of the scaled loss, and the loss is told without the factor")
{
  const auto options = small("resnet20", 4);
  Network network(options);
  const auto batch = random_batch(options);
  const auto plain = pass(network, batch);
  network.set_loss_scale(1024);
  auto scaled = pass(network, batch);
  CHECK(scaled.loss == plain.loss);
  for (auto& gradient : scaled.gradients) gradient /= 1024;
  CHECK(distance(scaled.gradients, plain.gradients) < 1e-6);
}

TEST_CASE("dropout draws anew in every pass, and the same in the same pass of the same rank")
{
  auto options = small("alexnet-cifar", 4);
  Network network(options);
  const auto batch = random_batch(options);
  network.set_pass(3);
  const auto third = pass(network, batch), fourth = pass(network, batch);
  network.set_pass(3);
  CHECK(pass(network, batch).gradients == third.gradients);
  CHECK(fourth.gradients != third.gradients);
  options.dropout_seed = 1;
  Network other(options);
  other.set_pass(3);
  CHECK(pass(other, batch).gradients != third.gradients);
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

TEST_CASE("plain loops give the fast convolutions' loss and gradients")
{
  auto options = small("resnet20", 2);
  const auto fast = pass(options);
  options.reference = true;
  const auto plain = pass(options);
  CHECK(fast.loss == Approx(plain.loss).epsilon(1e-5));
  CHECK(distance(fast.gradients, plain.gradients) < 1e-4);
}

TEST_CASE("bfloat16 gives about fp32's loss and gradients where the processor has it, and is refused where not")
{
  auto options = small("resnet20", 16);
  options.precision = Precision::bf16;
  if (!is_supported(Precision::bf16)) {
    CHECK(recipe_error([&] { Network network(options); }).find("This processor has no instructions for bfloat16") == 0);
    return;
  }
  const auto half = pass(options);
  options.precision = Precision::fp32;
  const auto single = pass(options);
  CHECK(half.loss == Approx(single.loss).epsilon(0.02)); // 8 bits of mantissa
  CHECK(distance(half.gradients, single.gradients) < 0.3);
}

TEST_CASE("the reference computes in fp32 only")
{
  auto options = small("resnet20", 2);
  options.reference = true;
  options.precision = Precision::bf16;
  if (is_supported(Precision::bf16))
    CHECK(recipe_error([&] { Network network(options); }) ==
          "engine: reference computes in fp32 only; leave train.precision at fp32.");
}

namespace {

// Ranks as threads, for what they sum on the way.
class Ranks {
 public:
  explicit Ranks(std::size_t count) : count_(count), barrier_(static_cast<std::ptrdiff_t>(count)) {}
  void mean(std::span<float> values)
  {
    {
      const std::lock_guard lock(mutex_);
      sums_.resize(values.size(), 0);
      for (std::size_t i = 0; i < values.size(); ++i) sums_[i] += static_cast<double>(values[i]);
    }
    barrier_.arrive_and_wait();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(sums_[i] / static_cast<double>(count_));
    barrier_.arrive_and_wait();
    {
      const std::lock_guard lock(mutex_);
      sums_.clear();
    }
    barrier_.arrive_and_wait();
  }

 private:
  std::size_t count_;
  std::barrier<> barrier_;
  std::mutex mutex_;
  std::vector<double> sums_;
};

// Each rank's share of the batch; the mean of their losses and gradients.
Result pass_over_ranks(const NetworkOptions& whole, std::size_t ranks)
{
  Ranks world(ranks);
  const auto batch = random_batch(whole);
  std::vector<Result> results(ranks);
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        auto options = whole;
        options.batch = whole.batch / static_cast<std::int64_t>(ranks);
        options.synchronize = [&](std::span<float> values) { world.mean(values); };
        Network network(options);
        const auto samples = static_cast<std::size_t>(options.batch), pixels = static_cast<std::size_t>(options.image.size());
        const std::span images(batch.images);
        const double loss = network.forward_backward(images.subspan(rank * samples * pixels, samples * pixels),
                                                     std::span(batch.labels).subspan(rank * samples, samples));
        results[rank] = {loss, network.plain_gradients()};
      });
  }
  Result mean{0, std::vector<float>(results[0].gradients.size(), 0)};
  for (const auto& result : results) {
    mean.loss += result.loss / static_cast<double>(ranks);
    for (std::size_t i = 0; i < mean.gradients.size(); ++i) mean.gradients[i] += result.gradients[i] / static_cast<float>(ranks);
  }
  return mean;
}

} // namespace

TEST_CASE("batch norm over two ranks' halves is that over the whole batch")
{
  const auto options = small("resnet20", 8);
  const auto whole = pass(options), halves = pass_over_ranks(options, 2);
  CHECK(halves.loss == Approx(whole.loss).epsilon(1e-5));
  CHECK(distance(halves.gradients, whole.gradients) < 1e-3);
}
