#include "recipes/expansion/expand.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;
using Names = std::vector<std::string>;

namespace {

Names listed(const std::string& text) { return names_of(plan_of(minimal(text))); }
std::string errors(const std::string& text) { return errors_of(minimal(text)); }

} // namespace

TEST_CASE(
    "a study in listed order goes by point, size and repeat, conditions can leave a size out, and a sweep alone stays as listed")
{
  CHECK(
      listed("study: { mode: strong, ranks: [1, 2], repeats: 2, order: listed }\nsweep: { matrix: { train.seed: [1, 2] } }\n") ==
      Names{"seed=1 ranks=1/#1", "seed=1 ranks=1/#2", "seed=1 ranks=2/#1", "seed=1 ranks=2/#2", "seed=2 ranks=1/#1",
            "seed=2 ranks=1/#2", "seed=2 ranks=2/#1", "seed=2 ranks=2/#2"});
  CHECK(listed("study: { mode: strong, ranks: [1, 2, 4], order: listed }\nsweep: { matrix: { train.seed: [1, 2] }, exclude: "
               "[train.seed=2 ranks>=2] }\n") == Names{"seed=1 ranks=1", "seed=1 ranks=2", "seed=1 ranks=4", "seed=2 ranks=1"});
  const std::string sweep = "sweep: { matrix: { train.seed: [1, 2, 3, 4, 5, 6, 7, 8] } }\n";
  const Names as_listed{"seed=1", "seed=2", "seed=3", "seed=4", "seed=5", "seed=6", "seed=7", "seed=8"};
  CHECK(listed(sweep) == as_listed);
  CHECK(listed(sweep + "study: { order: random }\n") != as_listed);
}

TEST_CASE("in random order, which comes from study.seed alone, each round of repeats has every run once")
{
  const auto plan = plan_of(minimal("study: { mode: strong, ranks: [1, 2, 4, 8], repeats: 5 }\n"));
  REQUIRE(plan.runs.size() == 20);
  std::set<std::vector<std::int64_t>> orders;
  for (std::size_t round = 0; round < 5; ++round) {
    std::vector<std::int64_t> ranks;
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(plan.runs[round * 4 + i].repeat == std::int64_t(round));
      ranks.push_back(plan.runs[round * 4 + i].ranks());
    }
    orders.insert(ranks);
    std::sort(ranks.begin(), ranks.end());
    CHECK(ranks == std::vector<std::int64_t>{1, 2, 4, 8});
  }
  CHECK(orders.size() > 1);
  const std::string study = "mode: strong, ranks: [1, 2, 4, 8, 16, 32, 64], ";
  const auto one = listed("study: { " + study + "seed: 1 }\n");
  CHECK(one == listed("study: { " + study + "seed: 1 }\n"));
  CHECK(one != listed("study: { " + study + "seed: 2 }\n"));
  CHECK(one == Names{"ranks=32", "ranks=64", "ranks=16", "ranks=8", "ranks=1", "ranks=2", "ranks=4"});
}

TEST_CASE("sizes by ranks fill the nodes there are, sizes by nodes keep the ranks a node")
{
  const auto ranks = plan_of(minimal("resources: { nodes: 2 }\nstudy: { mode: strong, ranks: [2, 4], order: listed }\n"));
  CHECK(ranks.runs[0].resources.ranks_per_node == 1);
  CHECK(ranks.runs[1].resources.ranks_per_node == 2);
  CHECK(ranks.runs[1].resources.nodes == 2);
  const auto nodes =
      plan_of(minimal("resources: { ranks_per_node: 4 }\nstudy: { mode: strong, nodes: [1, 2], order: listed }\n"));
  CHECK(nodes.runs[1].resources.nodes == 2);
  CHECK(nodes.runs[1].ranks() == 8);
  CHECK(names_of(nodes) == Names{"nodes=1", "nodes=2"});
}

TEST_CASE("a partition divides a node's cores, and the modelled rate with them, into parts")
{
  const auto plan = plan_of(minimal("resources: { nodes: 2, ranks_per_node: 2, threads_per_rank: 4 }\n"
                                    "study: { mode: partition, parts: [1, 2, 8], order: listed }\n"));
  CHECK(names_of(plan) == Names{"parts=1", "parts=2", "parts=8"});
  const std::vector<std::pair<std::int64_t, std::int64_t>> wanted{{1, 8}, {2, 4}, {8, 1}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(plan.runs.at(i).resources.ranks_per_node == wanted[i].first);
    CHECK(plan.runs.at(i).resources.threads_per_rank == wanted[i].second);
    CHECK(plan.runs.at(i).resources.nodes == 2);
    CHECK(plan.runs.at(i).train.global_batch == 64);
  }
  LoadOptions options;
  options.set = {"train.modelled_rate=1000"};
  const TemporaryFolder folder;
  const auto file = folder.write(
      "r.yaml", minimal("resources: { threads_per_rank: 4 }\nstudy: { mode: partition, parts: [1, 4], order: listed }\n"));
  const auto modelled = load_plan(file, options);
  CHECK(modelled.runs.at(0).train.modelled_rate == 1000);
  CHECK(modelled.runs.at(1).train.modelled_rate == 250);
}

