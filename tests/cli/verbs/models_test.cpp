// dtctl recipe models, and models that do not fit their images.
#include "tests/cli/driver.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;
using dt::test::Words;

namespace {

// A recipe of a network of its own, on images of 3x32x32.
std::string custom_recipe(const std::string& layers)
{
  return "version: 1\nname: own\ndata: {name: synthetic, channels: 3, height: 32, width: 32, train_samples: 256, test_samples: "
         "64}\n"
         "train: {global_batch: 32, epochs: 1, warmup_steps: 2}\nmodel:\n  layers:\n" +
         layers;
}

constexpr const char* good_layers =
    "  - convolution: {channels: 8, kernel: 3, padding: 1}\n  - relu\n  - global_average_pooling\n"
    "  - inner_product: {outputs: classes}\n";
constexpr const char* bad_layers =
    "  - max_pooling: {kernel: 8, stride: 8}\n  - convolution: {channels: 64, kernel: 7, name: conv3}\n"
    "  - inner_product: {outputs: classes}\n";

} // namespace

TEST_CASE("models are listed with images, classes and parameters, and layers of a recipe with their attributes")
{
  const auto layers = Dtctl().json({"recipe", "models", "--layers"}).at("layers");
  CHECK(layers.at(0).at("layer") == "convolution");
  CHECK(layers.at(1).at("attribute") == "channels");
  CHECK(layers.at(1).at("default") == "required");
  const auto models = Dtctl().json({"recipe", "models"}).at("models");
  const auto resnet =
      *std::find_if(models.begin(), models.end(), [](const auto& model) { return model.at("name") == "resnet50"; });
  CHECK(resnet.at("image") == "3x224x224");
  CHECK(resnet.at("classes") == 1000);
  CHECK(resnet.at("parameters") == 25'557'032);
  CHECK(models.back().at("name") == "custom");
  CHECK(models.back().at("parameters").is_null());
}

TEST_CASE("a model is shown layer by layer, for its own images or others")
{
  const Dtctl dtctl;
  const auto lenet = dtctl.json({"recipe", "models", "lenet"});
  CHECK(lenet.at("parameters") == 61'706);
  CHECK(lenet.at("weight_bytes") == 4 * 61'706);
  CHECK(lenet.at("image") == "1x28x28");
  const auto& conv2 = lenet.at("layers").at(3);
  CHECK(conv2.at("name") == "conv2");
  CHECK(conv2.at("kind") == "convolution");
  CHECK(conv2.at("inputs").at(0) == "6x14x14");
  CHECK(conv2.at("output") == "16x10x10");
  CHECK(conv2.at("parameters") == 6 * 16 * 25 + 16);
  CHECK(conv2.at("flops") == 2 * 6 * 16 * 25 * 100);
  const auto is = [](const Json& found, const char* expected) { CHECK(found == Json::parse(expected)); };
  is(conv2.at("from"), R"(["pool3"])");
  is(conv2.at("attributes"), R"({"channels": 16, "kernel": 5, "stride": 1, "padding": 0, "groups": 1, "bias": true})");
  is(lenet.at("layers").at(0).at("from"), R"(["images"])");
  is(lenet.at("layers").at(2).at("attributes"), R"({"kernel": 2, "stride": 2, "padding": 0, "ceil": false})");
  is(lenet.at("logits"), R"("fc3")");
  is(lenet.at("auxiliary"), "[]");
  const auto googlenet = dtctl.json({"recipe", "models", "googlenet"});
  is(googlenet.at("auxiliary"), R"([{"logits": "head1_fc2", "weight": 0.3}, {"logits": "head2_fc2", "weight": 0.3}])");
  is(googlenet.at("layers").at(3).at("attributes"), R"({"size": 5, "alpha": 1e-4, "beta": 0.75, "k": 1.0})");
  is(dtctl.json({"recipe", "models", "resnet20"}).at("layers").at(1).at("attributes"),
     R"({"eps": 1e-5, "biased_variance": true, "momentum": 0.1})");
  const auto wider = dtctl.json({"recipe", "models", "lenet", "--image", "3x32x32", "--classes", "100", "--batch", "8"});
  CHECK(wider.at("layers").back().at("output") == "100x1x1");
  CHECK(wider.at("activation_bytes") > 8 * 3 * 32 * 32 * 4);
  CHECK(dtctl.run({"recipe", "models", "resnet20"}).out.find("conv2_1_a") != std::string::npos);
}

TEST_CASE("a model, a number of classes or an image that cannot be is refused with exit code 2")
{
  const Dtctl dtctl;
  const auto refusal = [&](const Words& words) {
    const auto refused = dtctl.run(dt::test::with({"recipe", "models"}, words));
    CHECK(refused.exit_code == 2);
    return refused.err;
  };
  CHECK_THAT(refusal({"resnet05"}), Contains("there is no model `resnet05`; did you mean `resnet50`?"));
  CHECK_THAT(refusal({"lenet", "--image", "32x32"}), Contains("--image takes channels x height x width"));
  CHECK_THAT(refusal({"vgg11", "--image", "3x16x16"}), Contains("Images of 3x16x16 are too small for model vgg11"));
  CHECK_THAT(refusal({"lenet", "--classes", "1"}), Contains("at least 1x1x1 and 2 classes"));
}

TEST_CASE("without the engine nobody says whether a model fits, and one that cannot run where dtctl does leaves it to the job")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  CHECK(dtctl.run({"validate", "tiny.yaml"}, {"DTCTL_ENGINE=/nowhere/dtengine"}).exit_code == 74);
  const auto result = dtctl.run({"validate", "tiny.yaml"}, {"DTCTL_ENGINE=/bin/false"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("warning: data sets and models were not checked, because dtengine cannot run here"));
}

TEST_CASE(
    "shapes that do not fit are refused before anything is written, by every verb that reads a recipe, and those that fit not")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml", custom_recipe(bad_layers));
  for (const auto* verb : {"validate", "sweep"}) {
    const auto result = dtctl.run({verb, "own.yaml"});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::StartsWith("own.yaml:8:5: model.layers, layer 2 (conv3: "));
  }
  CHECK_FALSE(std::filesystem::exists(dtctl.home()));
  dtctl.write("own.yaml", custom_recipe(good_layers));
  CHECK(dtctl.run({"validate", "own.yaml"}).exit_code == 0);
}

TEST_CASE("a model whose images are too small is refused once for each shape, however many runs there are")
{
  const Dtctl dtctl;
  dtctl.write("vgg.yaml",
              "version: 1\nname: vgg\nmodel: {name: vgg11-cifar}\ndata: {name: digits}\ntrain: {global_batch: 32, epochs: "
              "1}\nsweep: {matrix: {optimizer.learning_rate: [0.1, 0.2, 0.3], data.name: [digits, mnist]}}\n");
  const auto result = dtctl.run({"validate", "vgg.yaml"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.starts_with("vgg.yaml:3:15: "));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

TEST_CASE("an exchange that was to overlap and cannot is warned of, with its place, and the recipe is valid all the same")
{
  const Dtctl dtctl;
  dtctl.write("none.yaml", tiny_recipe("resources: {ranks_per_node: 2}\noptimizer: {name: sgd}\n"
                                       "sync: {strategy: sync-easgd, progress: none}\n"));
  for (const auto& words : {std::vector<std::string>{"validate", "none.yaml"}, {"sweep", "none.yaml", "--dry-run"}}) {
    const auto result = dtctl.run(words);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.err, Contains("dtctl: warning: none.yaml:8:40: "));
  }
}
