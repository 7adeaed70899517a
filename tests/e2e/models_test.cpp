// Networks of one's own, trained; and what does not fit, refused in a sentence.
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;

namespace {

std::string recipe_of(const std::string& model, const std::string& train, const std::string& more = "")
{
  return "version: 1\nname: own\ndata: {name: synthetic, channels: 3, height: 32, width: 32, train_samples: 256, test_samples: "
         "64}\n" +
         model + train + more;
}

constexpr const char* branches = "model:\n"
                                 "  layers:\n"
                                 "  - convolution: {channels: 8, kernel: 3, padding: 1, bias: false}\n"
                                 "  - batch_norm: {name: stem}\n"
                                 "  - relu\n"
                                 "  - convolution: {channels: 8, kernel: 3, padding: 1, groups: 2, name: branch}\n"
                                 "  - add: {inputs: [branch, stem]}\n"
                                 "  - max_pooling: {kernel: 2, stride: 2}\n"
                                 "  - dropout: {rate: 0.1}\n"
                                 "  - global_average_pooling\n"
                                 "  - inner_product: {outputs: classes}\n";
constexpr const char* short_training = "train: {global_batch: 32, epochs: 1, warmup_steps: 2}\n";

} // namespace

TEST_CASE("a network of one's own trains on two ranks to a result")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml", recipe_of(branches, short_training, "resources: {ranks_per_node: 2}\n"));
  const auto outcome = dtctl.json({"submit", "own.yaml", "--wait"});
  INFO(outcome.dump());
  CHECK(outcome.at("exit_code") == 0);
  CHECK(outcome.at("states") == Json{{"succeeded", 1}});
}

TEST_CASE("unknown layers and unknown attributes are told with their place")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml",
              recipe_of("model:\n  layers:\n  - rellu\n  - convolution: {chanels: 3, channels: 3, kernel: 3}\n", short_training));
  const auto result = dtctl.run({"submit", "own.yaml"});
  CHECK(result.exit_code == 2);
  CHECK(
      result.err.starts_with("own.yaml:6:5: there is no layer `rellu`; did you mean `relu`? Allowed: convolution, batch_norm, "));
  CHECK(result.err.find(
            "\nown.yaml:7:19: `convolution` has no attribute `chanels`; did you mean `channels`? Allowed: channels, ") !=
        std::string::npos);
  CHECK_FALSE(std::filesystem::exists(dtctl.home()));
}

TEST_CASE("an accumulation that does not divide a rank's batch is a mistake of the recipe")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml", recipe_of(branches, "train: {global_batch: 32, epochs: 1, warmup_steps: 2, accumulation: 3}\n"));
  const auto result = dtctl.run({"submit", "own.yaml"});
  CHECK(result.exit_code == 2);
  CHECK(result.err == "own.yaml:15:69: `train.accumulation` 3 does not divide the 32 samples of a rank's batch\n");
}

TEST_CASE("a batch beyond the machine's memory fails with the need, what there is and the largest batch that fits")
{
  const Dtctl dtctl;
  dtctl.write(
      "own.yaml",
      "version: 1\nname: own\nmodel: {name: vgg16}\n"
      "data: {name: synthetic, channels: 3, height: 224, width: 224, classes: 1000, train_samples: 8000, test_samples: 8}\n"
      "train: {global_batch: 4000, steps: 2, warmup_steps: 0}\n");
  const auto outcome = dtctl.json({"submit", "own.yaml", "--wait"});
  CHECK(outcome.at("states") == Json{{"failed", 1}});
  const auto cause = outcome.at("runs")[0].at("cause").get<std::string>();
  INFO(cause);
  CHECK(cause.find("Model vgg16 with batches of 4000 needs ") != std::string::npos);
  CHECK(cause.find("are free for it. A batch of at most about ") != std::string::npos);
}