TEST_CASE("sizes that ranks or cores cannot share evenly, that do not divide the batch, and values that one point gets wrong are "
          "refused")
{
  check_refused(errors, {{"resources: { nodes: 2 }\nstudy: { mode: strong, ranks: [1, 2, 3] }\n",
                          "r.yaml:6:31: `study.ranks` lists 1, which cannot be spread evenly over 2 nodes"},
                         {"study: { mode: strong, ranks: [1, 2, 3, 5], repeats: 3 }\n",
                          "r.yaml:4:24: `train.global_batch` 64 is not a multiple of 3 ranks; 63 and 66 are\n"
                          "r.yaml:4:24: `train.global_batch` 64 is not a multiple of 5 ranks; 60 and 65 are"},
                         {"resources: { ranks_per_node: 2 }\nsweep: { matrix: { train.global_batch: [64, 65] } }\n",
                          "r.yaml:6:45: `train.global_batch` 65 is not a multiple of 2 ranks"}});
  CHECK_THAT(errors("resources: { threads_per_rank: 4 }\nstudy: { mode: partition, parts: [1, 3] }\n"),
             Catch::Contains("r.yaml:6:34: `study.parts` lists 3, but the 4 cores of a node"));
  CHECK(places_of(minimal("resources: { nodes: 2 }\nstudy: { mode: strong, ranks: [1, 2, 3] }\n")) == "6:31 6:31");
  CHECK(places_of(minimal("optimizer: { momentum: 2 }\nsweep: { matrix: { train.seed: [x] } }\n")) == "5:24 6:33");
}

TEST_CASE(
    "repeats have different seeds where the training is measured, and one seed where only the throughput is, or all is simulated")
{
  const auto seeds = [](const std::string& text) {
    std::set<std::int64_t> found;
    for (const auto& run : plan_of(text).runs) found.insert(run.train.seed);
    return found;
  };
  using Seeds = std::set<std::int64_t>;
  const std::string repeats = "study: { repeats: 3 }\n", silent = "train: { global_batch: 64, epochs: 1, eval_every_epochs: 0";
  const auto own = [&](const std::string& metrics) {
    return "version: 1\nname: own\nprogram: { command: [train]" + metrics + " }\n" + repeats;
  };
  const auto engine = [&](const std::string& train) {
    return "version: 1\nname: r\nmodel: { name: lenet }\ndata: { name: digits }\n" + train + repeats;
  };
  CHECK(seeds(minimal(repeats)) == Seeds{1, 2, 3}); // evaluated after each epoch
  CHECK(seeds(engine(silent + " }\n")) == Seeds{1});
  CHECK(seeds(engine(silent + ", target_accuracy: 0.9 }\n")) == Seeds{1, 2, 3});
  CHECK(seeds(engine("train: { global_batch: 64, epochs: 1, modelled_rate: 1000 }\n")) == Seeds{1, 2, 3});
  CHECK(seeds(minimal("study: { repeats: 3, vary_seed: false }\n")) == Seeds{1});
  CHECK(seeds(engine(silent + " }\n") + "sweep: { matrix: { train.target_accuracy: [0, 0.9] } }\n") == Seeds{1, 2, 3});
  CHECK(seeds(minimal(repeats + "sweep: { matrix: { train.seed: [5, 9] } }\n")) == Seeds{5, 9});
  CHECK(seeds(own("")) == Seeds{1});
  CHECK(seeds(own(", metrics: { throughput: 'rate ([0-9]+)' }")) == Seeds{1});
  CHECK(seeds(own(", metrics: { accuracy_percent: 'right ([0-9]+)' }")) == Seeds{1, 2, 3});
  const auto plan = plan_of("version: 1\nname: r\nmodel: { name: lenet }\ndata: { name: synthetic, train_samples: 1024 }\n"
                            "train: { global_batch: 64, epochs: 1, modelled_rate: 1000 }\nsync: { allreduce: ring }\n"
                            "resources: { platform: ethernet-10g }\nstudy: { repeats: 2 }\n");
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[1].train.seed == 1);
  CHECK_FALSE(plan.runs[1].study.vary_seed);
}

TEST_CASE("all labels and sizes of a study have the same seed in the same repeat")
{
  const auto plan =
      plan_of(minimal("study: { mode: strong, ranks: [1, 2, 4], repeats: 3 }\n"
                      "sweep: { matrix: { optimizer.learning_rate: [0.1, 0.2] }, include: [{ train.target_accuracy: "
                      "0.9, train.eval_every_epochs: 0 }] }\n"));
  REQUIRE(plan.runs.size() == 27);
  for (const auto& run : plan.runs) {
    CHECK(run.train.seed == 1 + run.repeat);
    CHECK(run.study.vary_seed);
  }
}

