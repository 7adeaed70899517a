#include "core/spec/input_shape.hpp"

#include "core/spec/names.hpp"

#include <catch2/catch.hpp>

using namespace dt;

namespace {

DataSpec data_called(std::string_view name)
{
  DataSpec data;
  data.name = name;
  return data;
}

} // namespace

TEST_CASE(
    "the image shape and classes of every data set are known, synthetic ones from the recipe, and a shape is three whole numbers")
{
  for (const auto& name : data_names()) {
    INFO(name.name);
    CHECK(input_shape_of(data_called(name.name)).has_value() == (name.name != "packed"));
  }
  CHECK(image_text(*input_shape_of(data_called("shapes"))) == "3x32x32");
  CHECK(input_shape_of(data_called("cifar100"))->classes == 100);
  CHECK_FALSE(input_shape_of(data_called("imagenet")));
  auto data = data_called("synthetic");
  data.channels = 3, data.height = 224, data.width = 200, data.classes = 7;
  CHECK(input_shape_of(data) == InputShape{3, 224, 200, 7});
  CHECK(image_text(*parse_image("3x227x224")) == "3x227x224");
  for (const auto* wrong : {"", "3", "3x32", "3x32x32x1", "0x32x32", "-3x32x32", "3x32x", "3 x32x32", "3X32X32", "3x32x32 "})
    CHECK_FALSE(parse_image(wrong));
}

TEST_CASE("facts are told of every model but custom, and of nothing else")
{
  std::vector<std::string> named = strings_of(model_names()), told{};
  std::erase(named, "custom");
  for (const auto& facts : model_facts()) told.emplace_back(facts.name);
  CHECK(told == named);
  CHECK(find_model_facts("custom") == nullptr);
  CHECK(find_model_facts("resnet50")->parameters == 25'557'032);
}
