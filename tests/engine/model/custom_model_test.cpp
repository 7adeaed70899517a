#include "engine/model/models/custom_model.hpp"

#include "engine/model/models/registry.hpp"
#include "tests/engine/refusal.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::model;

namespace {

using Lines = std::vector<std::string>;

Model built(const Lines& lines) { return build_model({.model = "custom", .layers = lines, .image = {3, 32, 32}, .classes = 10}); }

std::string refusal_of(const Lines& lines)
{
  return dt::test::refusal(ErrorKind::recipe, [&] { built(lines); });
}

const Lines lenet_lines{
    "convolution channels=6 kernel=5 name=conv1",
    "relu",
    "max_pooling kernel=2 stride=2",
    "convolution channels=16 kernel=5 name=conv2",
    "relu",
    "max_pooling kernel=2 stride=2",
    "inner_product name=fc1 outputs=120",
    "relu",
    "inner_product name=fc2 outputs=84",
    "relu",
    "inner_product name=fc3 outputs=classes",
};

} // namespace

TEST_CASE("LeNet by lines is LeNet by name")
{
  const auto by_lines = built(lenet_lines).layers;
  const auto by_name = build_model({.model = "lenet", .image = {3, 32, 32}, .classes = 10}).layers;
  REQUIRE(by_lines.size() == by_name.size());
  for (std::size_t i = 0; i < by_lines.size(); ++i) {
    CHECK(by_lines[i].name == by_name[i].name);
    CHECK(by_lines[i].kind() == by_name[i].kind());
    CHECK(by_lines[i].output.shape == by_name[i].output.shape);
    CHECK(by_lines[i].parameters() == by_name[i].parameters());
  }
}

TEST_CASE("every kind of layer, branches and the images as an input")
{
  const auto model = built({
      "convolution bias=false channels=8 groups=1 kernel=3 name=a padding=1",
      "batch_norm",
      "relu name=r",
      "lrn size=3",
      "convolution channels=8 groups=4 input=r kernel=3 name=b padding=1",
      "add inputs=b,lrn4,r name=sum",
      "average_pooling input=images kernel=1 name=seen stride=1",
      "concat inputs=sum,seen",
      "max_pooling ceil=true kernel=3 stride=2",
      "dropout rate=0.1",
      "global_average_pooling",
      "inner_product outputs=classes",
  });
  CHECK(model.layers.back().output.shape == Shape{10, 1, 1});
  CHECK(model.layers.back().inputs.at(0).shape == Shape{11, 1, 1});
  CHECK(model.totals().parameters == 8 * 3 * 9 + 16 + 8 * 2 * 9 + 8 + 11 * 10 + 10);
}

TEST_CASE("a layer that cannot be is told with its place, name and attributes, and both shapes")
{
  const std::string one_a_class = ": the last layer must have one output a class, 10x1x1, but has ",
                    remedy = "; end in inner_product: {outputs: classes}.";
  for (const auto& [lines, why] : std::vector<std::pair<Lines, std::string>>{
           {{"max_pooling kernel=8 stride=8", "convolution channels=64 kernel=7 name=conv3"},
            ", layer 2 (conv3: convolution channels=64 kernel=7): windows of 7x7 with padding 0 do not fit its input of 3x4x4."},
           {{"convolution channels=8 groups=2 kernel=3"},
            ", layer 1 (convolution channels=8 groups=2 kernel=3): its 2 groups must divide both the 8 channels that it makes "
            "and "
            "those of its input of 3x32x32."},
           {{"convolution channels=8 kernel=1", "add inputs=images,convolution1"},
            ", layer 2 (add inputs=images,convolution1): its inputs must have one shape, but images is 3x32x32 and convolution1 "
            "is "
            "8x32x32."},
           {{"convolution channels=8 kernel=3", "concat inputs=images,convolution1"},
            ", layer 2 (concat inputs=images,convolution1): its inputs must have one height and width, but images is 3x32x32 and "
            "convolution1 is 8x30x30."},
           {{"convolution channels=8 kernel=1", "max_pooling kernel=2 padding=2 stride=2"},
            ", layer 2 (max_pooling kernel=2 padding=2 stride=2): windows of 2x2 would hold nothing but padding of 2."},
           {{"convolution channels=10 kernel=3", "relu"}, ", layer 2 (relu)" + one_a_class + "10x30x30" + remedy},
           {{"inner_product outputs=9"}, ", layer 1 (inner_product outputs=9)" + one_a_class + "9x1x1" + remedy},
           {{"relu", "rellu"}, ", layer 2: The layer `rellu` is of no known kind; did you mean `relu`?"},
           {{"relu input=x", "inner_product outputs=classes"},
            ", layer 1 (relu input=x): there is no layer `x` before it; allowed: images."},
           {{"relu name=x", "inner_product input=images outputs=classes"},
            ", layer 1 (x: relu): no later layer uses its output; name it as an input, or remove it."},
           {{"global_average_pooling"}, " has nothing to train: no convolution, batch_norm or inner_product."}})
    CHECK_THAT(refusal_of(lines), Catch::StartsWith("model.layers" + why));
  CHECK(refusal_of({}) == "Model custom needs model.layers: the layers of the network.");
}
