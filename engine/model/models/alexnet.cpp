// AlexNet [Krizhevsky2012].
//
//   conv1  96 maps of 11x11, stride 4   227x227 -> 55x55   (the paper writes 224, but its 55x55 need 227)
//          [response normalisation], max pooling 3x3, stride 2 -> 27x27
//   conv2  256 maps of 5x5, padding 2   [two groups]
//          [response normalisation], max pooling 3x3, stride 2 -> 13x13
//   conv3  384 maps of 3x3, padding 1
//   conv4  384 maps of 3x3, padding 1   [two groups]
//   conv5  256 maps of 3x3, padding 1   [two groups]
//          max pooling 3x3, stride 2 -> 6x6
//   fc6, fc7  4096 units, each after dropout of 0.5
//   fc8       one unit per class
//
// `alexnet` leaves out the parts in brackets, as is usual since the network fits on one device (one tower).
#include "engine/model/models/blocks.hpp"
#include "engine/model/models/registry.hpp"

namespace dt::model {
namespace {

constexpr PoolingSpec overlapping{.kernel = 3, .stride = 2};

Tensor classifier(ModelBuilder& model, Tensor x, std::int64_t units)
{
  x = model.relu(model.inner_product("fc6", model.dropout(x, 0.5), units));
  x = model.relu(model.inner_product("fc7", model.dropout(x, 0.5), units));
  return model.inner_product("fc8", x, model.classes());
}

} // namespace

Tensor alexnet(ModelBuilder& model)
{
  auto x = convolution_relu(model, "conv1", model.input(), {.channels = 96, .kernel = 11, .stride = 4});
  x = model.max_pooling(x, overlapping);
  x = convolution_relu(model, "conv2", x, {.channels = 256, .kernel = 5, .padding = 2});
  x = model.max_pooling(x, overlapping);
  x = convolution_relu(model, "conv3", x, {.channels = 384, .kernel = 3, .padding = 1});
  x = convolution_relu(model, "conv4", x, {.channels = 384, .kernel = 3, .padding = 1});
  x = convolution_relu(model, "conv5", x, {.channels = 256, .kernel = 3, .padding = 1});
  return classifier(model, model.max_pooling(x, overlapping), 4096);
}

Tensor alexnet_2012(ModelBuilder& model)
{
  // The paper's alpha of 1e-4 weighs the sum of squares itself, ours their mean over the 5 channels.
  constexpr LrnSpec normalisation{.size = 5, .alpha = 5e-4, .beta = 0.75, .k = 2};
  auto x = convolution_relu(model, "conv1", model.input(), {.channels = 96, .kernel = 11, .stride = 4});
  x = model.max_pooling(model.lrn(x, normalisation), overlapping);
  x = convolution_relu(model, "conv2", x, {.channels = 256, .kernel = 5, .padding = 2, .groups = 2});
  x = model.max_pooling(model.lrn(x, normalisation), overlapping);
  x = convolution_relu(model, "conv3", x, {.channels = 384, .kernel = 3, .padding = 1});
  x = convolution_relu(model, "conv4", x, {.channels = 384, .kernel = 3, .padding = 1, .groups = 2});
  x = convolution_relu(model, "conv5", x, {.channels = 256, .kernel = 3, .padding = 1, .groups = 2});
  return classifier(model, model.max_pooling(x, overlapping), 4096);
}

// For 32x32: five convolutions with half the maps each. The first one is 5x5 without stride, so that the poolings have inputs of
// 32x32, 15x15 and 7x7 and output 3x3 at the end. A quarter of the units.
Tensor alexnet_cifar(ModelBuilder& model)
{
  auto x = convolution_relu(model, "conv1", model.input(), {.channels = 48, .kernel = 5, .padding = 2});
  x = model.max_pooling(x, overlapping);
  x = convolution_relu(model, "conv2", x, {.channels = 128, .kernel = 5, .padding = 2});
  x = model.max_pooling(x, overlapping);
  x = convolution_relu(model, "conv3", x, {.channels = 192, .kernel = 3, .padding = 1});
  x = convolution_relu(model, "conv4", x, {.channels = 192, .kernel = 3, .padding = 1});
  x = convolution_relu(model, "conv5", x, {.channels = 128, .kernel = 3, .padding = 1});
  return classifier(model, model.max_pooling(x, overlapping), 1024);
}

} // namespace dt::model
