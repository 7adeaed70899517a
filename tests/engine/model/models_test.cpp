// The models against their papers: parameters, shapes, FLOPs.
#include "core/spec/input_shape.hpp"
#include "engine/model/models/registry.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::model;

namespace {

Model described(const std::string& name)
{
  const auto [image, classes] = natural_input(name);
  return build_model({.model = name, .image = image, .classes = classes});
}

std::int64_t parameters_of(const std::string& name) { return described(name).totals().parameters; }

Layer layer_called(const Model& model, const std::string& name)
{
  const auto found = std::ranges::find(model.layers, name, &Layer::name);
  REQUIRE(found != model.layers.end());
  return *found;
}

Shape output_of(const Model& model, const std::string& name) { return layer_called(model, name).output.shape; }
Shape input_of(const Model& model, const std::string& name) { return layer_called(model, name).inputs.at(0).shape; }

// Weights and biases.
std::int64_t convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel)
{
  return inputs * outputs * kernel * kernel + outputs;
}

// Weights, and batch norm's scales and shifts.
std::int64_t normed(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel)
{
  return inputs * outputs * kernel * kernel + 2 * outputs;
}

} // namespace

TEST_CASE("every model has the parameters and the natural images that dtctl lists")
{
  for (const auto& facts : model_facts()) {
    INFO(facts.name);
    const std::string name(facts.name);
    CHECK(parameters_of(name) == facts.parameters);
    const auto [image, classes] = natural_input(name);
    CHECK(InputShape{image.channels, image.height, image.width, classes} == facts.natural);
  }
}

TEST_CASE("models have their published numbers of parameters")
{
  for (const auto& [name, parameters] : {std::pair{"alexnet", 62'378'344},
                                         {"alexnet-2012", 60'965'224},
                                         {"vgg11", 132'863'336},
                                         {"vgg16", 138'357'544},
                                         {"vgg19", 143'667'240},
                                         {"resnet18", 11'689'512},
                                         {"resnet34", 21'797'672},
                                         {"resnet50", 25'557'032},
                                         {"resnet101", 44'549'160}}) {
    INFO(name);
    CHECK(parameters_of(name) == parameters);
  }
}

TEST_CASE("ResNet-20's parameters, counted by hand: three stages of three blocks, two projections")
{
  const auto first = normed(3, 16, 3);
  const auto stage1 = 6 * normed(16, 16, 3);
  const auto stage2 = normed(16, 32, 3) + 5 * normed(32, 32, 3) + normed(16, 32, 1);
  const auto stage3 = normed(32, 64, 3) + 5 * normed(64, 64, 3) + normed(32, 64, 1);
  CHECK(parameters_of("resnet20") == first + stage1 + stage2 + stage3 + 64 * 10 + 10);
}

TEST_CASE("GoogLeNet's parameters, counted from its paper's table")
{
  struct Row {
    std::int64_t inputs, one, reduce3, three, reduce5, five, pooled;
  };
  const auto row = [](const Row& r) {
    return convolution(r.inputs, r.one, 1) + convolution(r.inputs, r.reduce3, 1) + convolution(r.reduce3, r.three, 3) +
           convolution(r.inputs, r.reduce5, 1) + convolution(r.reduce5, r.five, 5) + convolution(r.inputs, r.pooled, 1);
  };
  const auto stem = convolution(3, 64, 7) + convolution(64, 64, 1) + convolution(64, 192, 3);
  const auto stage3 = row({192, 64, 96, 128, 16, 32, 32}) + row({256, 128, 128, 192, 32, 96, 64});
  const auto stage4 = row({480, 192, 96, 208, 16, 48, 64}) + row({512, 160, 112, 224, 24, 64, 64}) +
                      row({512, 128, 128, 256, 24, 64, 64}) + row({512, 112, 144, 288, 32, 64, 64}) +
                      row({528, 256, 160, 320, 32, 128, 128});
  const auto stage5 = row({832, 256, 160, 320, 32, 128, 128}) + row({832, 384, 192, 384, 48, 128, 128});
  const auto head = [](std::int64_t inputs) {
    return convolution(inputs, 128, 1) + convolution(128 * 4 * 4, 1024, 1) + convolution(1024, 1000, 1);
  };
  const auto heads = head(512) + head(528);
  CHECK(parameters_of("googlenet") == stem + stage3 + stage4 + stage5 + 1024 * 1000 + 1000 + heads);
}

