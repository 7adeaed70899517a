// dtctl recipe models, and models that do not fit their images.
#include "tests/cli/driver.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;
using dt::test::Words;

namespace {

// A recipe of a network of its own, on images of 3x32x32.
std::string custom_recipe(const std::string& layers, const std::string& more = "")
{
  return "version: 1\nname: own\ndata: {name: synthetic, channels: 3, height: 32, width: 32, train_samples: 256, test_samples: "
         "64}\n"
         "train: {global_batch: 32, epochs: 1, warmup_steps: 2}\nmodel:\n  layers:\n" +
         layers + more;
}

constexpr const char* good_layers =
    "  - convolution: {channels: 8, kernel: 3, padding: 1}\n  - relu\n  - global_average_pooling\n"
    "  - inner_product: {outputs: classes}\n";
constexpr const char* bad_layers =
    "  - max_pooling: {kernel: 8, stride: 8}\n  - convolution: {channels: 64, kernel: 7, name: conv3}\n"
    "  - inner_product: {outputs: classes}\n";

} // namespace

TEST_CASE("models are listed with images, classes and parameters")
{
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

  const auto one_class = dtctl.run({"recipe", "models", "lenet", "--classes", "1"});
  CHECK(one_class.exit_code == 2);
  CHECK(one_class.err.find("1x28x28 and 1 class: it needs at least 1x1x1 and 2 classes.") != std::string::npos);

  const auto wider = dtctl.json({"recipe", "models", "lenet", "--image", "3x32x32", "--classes", "100", "--batch", "8"});
  CHECK(wider.at("layers").back().at("output") == "100x1x1");
  CHECK(wider.at("activation_bytes") > 8 * 3 * 32 * 32 * 4);
  CHECK(dtctl.run({"recipe", "models", "resnet20"}).out.find("conv2_1_a") != std::string::npos);
}

TEST_CASE("an unknown model is answered with the nearest and all")
{
  const auto result = Dtctl().run({"recipe", "models", "resnet05"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.starts_with("dtctl: error: there is no model `resnet05`; did you mean `resnet50`? Allowed: lenet, alexnet, "));
}

TEST_CASE("layers of a recipe are listed with their attributes")
{
  const auto layers = Dtctl().json({"recipe", "models", "--layers"}).at("layers");
  CHECK(layers.at(0).at("layer") == "convolution");
  CHECK(layers.at(1).at("attribute") == "channels");
  CHECK(layers.at(1).at("default") == "required");
}

TEST_CASE("an image that is none, or too small, is refused with exit code 2")
{
  const Dtctl dtctl;
  const auto wrong = dtctl.run({"recipe", "models", "lenet", "--image", "32x32"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err == "dtctl: error: --image takes channels x height x width as 3x224x224, not 32x32.\n");
  const auto small = dtctl.run({"recipe", "models", "vgg11", "--image", "3x16x16"});
  CHECK(small.exit_code == 2);
  CHECK(small.err.starts_with("dtctl: error: Images of 3x16x16 are too small for model vgg11: "));
}

TEST_CASE("shapes that do not fit are refused before anything is written, by every verb that reads a recipe")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml", custom_recipe(bad_layers));
  for (const auto* verb : {"validate", "sweep"}) {
    const auto result = dtctl.run({verb, "own.yaml"});
    CHECK(result.exit_code == 2);
    CHECK(result.err ==
          "own.yaml:8:5: model.layers, layer 2 (conv3: convolution channels=64 kernel=7): windows of 7x7 with padding 0 do "
          "not fit its input of 3x4x4.\n");
  }
  CHECK_FALSE(std::filesystem::exists(dtctl.home()));
}

TEST_CASE("a model whose images are too small is refused once for each shape, however many runs there are")
{
  const Dtctl dtctl;
  dtctl.write("vgg.yaml",
              "version: 1\nname: vgg\nmodel: {name: vgg11-cifar}\ndata: {name: digits}\ntrain: {global_batch: 32, epochs: "
              "1}\nsweep: {matrix: {optimizer.learning_rate: [0.1, 0.2, 0.3], data.name: [digits, mnist]}}\n");
  const auto result = dtctl.run({"validate", "vgg.yaml"});
  CHECK(result.exit_code == 2);
  CHECK(result.err.starts_with("vgg.yaml:3:15: Images of 1x28x28 are too small for model vgg11-cifar: "));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

TEST_CASE("a network of one's own that fits is valid")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml", custom_recipe(good_layers));
  CHECK(dtctl.run({"validate", "own.yaml"}).exit_code == 0);
  CHECK(dtctl.json({"sweep", "--dry-run", "own.yaml"}).at("runs").size() == 1);
}

TEST_CASE("without the engine nobody says whether a model fits")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto result = dtctl.run({"validate", "tiny.yaml"}, {"DTCTL_ENGINE=/nowhere/dtengine"});
  CHECK(result.exit_code == 74);
  CHECK(result.err ==
        "dtctl: error: the training engine is not at /nowhere/dtengine; build or install dtengine, or name it in DTCTL_ENGINE\n");
}

TEST_CASE("an engine that cannot run where dtctl does is a warning: the job will say whether the model fits")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto result = dtctl.run({"validate", "tiny.yaml"}, {"DTCTL_ENGINE=/bin/false"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.starts_with(
      "dtctl: warning: data sets and models were not checked, because dtengine cannot run here: asking dtengine for a "
      "model failed with exit code 1: /bin/false model lenet --image "));
}

TEST_CASE("an exchange that was to overlap and cannot is warned of, with its place, and the recipe is valid all the same")
{
  const Dtctl dtctl;
  dtctl.write("none.yaml", tiny_recipe("resources: {ranks_per_node: 2}\noptimizer: {name: sgd}\n"
                                       "sync: {strategy: sync-easgd, progress: none}\n"));
  for (const auto& words : {std::vector<std::string>{"validate", "none.yaml"}, {"sweep", "none.yaml", "--dry-run"}}) {
    const auto result = dtctl.run(words);
    CHECK(result.exit_code == 0);
    CHECK(result.err.find("dtctl: warning: none.yaml:8:40: `sync.progress: none` lets nothing overlap: ") != std::string::npos);
  }
}
