// Networks for small images learn 64 samples without any meaning by heart; LeNet's test is network_test.cpp's.
#include "tests/engine/nn/models/memorizing.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

bool memorizes_64(const std::string& model, std::int64_t batch, float rate, int epochs)
{
  Learner learner(natural(model, batch), rate);
  return learner.memorizes(random_samples(learner.network().options(), 64), epochs);
}

} // namespace

TEST_CASE("AlexNet for CIFAR learns 64 samples by heart") { CHECK(memorizes_64("alexnet-cifar", 16, 0.003F, 60)); }
TEST_CASE("VGG-11 for CIFAR learns 64 samples by heart") { CHECK(memorizes_64("vgg11-cifar", 16, 0.01F, 30)); }
TEST_CASE("ResNet-20 learns 64 samples by heart") { CHECK(memorizes_64("resnet20", 32, 0.1F, 40)); }
