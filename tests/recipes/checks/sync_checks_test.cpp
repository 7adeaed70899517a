// What a strategy asks of the other keys.
#include "recipes/checks/checks.hpp"

#include "core/spec/strategy_table.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using dt::recipes::Problem;

namespace {

RunSpec spec_of(const std::string& strategy, std::int64_t ranks = 4)
{
  RunSpec spec;
  spec.sync.strategy = strategy;
  spec.resources.ranks_per_node = ranks;
  return spec;
}

// With an optimizer that the strategy goes with.
RunSpec fitting_spec_of(const std::string& strategy, std::int64_t ranks = 4)
{
  auto spec = spec_of(strategy, ranks);
  if (optimizer_misfit(strategy, spec.optimizer.name)) spec.optimizer.name = "sgd";
  return spec;
}

std::string problems_of(const RunSpec& spec)
{
  std::vector<Problem> problems;
  recipes::find_sync_problems(spec, problems);
  std::string lines;
  for (const auto& problem : problems) lines += (lines.empty() ? "" : "\n") + problem.message;
  return lines;
}

} // namespace

TEST_CASE("a program whose recipe names no optimizer goes with every strategy, and one that names it with those of its rule")
{
  for (const auto strategy : {"async-sgd", "async-msgd", "hogwild-sgd", "sync-sgd", "easgd"}) {
    auto spec = spec_of(strategy, 4);
    spec.program.command = {"python3", "train.py"};
    INFO(strategy);
    CHECK(problems_of(spec).find("optimizer.name") == std::string::npos);
  }
  auto named = spec_of("async-sgd", 4);
  named.program.command = {"python3", "train.py"};
  named.optimizer.name = "adam";
  CHECK(problems_of(named).find("`async-sgd` does not go with `optimizer.name: adam`") == 0);
}

TEST_CASE("a key that the strategy does not look at is refused")
{
  auto spec = spec_of("sync-sgd");
  spec.sync.period = 8;
  CHECK(problems_of(spec) == "`sync.period` is 8, but `sync-sgd` does not use it; it is for the EASGD family, local-sgd and "
                             "diloco");
  spec = spec_of("local-sgd");
  spec.sync.period = 8;
  CHECK(problems_of(spec).empty());
  spec.sync.overlap = 1;
  CHECK(problems_of(spec) == "`sync.overlap` is 1, but `local-sgd` does not use it; it is for sync-easgd");
}

TEST_CASE("strategies with and without momentum name one another")
{
  auto spec = spec_of("async-sgd");
  CHECK(problems_of(spec) ==
        "`async-sgd` does not go with `optimizer.name: momentum` (the default), because its servers apply plain "
        "SGD; give `optimizer.name: sgd`, or take the strategy async-msgd, whose servers keep a velocity");
  spec.optimizer.name = "sgd";
  CHECK(problems_of(spec).empty());
  spec.sync.strategy = "async-measgd";
  CHECK(problems_of(spec) ==
        "`async-measgd` does not go with `optimizer.name: sgd`, because its workers apply SGD with momentum; "
        "give `optimizer.name: momentum`, or take the strategy async-easgd");
  for (const auto* strategy : {"easgd", "async-easgd", "hogwild-easgd", "sync-easgd", "decentralized-easgd"}) {
    spec = spec_of(strategy);
    CHECK(problems_of(spec) ==
          "`" + std::string(strategy) +
              "` does not go with `optimizer.name: momentum` (the default), because its workers apply plain SGD; "
              "give `optimizer.name: sgd`, or take the strategy async-measgd, the EASGD form whose workers have "
              "momentum");
    spec.optimizer.name = "sgd";
    CHECK(problems_of(spec).empty());
  }
}

TEST_CASE("adam is no momentum: strategies that are defined by one refuse it")
{
  auto spec = spec_of("async-msgd");
  spec.optimizer.name = "adam";
  CHECK(problems_of(spec) == "`async-msgd` does not go with `optimizer.name: adam`, because its servers apply SGD with momentum; "
                             "give `optimizer.name: momentum`");
  spec.optimizer.name = "nesterov";
  CHECK(problems_of(spec).empty());
  spec.sync.strategy = "async-sgd";
  CHECK(problems_of(spec).starts_with("`async-sgd` does not go with `optimizer.name: nesterov`"));
  for (const auto* strategy : {"sync-sgd", "local-sgd", "hsgd", "diloco"}) {
    spec.sync.strategy = strategy;
    spec.optimizer.name = "adam";
    CHECK(problems_of(spec).empty());
  }
}

