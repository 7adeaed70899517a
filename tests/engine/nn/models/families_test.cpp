// What holds for a network of every family: equal bits, exactness of what may be chosen, reorders.
#include "engine/nn/kernels/processor.hpp"
#include "tests/engine/nn/models/memorizing.hpp"

#include <barrier>
#include <cmath>
#include <thread>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

const std::vector<std::string> families{"lenet", "alexnet-cifar", "vgg11-cifar", "resnet20", "googlenet-cifar"};

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

double norm(const std::vector<float>& values)
{
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

// |a - b| / |b|
double relative_distance(std::vector<float> a, const std::vector<float>& b)
{
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a) / norm(b);
}

// Weights after a few steps, dropout included, to the bit.
std::vector<float> trained(NetworkOptions options)
{
  options.dropout = true;
  options.dropout_seed = 3;
  Learner learner(options, 0.01F);
  const auto samples = random_samples(options, options.batch);
  for (int step = 0; step < 2; ++step) learner.step(samples);
  return copy_of(learner.network().weights());
}

struct Step {
  double loss;
  std::vector<float> gradients; // plain
};

Step first_step(const NetworkOptions& options, const Samples& samples)
{
  Network network(options);
  const double loss = network.forward_backward(samples.images, samples.labels);
  return {loss, network.plain_gradients()};
}

Samples part_of(const Samples& all, const NetworkOptions& options, std::size_t part)
{
  const auto samples = static_cast<std::size_t>(options.batch), images = samples * static_cast<std::size_t>(options.image.size());
  const auto image = all.images.begin() + static_cast<std::ptrdiff_t>(part * images);
  const auto label = all.labels.begin() + static_cast<std::ptrdiff_t>(part * samples);
  return {{image, image + static_cast<std::ptrdiff_t>(images)}, {label, label + static_cast<std::ptrdiff_t>(samples)}};
}

bool has_avx512()
{
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

// Mean over two threads that stand for two ranks.
class TwoRanks {
 public:
  MeanOverRanks mean(std::size_t rank)
  {
    return [this, rank](std::span<float> values) {
      values_[rank] = values;
      arrival_.arrive_and_wait();
      std::vector<float> mean;
      for (std::size_t i = 0; i < values.size(); ++i) mean.push_back((values_[0][i] + values_[1][i]) / 2);
      arrival_.arrive_and_wait();
      std::copy(mean.begin(), mean.end(), values.begin());
    };
  }

 private:
  std::span<float> values_[2];
  std::barrier<> arrival_{2};
};

} // namespace

TEST_CASE("every family trains to equal bits twice, with one thread and with two")
{
  for (const auto& model : families)
    for (const int threads : {1, 2}) {
      INFO(model << ", threads " << threads);
      CHECK(trained(natural(model, 2, threads)) == trained(natural(model, 2, threads)));
    }
}

TEST_CASE("every family's padding stays zero over steps")
{
  for (const auto& model : families) {
    Learner learner(natural(model, 2), 0.01F);
    auto& network = learner.network();
    std::vector<float> ones(static_cast<std::size_t>(network.plain_size()), 1.0F), in_use(network.weights().size());
    network.pack(ones, in_use);
    const auto samples = random_samples(network.options(), 2);
    for (int step = 0; step < 2; ++step) learner.step(samples);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < in_use.size(); ++i)
      if (in_use[i] == 0 && (network.weights()[i] != 0 || network.gradients()[i] != 0)) ++wrong;
    INFO(model);
    CHECK(wrong == 0);
  }
}

TEST_CASE("gradients are told in order, all of them, and as they stay")
{
  for (const auto& model : families) {
    Network network(natural(model, 2));
    const auto samples = random_samples(network.options(), 2);
    const auto buffer = network.gradients();
    std::fill(buffer.begin(), buffer.end(), 7.0F); // a gradient told too early would still be this
    std::vector<std::size_t> told;
    std::size_t changed = 0;
    std::vector<std::vector<float>> when_told(network.parameters().size());
    const auto gradient_of = [&](std::size_t i) {
      const auto& parameter = network.parameters()[i];
      return copy_of(buffer.subspan(static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.size)));
    };
    network.forward_backward(samples.images, samples.labels, nullptr, [&](std::size_t i) {
      told.push_back(i);
      when_told[i] = gradient_of(i);
    });
    for (std::size_t i = 0; i < when_told.size(); ++i) changed += when_told[i] != gradient_of(i) ? 1 : 0;
    INFO(model);
    CHECK(changed == 0);
    CHECK(told.size() == network.parameters().size());
    CHECK(std::is_sorted(told.rbegin(), told.rend()));
  }
}

TEST_CASE("the loss scale multiplies gradients and leaves the loss")
{
  for (const auto& model : families) {
    const auto options = natural(model, 4);
    const auto samples = random_samples(options, 4);
    const auto plain = first_step(options, samples);
    Network network(options);
    network.set_loss_scale(64);
    INFO(model);
    CHECK(network.forward_backward(samples.images, samples.labels) == plain.loss);
    auto scaled = network.plain_gradients();
    for (auto& value : scaled) value /= 64;
    CHECK(relative_distance(scaled, plain.gradients) < 1e-6); // powers of two change no bits but those of denormals
  }
}