TEST_CASE("more than a million runs are refused before they are made")
{
  const std::string message = "r.yaml:1:1: asks for more than 1000000 runs (points of the sweep x sizes x repeats)";
  CHECK(errors("study: { repeats: 10000, mode: strong, ranks: [1, 2, 4, 8, 16, 32, 64] }\nsweep: { matrix: { train.seed: [1, 2, "
               "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] } }\n") == message);
  std::string matrix;
  for (const auto* key :
       {"train.seed", "train.warmup_steps", "optimizer.learning_rate", "optimizer.warmup_epochs", "data.prefetch_batches"}) {
    matrix += std::string(matrix.empty() ? "" : ", ") + key + ": [1";
    for (int i = 2; i <= 100; ++i) matrix += ", " + std::to_string(i);
    matrix += "]";
  }
  CHECK(errors("sweep: { matrix: { " + matrix + " } }\n") == message);
}

TEST_CASE("a sweep over strategies names each one that the optimizer does not go with, where it stands and what to write instead")
{
  const std::string size = "resources: { ranks_per_node: 2 }\n",
                    sweep = "sweep: { matrix: { sync.strategy: [sync-sgd, easgd, async-msgd] } }\n";
  check_refused(errors, {{size + sweep, "r.yaml:6:46: `easgd` does not go with `optimizer.name: momentum`"},
                         {size + "optimizer: { name: sgd }\n" + sweep, "r.yaml:6:20: `async-msgd` does not go with"}});
  CHECK_THAT(errors(size + sweep), Catch::EndsWith("with `zip: { sync.strategy: [sync-sgd, async-msgd], "
                                                   "optimizer.name: [sgd, momentum] }`"));
  CHECK(
      listed(size + "sweep: { zip: { sync.strategy: [sync-sgd, easgd, async-msgd], optimizer.name: [sgd, sgd, momentum] } }\n") ==
      Names{"strategy=sync-sgd optimizer=sgd", "strategy=easgd optimizer=sgd", "strategy=async-msgd optimizer=momentum"});
}

TEST_CASE("sync-easgd and diloco that exchange beside the computation have progress auto unless the recipe says otherwise")
{
  const auto progress = [](const std::string& sync) {
    return plan_of(minimal("resources: { ranks_per_node: 2 }\noptimizer: { name: sgd }\nsync: { " + sync + " }\n"))
        .runs[0]
        .sync.progress;
  };
  CHECK(progress("strategy: sync-easgd") == ProgressMode::automatic);
  CHECK(progress("strategy: sync-easgd, overlap: 2") == ProgressMode::none);
  CHECK(progress("strategy: sync-easgd, progress: none") == ProgressMode::none);
  CHECK(progress("strategy: sync-easgd, progress: thread") == ProgressMode::thread);
  CHECK(progress("strategy: sync-sgd") == ProgressMode::none);
  CHECK(progress("strategy: diloco, period: 4") == ProgressMode::none);
  CHECK(progress("strategy: diloco, period: 4, outer: { delay: 2 }") == ProgressMode::automatic);
}

TEST_CASE("an exchange that was to overlap and will not, or may not, is warned of where that stands")
{
  const auto warnings = [](const std::string& sync) {
    std::string lines;
    for (auto warning :
         plan_of(minimal("resources: { ranks_per_node: 2 }\noptimizer: { name: sgd }\nsync: { " + sync + " }\n")).warnings) {
      warning.file = "r.yaml";
      lines += to_text(warning) + "\n";
    }
    return lines;
  };
  check_refused(warnings,
                {{"strategy: sync-easgd, progress: none",
                  "r.yaml:7:41: `sync.progress: none` lets nothing overlap: `sync.overlap: 3` exchanges after the computation"},
                 {"strategy: diloco, period: 4, progress: none, outer: { delay: 2 }",
                  "r.yaml:7:48: `sync.progress: none` lets nothing overlap: `sync.outer.delay: 2` exchanges after"},
                 {"strategy: sync-easgd",
                  "r.yaml:7:19: `sync.overlap: 3` overlaps with `sync.allreduce: mpi` only where every rank has a core to spare"},
                 {"strategy: sync-easgd, allreduce: gloo",
                  "r.yaml:7:42: `sync.overlap: 3` overlaps with `sync.allreduce: gloo` only where every rank has a core"}});
  CHECK_THAT(warnings("strategy: sync-easgd"), Catch::EndsWith("`sync.overlap` and `sync.allreduce`: they are defaults\n"));
  CHECK_THAT(warnings("strategy: sync-easgd, allreduce: gloo"),
             Catch::EndsWith("does not set `sync.overlap`: it is a default\n"));
  CHECK_THAT(warnings("strategy: diloco, period: 4, outer: { delay: 2 }"),
             Catch::Contains("`sync.outer.delay: 2` overlaps with"));
  for (const auto* fine : {"sync-easgd, allreduce: ring", "sync-easgd, progress: thread",
                           "sync-easgd, overlap: 2, progress: none", "sync-sgd", "diloco, period: 4"})
    CHECK(warnings(std::string("strategy: ") + fine).empty());
}
