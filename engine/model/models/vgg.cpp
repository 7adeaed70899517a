// VGG [SimonyanZisserman2015, table 1]:
//
//   maps of 3x3, padding 1   64   128   256   512   512     max pooling 2x2 after each stage
//   A, 11 layers              1     1     2     2     2
//   D, 16 layers              2     2     3     3     3
//   E, 19 layers              2     2     4     4     4
//   then twice 4096 units, each followed by dropout of 0.5, and one unit per class
//
// For 32x32 the five poolings leave 1x1x512, and one inner product computes the classes from it. Batch norm follows each
// convolution there, as in [LiuDeng2015], because the paper could train D and E only from A's weights.
#include "engine/model/models/blocks.hpp"
#include "engine/model/models/registry.hpp"

#include <array>

namespace dt::model {
namespace {

using Convolutions = std::array<int, 5>; // per stage
constexpr Convolutions a{1, 1, 2, 2, 2}, d{2, 2, 3, 3, 3}, e{2, 2, 4, 4, 4};

using ConvolutionBlock = Tensor(ModelBuilder&, const std::string& name, Tensor, const ConvolutionSpec&);

Tensor stages(ModelBuilder& model, const Convolutions& convolutions, ConvolutionBlock* block)
{
  constexpr std::array<std::int64_t, 5> maps{64, 128, 256, 512, 512};
  auto x = model.input();
  for (std::size_t stage = 0; stage < maps.size(); ++stage) {
    for (int i = 1; i <= convolutions[stage]; ++i) {
      const auto name = "conv" + std::to_string(stage + 1) + "_" + std::to_string(i);
      x = block(model, name, x, {.channels = maps[stage], .kernel = 3, .padding = 1});
    }
    x = model.max_pooling(x, {.kernel = 2, .stride = 2});
  }
  return x;
}

Tensor vgg(ModelBuilder& model, const Convolutions& convolutions)
{
  auto x = stages(model, convolutions, convolution_relu);
  x = model.dropout(model.relu(model.inner_product("fc6", x, 4096)), 0.5);
  x = model.dropout(model.relu(model.inner_product("fc7", x, 4096)), 0.5);
  return model.inner_product("fc8", x, model.classes());
}

Tensor vgg_cifar(ModelBuilder& model, const Convolutions& convolutions)
{
  return model.inner_product("fc", stages(model, convolutions, convolution_norm_relu), model.classes());
}

} // namespace

Tensor vgg11(ModelBuilder& model) { return vgg(model, a); }
Tensor vgg16(ModelBuilder& model) { return vgg(model, d); }
Tensor vgg19(ModelBuilder& model) { return vgg(model, e); }
Tensor vgg11_cifar(ModelBuilder& model) { return vgg_cifar(model, a); }
Tensor vgg16_cifar(ModelBuilder& model) { return vgg_cifar(model, d); }
Tensor vgg19_cifar(ModelBuilder& model) { return vgg_cifar(model, e); }

} // namespace dt::model
