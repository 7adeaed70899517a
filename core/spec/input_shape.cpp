#include "core/spec/input_shape.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

struct DataFacts {
  std::string_view name;
  InputShape shape;
};

constexpr InputShape grey_digits{1, 28, 28, 10}, tiny_photo{3, 32, 32, 10}, photo{3, 224, 224, 1000},
    alexnet_photo{3, 227, 227, 1000};

constexpr std::array data_facts{
    DataFacts{"digits", grey_digits}, DataFacts{"shapes", tiny_photo},         DataFacts{"mnist", grey_digits},
    DataFacts{"cifar10", tiny_photo}, DataFacts{"cifar100", {3, 32, 32, 100}},
};

constexpr std::array shapes_of_models{
    ModelFacts{"lenet", grey_digits, 61'706},
    ModelFacts{"alexnet", alexnet_photo, 62'378'344},
    ModelFacts{"alexnet-2012", alexnet_photo, 60'965'224},
    ModelFacts{"alexnet-cifar", tiny_photo, 3'172'554},
    ModelFacts{"vgg11", photo, 132'863'336},
    ModelFacts{"vgg16", photo, 138'357'544},
    ModelFacts{"vgg19", photo, 143'667'240},
    ModelFacts{"vgg11-cifar", tiny_photo, 9'228'362},
    ModelFacts{"vgg16-cifar", tiny_photo, 14'724'042},
    ModelFacts{"vgg19-cifar", tiny_photo, 20'035'018},
    ModelFacts{"resnet18", photo, 11'689'512},
    ModelFacts{"resnet34", photo, 21'797'672},
    ModelFacts{"resnet50", photo, 25'557'032},
    ModelFacts{"resnet101", photo, 44'549'160},
    ModelFacts{"resnet20", tiny_photo, 272'474},
    ModelFacts{"resnet56", tiny_photo, 855'770},
    ModelFacts{"googlenet", photo, 13'378'280},
    ModelFacts{"googlenet-cifar", tiny_photo, 5'871'914},
};

} // namespace

InputShape with_image_size(InputShape shape, const DataSpec& data)
{
  if (data.image_size > 0) shape.height = shape.width = data.image_size;
  return shape;
}

std::string image_text(const InputShape& shape)
{
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.width);
}

std::optional<InputShape> parse_image(std::string_view text)
{
  const auto parts = split(text, 'x');
  if (parts.size() != 3) return std::nullopt;
  InputShape shape;
  const std::array numbers{&shape.channels, &shape.height, &shape.width};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    *numbers[i] = number_of<std::int64_t>(parts[i]).value_or(0);
    if (*numbers[i] < 1) return std::nullopt;
  }
  return shape;
}

std::optional<InputShape> input_shape_of(const DataSpec& data)
{
  if (data.name == "synthetic") return InputShape{data.channels, data.height, data.width, data.classes};
  for (const auto& facts : data_facts)
    if (facts.name == data.name) return with_image_size(facts.shape, data);
  return std::nullopt;
}

std::span<const ModelFacts> model_facts() { return shapes_of_models; }

const ModelFacts* find_model_facts(std::string_view name)
{
  const auto found =
      std::find_if(shapes_of_models.begin(), shapes_of_models.end(), [&](const ModelFacts& facts) { return facts.name == name; });
  return found == shapes_of_models.end() ? nullptr : &*found;
}

} // namespace dt
