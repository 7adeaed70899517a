#include "core/spec/layer_schema.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;

namespace {

std::vector<LayerLine> parsed(const std::vector<std::string>& lines)
{
  std::vector<LayerLine> layers;
  for (const auto& line : lines) layers.push_back(parse_layer(line));
  return layers;
}

std::vector<std::string> problems_of(const std::vector<std::string>& lines)
{
  std::vector<std::string> texts;
  for (const auto& [layer, message] : find_layer_problems(parsed(lines))) texts.push_back(std::to_string(layer) + ": " + message);
  return texts;
}

} // namespace

TEST_CASE("kinds and their attributes have different names and a line of help each")
{
  std::set<std::string_view> kinds;
  for (const auto& kind : layer_kinds()) {
    INFO(kind.name);
    CHECK(kinds.insert(kind.name).second);
    CHECK_FALSE(kind.help.empty());
    std::set<std::string_view> attributes;
    for (const auto& attribute : kind.attributes) {
      INFO(attribute.name);
      CHECK(attributes.insert(attribute.name).second);
      CHECK_FALSE(attribute.help.empty());
      CHECK_FALSE((attribute.required && !attribute.default_text.empty()));
    }
  }
}

TEST_CASE("defaults are written as values are, so that a default that is given is left out")
{
  for (const auto& kind : layer_kinds())
    for (const auto& attribute : kind.attributes) {
      INFO(kind.name << " " << attribute.name);
      if (!attribute.default_text.empty()) CHECK(check_value(attribute, attribute.default_text).text == attribute.default_text);
    }
  CHECK(to_text(parse_layer("lrn alpha=0.0001 k=2 beta=0.75 size=5")) == "lrn");
}

TEST_CASE("equal layers are equal lines, however they are written, and attributes that are left out have their default")
{
  CHECK(to_text(parse_layer("convolution padding=1 kernel=3 stride=1 channels=32 bias=true")) ==
        "convolution channels=32 kernel=3 padding=1");
  CHECK(to_text(parse_layer("  dropout   rate=0.50 ")) == "dropout");
  CHECK(to_text(parse_layer("inner_product outputs=classes name=last")) == "inner_product name=last outputs=classes");
  const auto layer = parse_layer("convolution channels=8 kernel=3");
  CHECK(layer.integer("stride") == 1);
  CHECK(layer.integer("groups") == 1);
  CHECK(layer.boolean("bias"));
  CHECK(parse_layer("lrn").real("alpha") == 1e-4);
}

TEST_CASE("a wrong line is refused with the nearest name, the type and the range")
{
  struct Row {
    const char *line, *refusal;
  };
  for (const auto& [line, refusal] : std::vector<Row>{
           {"rellu", " is of no known kind; did you mean `relu`? Allowed: convolution, batch_norm,"},
           {"relu slope=1", " has no attribute `slope`; allowed: name, input."},
           {"relu 3", " holds `3`, which is not of the form attribute=value."},
           {"dropout rate=1", " is wrong: `rate` is 1; allowed: 0 to 0.99."},
           {"dropout rate=nan", " is wrong: `rate` is nan; allowed: 0 to 0.99."},
           {"convolution channels=8", " needs `kernel`: pixels of a window's side."},
           {"convolution channels=8 kernel=3.5", " is wrong: `kernel` must be a whole number, 1 to 1024, not `3.5`."},
           {"relu name=a name=b", " gives `name` twice."},
           {"add inputs=a", " is wrong: `inputs` must be a list of 2 to 64 words of letters, digits, _, . and -, not `a`."},
           {"inner_product outputs=many",
            " is wrong: `outputs` must be a whole number, 1 to 1000000, or `classes`, not `many`."}})
    CHECK_THROWS_WITH(parse_layer(line), Catch::StartsWith("The layer `" + std::string(line) + "`" + refusal));
}

TEST_CASE("a layer takes the one before, or those that it names")
{
  const auto layers = parsed({"relu name=a", "relu", "relu input=a name=b", "add inputs=relu2,b,images"});
  CHECK(layer_names(layers) == std::vector<std::string>{"a", "relu2", "b", "add4"});
  CHECK(layer_inputs(layers) == LayerInputs{{-1}, {0}, {0}, {1, 2, -1}});
  CHECK(find_layer_problems(layers).empty());
}

TEST_CASE("names given twice, inputs that are not there and outputs that nobody takes are problems")
{
  using Texts = std::vector<std::string>;
  CHECK(problems_of({"relu name=a", "relu name=a"}) == Texts{"1: the name `a` is given twice"});
  CHECK(problems_of({"relu name=relu2", "relu"}) == Texts{"1: the name `relu2` is given twice"});
  CHECK(problems_of({"relu name=images"}) == Texts{"0: the name `images` is the images' own"});
  CHECK(problems_of({"relu name=conv1", "relu input=conv2"}) ==
        Texts{"1: there is no layer `conv2` before it; did you mean `conv1`? Allowed: conv1, images"});
  CHECK(problems_of({"relu input=b", "relu name=b"}) == Texts{"0: its input `b` comes only later"});
  CHECK(problems_of({"relu name=a", "relu input=images"}) ==
        Texts{"0: no later layer uses its output; name it as an input, or remove it"});
}