TEST_CASE("servers that hold parts of the parameters cannot clip, whoever updates the whole can")
{
  for (const auto* strategy : {"async-sgd", "hogwild-sgd"}) {
    auto spec = spec_of(strategy);
    spec.optimizer.name = "sgd";
    spec.optimizer.clip_norm = 1;
    CHECK(problems_of(spec) ==
          "`optimizer.clip_norm` needs the whole gradient in one update, but with `" + std::string(strategy) +
              "` every parameter server applies the part of it that it holds; leave it out, or take a strategy "
              "whose workers apply their gradients themselves");
  }
  for (const auto* strategy :
       {"sync-sgd", "hsgd", "local-sgd", "diloco", "sync-easgd", "decentralized-easgd", "easgd", "async-measgd"}) {
    auto spec = fitting_spec_of(strategy);
    spec.optimizer.clip_norm = 1;
    CHECK(problems_of(spec).empty());
  }
}

TEST_CASE("statistics are synchronized only among ranks that hold the same weights, and by their computing threads")
{
  auto spec = spec_of("sync-sgd");
  spec.model.batch_norm = BatchNormSamples::synchronized;
  CHECK(problems_of(spec).empty());
  spec.sync.progress = ProgressMode::thread;
  CHECK(problems_of(spec) ==
        "`model.batch_norm: synchronized` communicates during a pass, but with `sync.progress: thread` only the "
        "communication thread may communicate; take `sync.progress: none` or `poll`");
  spec = spec_of("hsgd");
  spec.model.batch_norm = BatchNormSamples::synchronized;
  CHECK(problems_of(spec).empty());
  spec.sync.node_period = 4;
  CHECK(problems_of(spec) == "`model.batch_norm: synchronized` needs ranks with the same weights at every step, and `hsgd` with "
                             "`sync.node_period` above 1 "
                             "lets them differ; take `sync-sgd`, or `hsgd` with `sync.node_period: 1`");
  spec = fitting_spec_of("easgd");
  spec.model.batch_norm = BatchNormSamples::synchronized;
  CHECK(problems_of(spec) ==
        "`model.batch_norm: synchronized` needs ranks with the same weights at every step, and `easgd` lets them differ; take "
        "`sync-sgd`, or `hsgd` with `sync.node_period: 1`");
}

TEST_CASE("servers leave a worker, and are needed but by hogwild on one node")
{
  auto spec = fitting_spec_of("easgd", 2);
  spec.sync.servers = 2;
  CHECK(problems_of(spec) == "`easgd` with 2 parameter servers (`sync.servers`) needs at least 3 ranks, and there are 2");
  spec.sync.servers = 0;
  CHECK(problems_of(spec) == "`easgd` needs a parameter server: `sync.servers` of at least 1");
  spec.sync.strategy = "hogwild-easgd";
  CHECK(problems_of(spec).empty());
  spec.resources.nodes = 2;
  CHECK(problems_of(spec) == "`sync.servers` 0 keeps the weights in the memory that the ranks of one node share, but there are 2 "
                             "nodes; give `sync.servers` of at least 1");
}

TEST_CASE("elastic rates together stay at 1 or below")
{
  auto spec = fitting_spec_of("decentralized-easgd");
  spec.sync.alpha = 0.25;
  CHECK(problems_of(spec).empty());
  spec.sync.alpha = 0.5;
  CHECK(problems_of(spec) == "the elastic rates of 4 workers sum to 2; above 1 the training diverges. "
                             "Lower `sync.alpha` or `sync.rho`");
  spec.sync.alpha = 0;
  spec.sync.rho = 50;
  CHECK(problems_of(spec).find("sum to 2;") != std::string::npos); // 4 x 0.01 x 50
  spec.sync.rho = 25;
  CHECK(problems_of(spec).empty());
  spec.sync.alpha = 0.1;
  CHECK(problems_of(spec) == "give either `sync.alpha` or `sync.rho`: alpha = learning rate x rho");
}

