#include "engine/model/models/registry.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/input_shape.hpp"
#include "core/text.hpp"
#include "engine/model/models/custom_model.hpp"

#include <array>
#include <string_view>

namespace dt::model {
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

Tensor logits_of(const ModelOptions& options, ModelBuilder& builder)
{
  if (options.model == "custom") return custom(builder, options.layers);
  for (const auto& entry : registry)
    if (entry.name == options.model) return entry.describe(builder);
  throw Error(ErrorKind::recipe, unknown_name("model", options.model, registered_models()));
}

} // namespace

Model build_model(const ModelOptions& options)
{
  ModelBuilder builder({.model = options.model, .image = options.image, .classes = options.classes, .dropout = options.dropout});
  return builder.finish(logits_of(options, builder));
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

} // namespace dt::model
