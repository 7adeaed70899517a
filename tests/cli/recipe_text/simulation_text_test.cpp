#include "cli/recipe_text/simulation_text.hpp"

#include "tests/core/error_of.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;
using dt::test::message_of;

using Counts = std::vector<std::int64_t>;

TEST_CASE("numbers of nodes are a list, or a range by doubling that ends with its last number")
{
  CHECK(parse_node_counts("1..16") == Counts{1, 2, 4, 8, 16});
  CHECK(parse_node_counts("3..20") == Counts{3, 6, 12, 20});
  CHECK(parse_node_counts("16,1,4,4") == Counts{1, 4, 16});
  for (const auto* text : {"", "0", "4..2", "1..", "a", "1,,2", "99999999"})
    CHECK(message_of([&] { parse_node_counts(text); }).starts_with(std::string("--nodes ") + text + ": give numbers of nodes"));
}

TEST_CASE("a strategy may be followed by values of its keys")
{
  const auto strategies = parse_simulated_strategies("sync-sgd,diloco:period=32:outer.fragments=4");
  REQUIRE(strategies.size() == 2);
  CHECK(strategies[0].values.empty());
  CHECK(strategies[1].name == "diloco");
  CHECK(strategies[1].values == std::vector<std::pair<std::string, std::string>>{{"period", "32"}, {"outer.fragments", "4"}});
  CHECK(message_of([] { parse_simulated_strategies("sync-sdg"); }).find("sync-sgd") != std::string::npos);
  CHECK(message_of([] { parse_simulated_strategies("sync-sgd:period=4"); }) ==
        "--strategy sync-sgd:period=4: \"period=4\" is no value of a key that sync-sgd reads. Example: local-sgd:period=32");
  CHECK(message_of([] { parse_simulated_strategies("local-sgd:period"); }).find("\"period\"") != std::string::npos);
}

TEST_CASE("the recipe names the profile and has a point for each strategy, over four periods behind one of warm-up")
{
  SimulationChoices choices{.name = "mine-on-fat-tree",
                            .program = "train.py",
                            .platform = "fat-tree",
                            .profile = "/home/profile.json",
                            .batch_per_rank = 8,
                            .ranks_per_node = 2,
                            .threads_per_rank = 3,
                            .nodes = {1, 16},
                            .strategies = parse_simulated_strategies("sync-sgd,local-sgd:period=8")};
  CHECK(simulation_recipe(choices) ==
        "# What would train.py do on fat-tree under these strategies? Written by dtctl simulate from the\n"
        "# run's compute profile.\n"
        "version: 1\n"
        "name: mine-on-fat-tree\n"
        "train:\n"
        "  compute_profile: \"/home/profile.json\"\n"
        "  batch_per_rank: 8\n"
        "  steps: 40\n"
        "  warmup_steps: 8\n"
        "  eval_every_epochs: 0\n"
        "resources:\n"
        "  platform: fat-tree\n"
        "  ranks_per_node: 2\n"
        "  threads_per_rank: 3\n"
        "study: { mode: weak, nodes: [1, 16], repeats: 3 }\n"
        "sweep:\n"
        "  include:\n"
        "    - { sync.strategy: sync-sgd, sync.allreduce: ring }\n"
        "    - { sync.strategy: local-sgd, sync.allreduce: ring, sync.period: 8 }\n");
  choices.batch_per_rank = 0;
  choices.global_batch = 64;
  choices.nodes = {64};
  const auto strong = simulation_recipe(choices);
  CHECK(strong.find("global_batch: 64") != std::string::npos);
  CHECK(strong.find("mode: strong") != std::string::npos);
  CHECK(strong.find("topology-aware") != std::string::npos);
}
