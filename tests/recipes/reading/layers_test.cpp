#include "recipes/reading/layers.hpp"

#include "core/spec/layer_schema.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "recipes/recipe.hpp"
#include "tests/recipes/json_check.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

// A recipe whose `model` block is this text, indented by two.
std::string recipe_of(const std::string& model)
{
  return "version: 1\ndata: { name: shapes }\ntrain: { global_batch: 64, epochs: 2 }\nmodel:\n" + model;
}

std::string with_layers(const std::string& layers) { return recipe_of("  layers:\n" + layers); }

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& layers) { return plan_of(with_layers(layers)).runs.at(0).model.layers; }

constexpr const char* small = "  - convolution: { padding: 1, kernel: 3, channels: 8, stride: 1 }\n"
                              "  - relu\n"
                              "  - {max_pooling: {kernel: 2, stride: 2}}\n"
                              "  - inner_product: {outputs: classes}\n";

} // namespace

TEST_CASE("each layer becomes one line: attributes in the order of their names, defaults left out, also from the command line")
{
  CHECK(lines_of(small) == Lines{"convolution channels=8 kernel=3 padding=1", "relu", "max_pooling kernel=2 stride=2",
                                 "inner_product outputs=classes"});
  CHECK(lines_of("  - relu: {name: \"1\"}\n  - relu:\n  - add: {inputs: [\"1\", relu2]}\n") ==
        Lines{"relu name=1", "relu", "add inputs=1,relu2"});
  const auto plan = plan_of("version: 1\ndata: { name: shapes }\ntrain: { global_batch: 64, epochs: 2 }\n",
                            with_set({"model.layers=[relu, {inner_product: {outputs: classes}}]"}));
  CHECK(plan.runs.at(0).model.layers == Lines{"relu", "inner_product outputs=classes"});
}

TEST_CASE("layers alone make the model custom, and equal networks have equal keys")
{
  const auto run = plan_of(with_layers(small)).runs.at(0);
  CHECK(run.model.name == "custom");
  auto otherwise =
      plan_of(recipe_of("  name: custom\n  layers:\n  - convolution: {channels: 8, kernel: 3, padding: 1, bias: true}\n"
                        "  - relu: {}\n  - max_pooling: {stride: 2, kernel: 2, ceil: false}\n"
                        "  - inner_product: {outputs: classes}\n"));
  CHECK(canonical_text(run) == canonical_text(otherwise.runs.at(0)));
}

TEST_CASE("a wrong layer, attribute or input is told with its place, the nearest name and what is allowed")
{
  check_refused(
      [](const std::string& layers) { return errors_of(with_layers(layers)); },
      {{"  - rellu\n", "r.yaml:6:5: there is no layer `rellu`; did you mean `relu`? Allowed: " + join(layer_kind_names(), ", ")},
       {"  - convolution: {chanels: 3, kernel: 3}\n",
        "r.yaml:6:5: `convolution` needs `channels`: maps that it makes\n"
        "r.yaml:6:19: `convolution` has no attribute `chanels`; did you mean `channels`? Allowed: channels, kernel,"},
       {"  - dropout: {rate: 2}\n", "r.yaml:6:21: `rate` of `dropout` is 2; allowed: 0 to 0.99"},
       {"  - dropout: {rate: \"0.5\"}\n", "r.yaml:6:21: `rate` of `dropout` must be a number, 0 to 0.99, not the text `0.5`"},
       {"  - dropout: {rate: [1]}\n", "r.yaml:6:21: `rate` of `dropout` must be a number, 0 to 0.99, not a list"},
       {"  - relu: {name: a b}\n", "r.yaml:6:18: `name` of `relu` must be a word of letters, digits, _, . and -, not `a b`"},
       {"  - convolution: 3\n", "r.yaml:6:18: the attributes of `convolution` must be a map, not `3`"},
       {"  - relu: {}\n    name: a\n", "r.yaml:7:5: a layer is one kind with its attributes under it, as `relu`,"},
       {"  - [relu]\n", "r.yaml:6:5: a layer must be a kind, with attributes or without, as `relu`,"},
       {"  - relu: {name: conv1}\n  - relu: {input: conv2}\n",
        "r.yaml:7:5: layer 2 of 2, `relu input=conv2`: there is no layer `conv2` before it; did you mean `conv1`?"},
       {std::string(small) + "sweep: {matrix: {model.layers: [[relu]]}}\n",
        "r.yaml:10:18: `model.layers` is a whole network and cannot vary in a sweep"}});
  CHECK(errors_of(recipe_of("  layers: relu\n")) == "r.yaml:5:11: `model.layers` must be a list of layers, not `relu`");
  CHECK(errors_of(recipe_of("  layers: []\n")) == "r.yaml:5:11: `model.layers` contains no layer");
  for (const auto* model : {"  name: lenet\n  layers: [relu]\n", "  name: custom\n"}) CHECK(places_of(recipe_of(model)) == "5:9");
}

TEST_CASE("the schema takes the layers that the reader takes")
{
  const auto schema = nlohmann::json::parse(json_schema());
  const auto accepts = [&](const std::string& layers) { return violations(schema, json_of_yaml(with_layers(layers))).empty(); };
  CHECK(accepts(small));
  CHECK(accepts("  - relu:\n  - add: {inputs: [a, b]}\n"));
  CHECK_FALSE(accepts("  - rellu\n"));
  CHECK_FALSE(accepts("  - convolution\n"));
  CHECK_FALSE(accepts("  - convolution: {channels: 3}\n"));
  CHECK_FALSE(accepts("  - dropout: {rate: 2}\n"));
  CHECK_FALSE(accepts("  - {relu: {}, name: a}\n"));
  CHECK_FALSE(accepts("  - inner_product: {outputs: many}\n"));
}

TEST_CASE("the reference has a row for every layer and attribute")
{
  const auto text = reference_markdown();
  for (const auto& kind : layer_kinds()) {
    CHECK(text.find("| `" + std::string(kind.name) + "` | | | | " + std::string(kind.help) + " |\n") != std::string::npos);
    for (const auto& attribute : kind.attributes)
      CHECK(text.find("| | `" + std::string(attribute.name) + "` | " + allowed_text(attribute) + " | ") != std::string::npos);
  }
}
