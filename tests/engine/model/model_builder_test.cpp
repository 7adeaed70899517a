#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "engine/model/models/registry.hpp"
#include "tests/engine/refusal.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::model;
using dt::test::refusal;

namespace {

ModelOptions lenet_for(const Shape& image) { return {.model = "lenet", .image = image}; }

std::vector<std::string> shapes_of(const Model& model)
{
  std::vector<std::string> shapes;
  for (const auto& layer : model.layers) shapes.push_back(to_text(layer.output.shape));
  return shapes;
}

} // namespace

TEST_CASE("the registry's models are exactly those of the vocabulary")
{
  CHECK(registered_models() == strings_of(model_names()));
}

TEST_CASE("LeNet has the paper's sizes, for MNIST by padding and for CIFAR without")
{
  const std::vector<std::string> sizes{"6x28x28", "6x28x28", "6x14x14", "16x10x10", "16x10x10", "16x5x5",
                                       "120x1x1", "120x1x1", "84x1x1",  "84x1x1",   "10x1x1"};
  CHECK(shapes_of(build_model(lenet_for({1, 28, 28}))) == sizes);
  CHECK(shapes_of(build_model(lenet_for({3, 32, 32}))) == sizes);
}

TEST_CASE("an image that a model cannot shrink is refused with both shapes")
{
  const auto refused = [](const Shape& image) { return refusal(ErrorKind::recipe, [&] { build_model(lenet_for(image)); }); };
  CHECK(refused({1, 4, 28}) == "Images of 1x4x28 are too small for model lenet: its layer conv2 has windows of 5x5 with "
                               "padding 0, but gets 6x2x14. Use larger images or a smaller model.");
  CHECK(refused({1, 0, 28}) ==
        "Model lenet cannot be built for images of 1x0x28 and 10 classes: it needs at least 1x1x1 and 2 classes.");
}

TEST_CASE("an unknown model is refused with the known ones")
{
  CHECK(refusal(ErrorKind::recipe, [] { build_model({.model = "lenett"}); }) ==
        "there is no model `lenett`; did you mean `lenet`? Allowed: " + join(registered_models(), ", "));
}

TEST_CASE("a layer that leads nowhere is refused")
{
  ModelBuilder builder({.model = "test", .image = {1, 28, 28}, .classes = 10});
  builder.relu(builder.input());
  const auto logits = builder.inner_product("fc", builder.input(), 10);
  CHECK(refusal(ErrorKind::recipe, [&] { builder.finish(logits); }) ==
        "Layer relu1 of model test leads nowhere: no layer uses its output of 1x28x28.");
}

TEST_CASE("logits must be one a class")
{
  ModelBuilder builder({.model = "test", .image = {1, 28, 28}, .classes = 10});
  const auto logits = builder.inner_product("fc", builder.input(), 9);
  CHECK(refusal(ErrorKind::recipe, [&] { builder.finish(logits); }) ==
        "Model test ends in 9x1x1, but there are 10 classes: its last layer must give 10x1x1.");
}