TEST_CASE("AlexNet's images shrink as in its paper")
{
  for (const auto* name : {"alexnet", "alexnet-2012"}) {
    const auto model = described(name);
    CHECK(output_of(model, "conv1") == Shape{96, 55, 55});
    CHECK(output_of(model, "conv2") == Shape{256, 27, 27});
    CHECK(output_of(model, "conv3") == Shape{384, 13, 13});
    CHECK(input_of(model, "fc6") == Shape{256, 6, 6});
  }
}

TEST_CASE("VGG's stages end at 7x7, and at 1x1 for small images")
{
  CHECK(output_of(described("vgg16"), "conv5_3") == Shape{512, 14, 14});
  CHECK(input_of(described("vgg16"), "fc6") == Shape{512, 7, 7});
  for (const auto* name : {"vgg11-cifar", "vgg16-cifar", "vgg19-cifar"})
    CHECK(input_of(described(name), "fc") == Shape{512, 1, 1});
}

TEST_CASE("ResNet's stages have the paper's shapes, and its depth is the number of its layers with weights")
{
  const auto model = described("resnet50");
  CHECK(output_of(model, "conv1") == Shape{64, 112, 112});
  CHECK(output_of(model, "conv2_3_c") == Shape{256, 56, 56});
  CHECK(output_of(model, "conv3_1_a") == Shape{128, 56, 56});
  CHECK(output_of(model, "conv3_1_b") == Shape{128, 28, 28});
  CHECK(output_of(model, "conv5_3_c") == Shape{2048, 7, 7});
  for (const auto& [name, depth] :
       {std::pair{"resnet18", 18}, {"resnet34", 34}, {"resnet50", 50}, {"resnet101", 101}, {"resnet20", 20}, {"resnet56", 56}}) {
    const auto all = described(name).layers;
    CHECK(depth == std::count_if(all.begin(), all.end(), [](const auto& layer) {
            return layer.flops() > 0 && layer.parameters() > 0 && !layer.name.ends_with("_shortcut") &&
                   !layer.name.ends_with("_norm");
          }));
  }
}

TEST_CASE("GoogLeNet's inceptions have the paper's shapes")
{
  const auto model = described("googlenet");
  CHECK(output_of(model, "conv1") == Shape{64, 112, 112});
  CHECK(output_of(model, "conv2") == Shape{192, 56, 56});
  CHECK(input_of(model, "inception3a_1x1") == Shape{192, 28, 28});
  CHECK(input_of(model, "inception4a_1x1") == Shape{480, 14, 14});
  CHECK(input_of(model, "inception5b_1x1") == Shape{832, 7, 7});
  CHECK(input_of(model, "head1_conv") == Shape{512, 4, 4});
  CHECK(input_of(model, "fc") == Shape{1024, 1, 1});
  CHECK(input_of(described("googlenet-cifar"), "inception5b_1x1") == Shape{832, 8, 8});
}

TEST_CASE("a forward pass costs what is published, and a step three times that but for the first layer's input")
{
  const auto gigaflops = [](const char* name) { return described(name).totals().forward_flops / 1e9; };
  CHECK(gigaflops("alexnet") == Approx(2 * 1.135).epsilon(0.01));
  CHECK(gigaflops("vgg16") == Approx(2 * 15.47).epsilon(0.01));
  CHECK(gigaflops("resnet18") == Approx(2 * 1.814).epsilon(0.01));
  CHECK(gigaflops("resnet50") == Approx(2 * 4.09).epsilon(0.01));
  const auto model = described("lenet");
  const auto totals = model.totals();
  CHECK(totals.step_flops == 3 * totals.forward_flops - layer_called(model, "conv1").flops());
}