TEST_CASE("the allreduces of the MPI library and of Gloo have one wire format and cannot be polled")
{
  auto spec = spec_of("sync-sgd");
  for (const std::string allreduce : {"mpi", "gloo"}) {
    spec.sync.allreduce = allreduce;
    spec.sync.wire = Wire::bfloat16;
    CHECK(problems_of(spec) ==
          "`sync.allreduce: " + allreduce + "` sends float32 only; take another algorithm for `sync.wire: bfloat16`");
    spec.sync.wire = Wire::float32;
    spec.sync.progress = ProgressMode::poll;
    CHECK(problems_of(spec) == "`sync.allreduce: " + allreduce +
                                   "` is one call that cannot be moved on step by step; take another algorithm for "
                                   "`sync.progress: poll`, or `sync.progress: thread`");
    spec.sync.progress = ProgressMode::thread;
    CHECK(problems_of(spec).empty());
  }
  spec.sync.progress = ProgressMode::poll;
  spec.sync.allreduce = "ring";
  CHECK(problems_of(spec).empty());
}

TEST_CASE("weights are not rounded on the wire, and what is sent before the step is not of after it")
{
  auto spec = spec_of("local-sgd");
  spec.sync.allreduce = "ring";
  spec.sync.wire = Wire::bfloat16;
  CHECK(problems_of(spec) == "`sync.wire` is bfloat16, but `local-sgd` does not use it; it is for sync-sgd, diloco and "
                             "decentralized-easgd; others send weights, which would lose precision permanently");
  spec = fitting_spec_of("sync-easgd");
  spec.sync.elastic = ElasticForm::after;
  CHECK(problems_of(spec) == "`sync.elastic: after` needs the weights after the step, which `sync.overlap: 3` has sent before; "
                             "take `sync.overlap: 2`, or `sync.elastic: before`");
  spec.sync.overlap = 2;
  CHECK(problems_of(spec).empty());
}

TEST_CASE("a centre is evaluated only where there is one")
{
  auto spec = spec_of("local-sgd");
  spec.sync.evaluate = EvaluatedModel::centre;
  CHECK(problems_of(spec) == "`sync.evaluate: centre` needs a strategy with a centre, and `local-sgd` has none");
  for (const auto* strategy : {"sync-easgd", "diloco"}) {
    spec = fitting_spec_of(strategy);
    spec.sync.evaluate = EvaluatedModel::centre;
    CHECK(problems_of(spec).empty());
  }
}

TEST_CASE("keys of the outer optimizer are for diloco, whose fragments and delay fit its period")
{
  auto spec = spec_of("local-sgd");
  spec.sync.outer.learning_rate = 1;
  CHECK(problems_of(spec) == "`sync.outer.learning_rate` is 1, but `local-sgd` does not use it; it is for diloco");
  spec = spec_of("diloco");
  spec.sync.period = 8;
  spec.sync.outer = {.fragments = 8, .delay = 7, .mix = 0.5};
  spec.sync.allreduce = "ring";
  spec.sync.progress = ProgressMode::poll;
  CHECK(problems_of(spec).empty());
  spec.sync.outer.fragments = 9;
  CHECK(problems_of(spec) == "`sync.outer.fragments` is 9, but `sync.period` is 8, and each fragment needs a step of the period "
                             "for itself; take at most as many fragments as steps");
  spec.sync.outer.fragments = 1;
  spec.sync.outer.delay = 8;
  CHECK(problems_of(spec) ==
        "`sync.outer.delay` is 8, but `sync.period` is 8: the sum of a fragment would not be used before its "
        "next one begins; take a delay below the period");
  spec.sync.outer.delay = 0;
  CHECK(problems_of(spec) == "`sync.progress: poll` has nothing to advance: without `sync.outer.delay` the workers of `diloco` "
                             "wait for each sum; leave `sync.progress` out, or give a delay of at least 1");
}

TEST_CASE("int8 and int4 are for pseudo-gradients, and have a sum of their own")
{
  auto spec = spec_of("sync-sgd");
  spec.sync.allreduce = "ring";
  spec.sync.wire = Wire::int8;
  CHECK(problems_of(spec) ==
        "`sync.wire: int8` is for the pseudo-gradients of diloco; `sync-sgd` sends float32, or bfloat16 with "
        "`sync.wire: bfloat16`");
  spec = spec_of("diloco");
  spec.sync.wire = Wire::int4;
  CHECK(problems_of(spec).empty());
  spec.sync.allreduce = "ring";
  CHECK(problems_of(spec) == "`sync.wire: int4` has a sum of its own, so `sync.allreduce: ring` has no effect; leave "
                             "`sync.allreduce` out");
}
