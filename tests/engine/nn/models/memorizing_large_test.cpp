// The deep models for small images and those for photographs learn 64 samples without any meaning by heart: minutes each, so
// these are run by hand.
#include "tests/engine/nn/models/memorizing.hpp"

#include <thread>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

int all_cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

void check_memorizes(Learner& learner, const Samples& samples, int epochs, double near_end)
{
  const bool memorized = learner.memorizes(samples, epochs, near_end);
  INFO(learner.story());
  CHECK(memorized);
}

void check_memorizes_64(const std::string& model, std::int64_t batch, float rate, int epochs,
                        float clip = std::numeric_limits<float>::infinity())
{
  Learner learner(natural(model, batch, all_cores()), rate);
  learner.clip(clip);
  check_memorizes(learner, random_samples(learner.network().options(), 64), epochs, 0.1);
}

// Images of 4x4 patches, each of one random colour: for networks without batch norm that noise is too much alike for. GoogLeNet's
// loss on it stays near ln 1000; VGG-19 was not done after 18 minutes.
Samples patches(const NetworkOptions& options, std::int64_t count)
{
  constexpr std::int64_t across = 4;
  auto samples = random_samples(options, count);
  const auto [channels, height, width] = options.image;
  const auto colours = to_float(numbers(count * channels * across * across, 21));
  auto* pixel = samples.images.data();
  for (std::int64_t plane = 0; plane < count * channels; ++plane)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        *pixel++ = colours[static_cast<std::size_t>((plane * across + y * across / height) * across + x * across / width)];
  return samples;
}

void check_memorizes_64_patched(const std::string& model, float rate, int epochs, float clip)
{
  constexpr double near_end = 2;
  Learner learner(natural(model, 16, all_cores()), rate);
  learner.clip(clip);
  check_memorizes(learner, patches(learner.network().options(), 64), epochs, near_end);
}

} // namespace

TEST_CASE("VGG-16 for CIFAR learns 64 samples by heart") { check_memorizes_64("vgg16-cifar", 16, 0.01F, 30); }
TEST_CASE("VGG-19 for CIFAR learns 64 samples by heart") { check_memorizes_64("vgg19-cifar", 16, 0.01F, 30); }
TEST_CASE("ResNet-56 learns 64 samples by heart") { check_memorizes_64("resnet56", 32, 0.05F, 60); }
TEST_CASE("GoogLeNet for CIFAR learns 64 samples by heart") { check_memorizes_64("googlenet-cifar", 16, 0.02F, 40); }
TEST_CASE("AlexNet learns 64 samples by heart") { check_memorizes_64("alexnet", 16, 0.002F, 60); }
TEST_CASE("AlexNet as published learns 64 samples by heart") { check_memorizes_64("alexnet-2012", 16, 0.002F, 60); }
TEST_CASE("VGG-11 learns 64 samples by heart") { check_memorizes_64("vgg11", 16, 0.03F, 50, 0.5F); }
TEST_CASE("VGG-16 learns 64 samples by heart") { check_memorizes_64("vgg16", 16, 0.03F, 50, 0.5F); }
TEST_CASE("VGG-19 learns 64 samples by heart") { check_memorizes_64_patched("vgg19", 0.03F, 30, 0.5F); }
TEST_CASE("ResNet-18 learns 64 samples by heart") { check_memorizes_64("resnet18", 16, 0.02F, 30); }
TEST_CASE("ResNet-34 learns 64 samples by heart") { check_memorizes_64("resnet34", 16, 0.02F, 30); }
TEST_CASE("ResNet-50 learns 64 samples by heart") { check_memorizes_64("resnet50", 16, 0.02F, 30); }
TEST_CASE("ResNet-101 learns 64 samples by heart") { check_memorizes_64("resnet101", 16, 0.02F, 30); }
TEST_CASE("GoogLeNet learns 64 samples by heart") { check_memorizes_64_patched("googlenet", 0.02F, 80, 2); }
