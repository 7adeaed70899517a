// Residual networks [He2016, table 1]:
//
//   conv1    64 maps of 7x7, stride 2; max pooling 3x3, stride 2       224x224 -> 112x112 -> 56x56
//                         18      34      50      101 layers
//   conv2_x  56x56   64   2       3       3       3        blocks of two 3x3 (18, 34), or bottlenecks of
//   conv3_x  28x28  128   2       4       4       4        1x1, 3x3, 1x1 with four times the maps (50, 101)
//   conv4_x  14x14  256   2       6       6       23
//   conv5_x    7x7  512   2       3       3       3
//   mean over 7x7, one unit per class
//
// For 32x32 (section 4.2), 6n + 2 layers: 16 maps of 3x3, then three stages of n blocks with 16, 32 and 64 maps at 32x32, 16x16
// and 8x8, mean, one unit per class.
//
// Batch norm follows each convolution, before the ReLU; there are no biases. A shortcut that changes the shape is a 1x1
// convolution (the paper's option B; for 32x32 the paper uses option A, zeros for the missing maps, which saves 1 % of the
// parameters). A bottleneck's stride is on its 3x3 convolution, as in the usual implementations; the paper has it on the first
// 1x1.
#include "engine/model/models/blocks.hpp"
#include "engine/model/models/registry.hpp"

#include <array>
#include <span>

namespace dt::model {
namespace {

// Name of a block, its number of maps and its stride.
struct BlockSpec {
  std::string name;
  std::int64_t maps = 1, stride = 1;
};

Tensor shortcut(ModelBuilder& model, Tensor x, const Shape& target, const BlockSpec& block)
{
  if (x.shape == target) return x;
  return convolution_norm(model, block.name + "_shortcut", x, {.channels = target.channels, .kernel = 1, .stride = block.stride});
}

Tensor basic(ModelBuilder& model, Tensor x, const BlockSpec& block)
{
  const auto& [name, maps, stride] = block;
  auto y = convolution_norm_relu(model, name + "_a", x, {.channels = maps, .kernel = 3, .stride = stride, .padding = 1});
  y = convolution_norm(model, name + "_b", y, {.channels = maps, .kernel = 3, .padding = 1});
  return model.relu(model.add(y, shortcut(model, x, y.shape, block)));
}

Tensor bottleneck(ModelBuilder& model, Tensor x, const BlockSpec& block)
{
  const auto& [name, maps, stride] = block;
  auto y = convolution_norm_relu(model, name + "_a", x, {.channels = maps, .kernel = 1});
  y = convolution_norm_relu(model, name + "_b", y, {.channels = maps, .kernel = 3, .stride = stride, .padding = 1});
  y = convolution_norm(model, name + "_c", y, {.channels = 4 * maps, .kernel = 1});
  return model.relu(model.add(y, shortcut(model, x, y.shape, block)));
}

using Block = Tensor(ModelBuilder&, Tensor, const BlockSpec&);

// The stages from conv2_x on: each stage except the first halves the image and doubles the maps.
Tensor stages(ModelBuilder& model, Tensor x, Block* block, std::int64_t maps, std::span<const int> blocks)
{
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, maps *= 2) {
    for (int i = 1; i <= blocks[stage]; ++i) {
      const auto name = "conv" + std::to_string(stage + 2) + "_" + std::to_string(i);
      x = block(model, x, {name, maps, stage > 0 && i == 1 ? 2 : 1});
    }
  }
  return model.inner_product("fc", model.global_average_pooling(x), model.classes());
}

Tensor resnet(ModelBuilder& model, Block* block, const std::array<int, 4>& blocks)
{
  auto x = convolution_norm_relu(model, "conv1", model.input(), {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = model.max_pooling(x, {.kernel = 3, .stride = 2, .padding = 1});
  return stages(model, x, block, 64, blocks);
}

Tensor resnet_cifar(ModelBuilder& model, int n)
{
  const auto x = convolution_norm_relu(model, "conv1", model.input(), {.channels = 16, .kernel = 3, .padding = 1});
  return stages(model, x, basic, 16, std::array{n, n, n});
}

} // namespace

Tensor resnet18(ModelBuilder& model) { return resnet(model, basic, {2, 2, 2, 2}); }
Tensor resnet34(ModelBuilder& model) { return resnet(model, basic, {3, 4, 6, 3}); }
Tensor resnet50(ModelBuilder& model) { return resnet(model, bottleneck, {3, 4, 6, 3}); }
Tensor resnet101(ModelBuilder& model) { return resnet(model, bottleneck, {3, 4, 23, 3}); }
Tensor resnet20(ModelBuilder& model) { return resnet_cifar(model, 3); }
Tensor resnet56(ModelBuilder& model) { return resnet_cifar(model, 9); }

} // namespace dt::model
