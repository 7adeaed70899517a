// A network of one's own, trained; and a batch that does not fit the memory.
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Json;

TEST_CASE("a network of one's own trains on two ranks to a result")
{
  const Dtctl dtctl;
  dtctl.write("own.yaml", "version: 1\nname: own\n"
                          "data: {name: synthetic, channels: 3, height: 32, width: 32, train_samples: 256, test_samples: 64}\n"
                          "model:\n"
                          "  layers:\n"
                          "  - convolution: {channels: 8, kernel: 3, padding: 1, bias: false}\n"
                          "  - batch_norm: {name: stem}\n"
                          "  - relu\n"
                          "  - convolution: {channels: 8, kernel: 3, padding: 1, groups: 2, name: branch}\n"
                          "  - add: {inputs: [branch, stem]}\n"
                          "  - max_pooling: {kernel: 2, stride: 2}\n"
                          "  - dropout: {rate: 0.1}\n"
                          "  - global_average_pooling\n"
                          "  - inner_product: {outputs: classes}\n"
                          "train: {global_batch: 32, epochs: 1, warmup_steps: 2}\nresources: {ranks_per_node: 2}\n");
  const auto outcome = dtctl.json({"submit", "own.yaml", "--wait"});
  INFO(outcome.dump());
  CHECK(outcome.at("states") == Json{{"succeeded", 1}});
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
  CHECK_THAT(cause, Catch::Contains("batches of 4000") && Catch::Contains("A batch of at most"));
}