TEST_CASE("bfloat16 gives nearly the loss and the gradients of fp32")
{
  if (!is_supported(Precision::bf16)) return;
  for (const auto& model : families) {
    auto options = natural(model, 16);
    const auto samples = random_samples(options, 16);
    const auto exact = first_step(options, samples);
    options.precision = Precision::bf16;
    const auto rounded = first_step(options, samples);
    INFO(model);
    CHECK(rounded.loss == Approx(exact.loss).epsilon(0.02));
    CHECK(relative_distance(rounded.gradients, exact.gradients) <
          0.25); // 2^-9 a number; some ReLUs and poolings decide otherwise
  }
}

TEST_CASE("batch norm synchronized over two ranks gives the gradients of both batches in one")
{
  auto options = natural("resnet20", 8);
  const auto samples = random_samples(options, 8);
  const auto together = first_step(options, samples);
  options.batch = 4;
  TwoRanks ranks;
  std::vector<Step> steps(2);
  const auto compute = [&](std::size_t rank) {
    auto own = options;
    own.synchronize = ranks.mean(rank);
    steps[rank] = first_step(own, part_of(samples, options, rank));
  };
  std::thread other(compute, 1);
  compute(0);
  other.join();
  CHECK((steps[0].loss + steps[1].loss) / 2 == Approx(together.loss).epsilon(1e-5));
  auto mean = steps[0].gradients;
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + steps[1].gradients[i]) / 2;
  CHECK(relative_distance(mean, together.gradients) < 1e-4);
}

TEST_CASE("dropout draws anew in each pass, as its number says, and not at all where it is off or in an evaluation")
{
  auto options = natural("alexnet-cifar", 4);
  const auto samples = random_samples(options, 4);
  const double without = first_step(options, samples).loss;
  options.dropout = true;
  Network network(options);
  const auto loss = [&] { return network.forward_backward(samples.images, samples.labels); };
  network.set_pass(5);
  const double fifth = loss(), sixth = loss();
  CHECK(fifth != sixth);
  CHECK(fifth != without);
  network.set_pass(6);
  CHECK(loss() == sixth);
  CHECK(Network(options, network).evaluate(samples.images, samples.labels).loss_sum / 4 == Approx(without).epsilon(1e-5));
  options.dropout_seed = 1;
  Network other(options);
  other.set_pass(5);
  CHECK(other.forward_backward(samples.images, samples.labels) != fifth);
}

TEST_CASE("the first layer that gives no number is named, and images without numbers are")
{
  Network network(natural("resnet20", 2));
  auto samples = random_samples(network.options(), 2);
  const auto first = [&] { return network.first_non_finite(samples.images, samples.labels); };
  CHECK(first().empty());
  for (const auto& parameter : network.parameters())
    if (parameter.name == "conv3_1_a.weight") network.weights()[static_cast<std::size_t>(parameter.offset)] = INFINITY;
  CHECK(first() == "conv3_1_a");
  samples.images[5] = NAN;
  CHECK(first() == "images");
}

TEST_CASE("batch norm's running statistics make an evaluation what training came to")
{
  Learner learner(natural("resnet20", 4), 0);
  const auto samples = random_samples(learner.network().options(), 4);
  const auto evaluated = [&] { return learner.evaluation().evaluate(samples.images, samples.labels).loss_sum / 4; };
  double loss = 0;
  for (int step = 0; step < 100; ++step)
    loss = learner.step(samples); // at rate 0 only the statistics move, to 0.9^100 of their end
  CHECK(evaluated() == Approx(loss).epsilon(1e-3));
}

TEST_CASE("LeNet, AlexNet and ResNet-50 reorder no more often in a step than known, where kernels are for AVX-512")
{
  struct Case {
    const char* model;
    std::int64_t batch;
    int most;
  };
  if (!has_avx512()) return;
  for (const auto& [model, batch, most] : {Case{"lenet", 64, 6}, Case{"alexnet", 2, 3}, Case{"resnet50", 2, 41}}) {
    INFO(model);
    CHECK(Network(natural(model, batch)).reorders() <= most);
  }
}

TEST_CASE("a profile names every operation once, with the flops of the step in all")
{
  for (const auto& model : families) {
    Network network(natural(model, 2));
    const auto samples = random_samples(network.options(), 2);
    double flops = 0;
    int reorders = 0;
    for (const auto& operation : network.profile(samples.images, samples.labels)) {
      CHECK(operation.seconds >= 0);
      flops += operation.flops;
      reorders += operation.reorder ? 1 : 0;
    }
    INFO(model);
    CHECK(flops == Approx(network.flops()));
    CHECK(reorders == network.reorders());
  }
}

TEST_CASE("where branches meet, no operation is oneDNN's reference code")
{
  if (best_instruction_set() == InstructionSet::plain) return;
  for (const auto& model : {"googlenet-cifar", "resnet20"}) {
    Network network(natural(model, 1));
    const auto samples = random_samples(network.options(), 1);
    for (const auto& operation : network.profile(samples.images, samples.labels)) {
      INFO(model << ", " << operation.layer << " " << operation.what);
      CHECK(operation.kernel.rfind("ref", 0) == std::string::npos);
    }
  }
}
