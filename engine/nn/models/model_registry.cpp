#include "engine/nn/models/model_registry.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/input_shape.hpp"
#include "core/text.hpp"
#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/models/custom_model.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::nn {
namespace {

struct Entry {
  std::string_view name;
  Tensor (*describe)(ModelBuilder&);
};

constexpr std::array registry{
    Entry{"lenet", lenet},
    Entry{"alexnet", alexnet},
    Entry{"alexnet-2012", alexnet_2012},
    Entry{"alexnet-cifar", alexnet_cifar},
    Entry{"vgg11", vgg11},
    Entry{"vgg16", vgg16},
    Entry{"vgg19", vgg19},
    Entry{"vgg11-cifar", vgg11_cifar},
    Entry{"vgg16-cifar", vgg16_cifar},
    Entry{"vgg19-cifar", vgg19_cifar},
    Entry{"resnet18", resnet18},
    Entry{"resnet34", resnet34},
    Entry{"resnet50", resnet50},
    Entry{"resnet101", resnet101},
    Entry{"resnet20", resnet20},
    Entry{"resnet56", resnet56},
    Entry{"googlenet", googlenet},
    Entry{"googlenet-cifar", googlenet_cifar},
};

} // namespace

namespace {

Model described(const NetworkOptions& options, LayerKernels kernels)
{
  ModelBuilder builder({.model = options.model,
                        .image = options.image,
                        .classes = options.classes,
                        .dropout = options.dropout,
                        .kernels = kernels,
                        .winograd = options.winograd,
                        .precision = options.precision});
  if (options.model == "custom") return builder.finish(custom(builder, options.layers));
  for (const auto& entry : registry)
    if (entry.name == options.model) return builder.finish(entry.describe(builder));
  throw Error(ErrorKind::recipe, unknown_name("model", options.model, registered_models()));
}

std::optional<bool> decided_lanes(const NetworkOptions& options)
{
  if (options.image_lanes) return options.image_lanes;
  if (!options.algorithms.empty()) return uses_image_lanes(options.algorithms);
  return {};
}

} // namespace

bool has_small_layers(const Model& model, std::int64_t most_channels)
{
  constexpr std::int64_t most_floats = 1 << 14, most_parameters = 1 << 20;
  return std::all_of(model.layers.begin(), model.layers.end(), [&](const auto& layer) {
    const auto& shape = layer->output().shape;
    return layer->parameters() <= most_parameters && shape.size() <= most_floats &&
           (layer->kind() != "convolution" || shape.channels <= most_channels);
  });
}

// Measured for LeNet with full groups of images: 1.75 times as fast. With few images the lanes are mostly empty.
bool suits_image_lanes(const Model& model, std::int64_t batch)
{
  constexpr std::int64_t most_channels = 16;
  constexpr double least_share = 0.65; // of the lanes that hold an image
  const auto has = [&](const char* kind) {
    return std::any_of(model.layers.begin(), model.layers.end(), [&](const auto& layer) { return layer->kind() == kind; });
  };
  const auto lanes = lane_groups(batch) * image_lanes;
  return static_cast<double>(batch) >= least_share * static_cast<double>(lanes) && has("convolution") && !has("batch norm") &&
         has_small_layers(model, most_channels);
}

Model build_model(const NetworkOptions& options)
{
  if (options.reference) return described(options, LayerKernels::plain_loops);
  const auto lanes = options.precision == Precision::fp32 ? decided_lanes(options) : std::optional(false);
  if (lanes == true) return described(options, LayerKernels::batch_lanes);
  auto model = described(options, LayerKernels::library);
  return lanes || !suits_image_lanes(model, options.batch) ? std::move(model) : described(options, LayerKernels::batch_lanes);
}

NaturalInput natural_input(const std::string& model)
{
  const auto* facts = find_model_facts(model);
  const auto shape = facts ? facts->natural : InputShape{3, 32, 32, 10};
  return {{shape.channels, shape.height, shape.width}, shape.classes};
}

std::vector<std::string> registered_models()
{
  std::vector<std::string> names;
  for (const auto& entry : registry) names.emplace_back(entry.name);
  names.emplace_back("custom");
  return names;
}

} // namespace dt::nn
