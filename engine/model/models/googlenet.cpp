// GoogLeNet [Szegedy2015, table 1]:
//
//   convolution  64 of 7x7, stride 2        224x224 -> 112x112
//   max pooling  3x3, stride 2; LRN         -> 56x56
//   convolution  64 of 1x1, 192 of 3x3; LRN
//   max pooling  3x3, stride 2              -> 28x28
//   inception    3a, 3b                     the table below
//   max pooling  3x3, stride 2              -> 14x14
//   inception    4a to 4e
//   max pooling  3x3, stride 2              -> 7x7
//   inception    5a, 5b
//   mean over 7x7, dropout of 0.4, one unit per class
//
// Poolings with a stride also take the incomplete last window at the border. In training two auxiliary classifiers, on 4a and 4d,
// add 0.3 of their loss (section 5).
//
// For 32x32: one 3x3 convolution with 192 maps replaces everything before 3a, so that the inceptions have images of 32x32, 16x16
// and 8x8. Batch norm follows each convolution [IoffeSzegedy2015]; the auxiliary classifiers are then not needed.
#include "engine/model/models/blocks.hpp"
#include "engine/model/models/registry.hpp"

#include <array>
#include <span>
#include <string_view>

namespace dt::model {
namespace {

constexpr PoolingSpec halving{.kernel = 3, .stride = 2, .ceil = true};

// Numbers of maps in one row of the paper's table.
struct Inception {
  std::string_view name;
  std::int64_t one, reduce3, three, reduce5, five, pooled;
};

constexpr std::array stage3{
    Inception{"3a", 64, 96, 128, 16, 32, 32},
    Inception{"3b", 128, 128, 192, 32, 96, 64},
};
constexpr Inception row4a{"4a", 192, 96, 208, 16, 48, 64};
constexpr std::array rows4b_to_4d{
    Inception{"4b", 160, 112, 224, 24, 64, 64},
    Inception{"4c", 128, 128, 256, 24, 64, 64},
    Inception{"4d", 112, 144, 288, 32, 64, 64},
};
constexpr Inception row4e{"4e", 256, 160, 320, 32, 128, 128};
constexpr std::array stage5{
    Inception{"5a", 256, 160, 320, 32, 128, 128},
    Inception{"5b", 384, 192, 384, 48, 128, 128},
};

using ConvolutionBlock = Tensor(ModelBuilder&, const std::string& name, Tensor, const ConvolutionSpec&);

// Describes inception blocks with one kind of convolution.
struct Describer {
  ModelBuilder& model;
  ConvolutionBlock* convolution;

  Tensor square(const std::string& name, Tensor x, std::int64_t maps, std::int64_t kernel) const
  {
    return convolution(model, name, x, {.channels = maps, .kernel = kernel, .padding = kernel / 2});
  }

  // Figure 2b: four parallel branches.
  Tensor inception(Tensor x, const Inception& row) const
  {
    const auto name = "inception" + std::string(row.name) + "_";
    const auto one = square(name + "1x1", x, row.one, 1);
    const auto three = square(name + "3x3", square(name + "3x3_reduce", x, row.reduce3, 1), row.three, 3);
    const auto five = square(name + "5x5", square(name + "5x5_reduce", x, row.reduce5, 1), row.five, 5);
    const auto pooled = model.max_pooling(x, {.kernel = 3, .stride = 1, .padding = 1});
    return model.concat({one, three, five, square(name + "pool", pooled, row.pooled, 1)});
  }

  Tensor inceptions(Tensor x, std::span<const Inception> rows) const
  {
    for (const auto& row : rows) x = inception(x, row);
    return x;
  }
};

Tensor stem(ModelBuilder& model)
{
  constexpr LrnSpec normalisation{.size = 5, .alpha = 1e-4, .beta = 0.75, .k = 1};
  auto x = convolution_relu(model, "conv1", model.input(), {.channels = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = model.lrn(model.max_pooling(x, halving), normalisation);
  x = convolution_relu(model, "conv2_reduce", x, {.channels = 64, .kernel = 1});
  x = convolution_relu(model, "conv2", x, {.channels = 192, .kernel = 3, .padding = 1});
  return model.max_pooling(model.lrn(x, normalisation), halving);
}

void auxiliary_classifier(ModelBuilder& model, const std::string& name, Tensor x)
{
  x = model.average_pooling(x, {.kernel = 5, .stride = 3});
  x = convolution_relu(model, name + "_conv", x, {.channels = 128, .kernel = 1});
  x = model.relu(model.inner_product(name + "_fc1", x, 1024));
  x = model.inner_product(name + "_fc2", model.dropout(x, 0.7), model.classes());
  model.auxiliary(x, 0.3);
}

Tensor classifier(ModelBuilder& model, Tensor x)
{
  return model.inner_product("fc", model.dropout(model.global_average_pooling(x), 0.4), model.classes());
}

} // namespace

Tensor googlenet(ModelBuilder& model)
{
  const Describer net{model, convolution_relu};
  auto x = model.max_pooling(net.inceptions(stem(model), stage3), halving);
  x = net.inception(x, row4a);
  auxiliary_classifier(model, "head1", x);
  x = net.inceptions(x, rows4b_to_4d);
  auxiliary_classifier(model, "head2", x);
  x = model.max_pooling(net.inception(x, row4e), halving);
  return classifier(model, net.inceptions(x, stage5));
}

Tensor googlenet_cifar(ModelBuilder& model)
{
  const Describer net{model, convolution_norm_relu};
  auto x = net.square("conv1", model.input(), 192, 3);
  x = model.max_pooling(net.inceptions(x, stage3), halving);
  x = net.inceptions(net.inception(x, row4a), rows4b_to_4d);
  x = model.max_pooling(net.inception(x, row4e), halving);
  return classifier(model, net.inceptions(x, stage5));
}

} // namespace dt::model
