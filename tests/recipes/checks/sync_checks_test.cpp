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

std::vector<Problem> problems_of(const RunSpec& spec)
{
  std::vector<Problem> problems;
  recipes::find_sync_problems(spec, problems);
  return problems;
}

bool is_good(const RunSpec& spec) { return problems_of(spec).empty(); }

// It has this one problem.
void refused(const RunSpec& spec, const std::string& begin_of_message)
{
  INFO(begin_of_message);
  const auto problems = problems_of(spec);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, Catch::StartsWith(begin_of_message));
}

} // namespace

TEST_CASE("strategies go with the optimizers of their rule, and a program whose recipe names none with every strategy")
{
  for (const std::string strategy :
       {"async-sgd", "easgd", "async-easgd", "hogwild-easgd", "sync-easgd", "decentralized-easgd", "hogwild-sgd"}) {
    auto spec = spec_of(strategy);
    refused(spec, "`" + strategy + "` does not go with `optimizer.name: momentum` (the default)");
    spec.optimizer.name = "nesterov";
    refused(spec, "`" + strategy + "` does not go with `optimizer.name: nesterov`");
    spec.optimizer.name = "sgd";
    CHECK(is_good(spec));
  }
  for (const std::string strategy : {"async-measgd", "async-msgd"})
    for (const std::string wrong : {"sgd", "adam"}) { // which is no momentum
      auto spec = spec_of(strategy);
      CHECK(is_good(spec));
      spec.optimizer.name = wrong;
      refused(spec, "`" + strategy + "` does not go with `optimizer.name: " + wrong + "`, because");
      spec.optimizer.name = "nesterov";
      CHECK(is_good(spec));
    }
  for (const auto* strategy : {"sync-sgd", "local-sgd", "hsgd", "diloco"}) {
    auto spec = spec_of(strategy);
    spec.optimizer.name = "adam";
    CHECK(is_good(spec));
  }
  for (const auto* strategy : {"async-sgd", "async-msgd", "hogwild-sgd", "sync-sgd", "easgd"}) {
    auto spec = spec_of(strategy);
    spec.program.command = {"python3", "train.py"};
    INFO(strategy);
    for (const auto& problem : problems_of(spec)) CHECK_THAT(problem.message, !Catch::Contains("optimizer.name"));
  }
  auto named = spec_of("async-sgd");
  named.program.command = {"python3", "train.py"};
  named.optimizer.name = "adam";
  CHECK_THAT(problems_of(named).at(0).message, Catch::StartsWith("`async-sgd` does not go with `optimizer.name: adam`"));
}

TEST_CASE("a key that the strategy does not look at is refused")
{
  auto spec = spec_of("sync-sgd");
  spec.sync.period = 8;
  refused(spec, "`sync.period` is 8, but `sync-sgd` does not use it; it is for the EASGD family, local-sgd and diloco");
  spec = spec_of("local-sgd");
  spec.sync.period = 8;
  CHECK(is_good(spec));
  spec.sync.overlap = 1;
  refused(spec, "`sync.overlap` is 1, but `local-sgd` does not use it; it is for sync-easgd");
}

TEST_CASE("servers that hold parts of the parameters cannot clip, whoever updates the whole can")
{
  for (const std::string strategy : {"async-sgd", "hogwild-sgd"}) {
    auto spec = spec_of(strategy);
    spec.optimizer.name = "sgd";
    spec.optimizer.clip_norm = 1;
    refused(spec, "`optimizer.clip_norm` needs the whole gradient in one update, but with `" + strategy + "`");
  }
  for (const auto* strategy :
       {"sync-sgd", "hsgd", "local-sgd", "diloco", "sync-easgd", "decentralized-easgd", "easgd", "async-measgd"}) {
    auto spec = fitting_spec_of(strategy);
    spec.optimizer.clip_norm = 1;
    CHECK(is_good(spec));
  }
}

TEST_CASE("statistics are synchronized only among ranks that hold the same weights, and by their computing threads")
{
  const auto synchronized = [](const std::string& strategy) {
    auto spec = fitting_spec_of(strategy);
    spec.model.batch_norm = BatchNormSamples::synchronized;
    return spec;
  };
  auto spec = synchronized("sync-sgd");
  CHECK(is_good(spec));
  spec.sync.progress = ProgressMode::thread;
  refused(spec, "`model.batch_norm: synchronized` communicates during a pass, but with `sync.progress: thread`");
  spec = synchronized("hsgd");
  CHECK(is_good(spec));
  spec.sync.node_period = 4;
  const std::string needs = "`model.batch_norm: synchronized` needs ranks with the same weights at every step, and ";
  refused(spec, needs + "`hsgd` with `sync.node_period` above 1 lets them differ");
  refused(synchronized("easgd"), needs + "`easgd` lets them differ");
}

TEST_CASE("the gradient noise scale needs gradients that are summed in every step, and two of them")
{
  const auto measured = [](const std::string& strategy, std::int64_t ranks = 4) {
    auto spec = fitting_spec_of(strategy, ranks);
    spec.train.noise_scale = 10;
    return spec;
  };
  CHECK(is_good(measured("sync-sgd")));
  auto spec = measured("hsgd");
  CHECK(is_good(spec));
  spec.sync.node_period = 4;
  const std::string needs = "`train.noise_scale` needs a strategy that sums gradients over all ranks in every step, and ";
  refused(spec, needs + "`hsgd` with `sync.node_period` above 1 does not; take `sync-sgd`, or `hsgd` with `sync.node_period: 1`");
  refused(measured("local-sgd"), needs + "`local-sgd` does not");
  spec = measured("sync-sgd", 1);
  refused(spec, "`train.noise_scale` compares the gradients of at least two workers, and there is 1; give it more ranks, "
                "`train.accumulation` of at least 2, or remove `train.noise_scale`");
  spec.train.accumulation = 2;
  CHECK(is_good(spec));
  spec.train.accumulation = 1;
  spec.study.ranks = {1, 2}; // of the larger size
  CHECK(is_good(spec));
  spec.program.command = {"train.py"};
  refused(spec, "`train.noise_scale` of a program of your own is measured by dtctl_sync, and the recipe has no block `sync`");
  spec.program.sync = true;
  CHECK(is_good(spec));
}

TEST_CASE("servers leave a worker, and are needed but by hogwild on one node")
{
  auto spec = fitting_spec_of("easgd", 2);
  spec.sync.servers = 2;
  refused(spec, "`easgd` with 2 parameter servers (`sync.servers`) needs at least 3 ranks, and there are 2");
  spec.sync.servers = 0;
  refused(spec, "`easgd` needs a parameter server: `sync.servers` of at least 1");
  spec.sync.strategy = "hogwild-easgd";
  CHECK(is_good(spec));
  spec.resources.nodes = 2;
  refused(spec, "`sync.servers` 0 keeps the weights in the memory that the ranks of one node share, but there are 2 nodes");
}

TEST_CASE("elastic rates together stay at 1 or below")
{
  auto spec = fitting_spec_of("decentralized-easgd");
  spec.sync.alpha = 0.25;
  CHECK(is_good(spec));
  spec.sync.alpha = 0.5;
  refused(spec, "the elastic rates of 4 workers sum to 2; above 1 the training diverges. Lower `sync.alpha` or `sync.rho`");
  spec.sync.alpha = 0;
  spec.sync.rho = 50;
  refused(spec, "the elastic rates of 4 workers sum to 2"); // 4 x 0.01 x 50
  spec.sync.rho = 25;
  CHECK(is_good(spec));
  spec.sync.alpha = 0.1;
  refused(spec, "give either `sync.alpha` or `sync.rho`: alpha = learning rate x rho");
}

TEST_CASE("the allreduces of the MPI library and of Gloo have one wire format and cannot be polled")
{
  auto spec = spec_of("sync-sgd");
  for (const std::string allreduce : {"mpi", "gloo"}) {
    spec.sync.allreduce = allreduce;
    spec.sync.wire = Wire::bfloat16;
    refused(spec, "`sync.allreduce: " + allreduce + "` sends float32 only");
    spec.sync.wire = Wire::float32;
    spec.sync.progress = ProgressMode::poll;
    refused(spec, "`sync.allreduce: " + allreduce + "` is one call that cannot be moved on step by step");
    spec.sync.progress = ProgressMode::thread;
    CHECK(is_good(spec));
  }
  spec.sync.progress = ProgressMode::poll;
  spec.sync.allreduce = "ring";
  CHECK(is_good(spec));
}

TEST_CASE("what ranks exchange by is chosen for programs under dtctl_sync, and MPI needs ranks that it has started")
{
  auto spec = spec_of("sync-sgd");
  spec.sync.transport = SyncTransport::tcp;
  refused(spec, "`sync.transport: tcp` is for a program under dtctl_sync (`program.command`)");
  spec.program.command = {"python3", "train.py"};
  spec.program.sync = true;
  CHECK(is_good(spec));
  spec.sync.transport = SyncTransport::mpi;
  CHECK(is_good(spec));
  spec.resources.launcher = "dtjob";
  refused(spec, "`sync.transport: mpi` needs ranks that MPI starts, and `resources.launcher` is dtjob");
  spec.resources.launcher = "mpirun";
  spec.program.launch = ProgramLaunch::per_node;
  refused(spec,
          "`sync.transport: mpi` needs ranks that MPI starts, and with `program.launch: per-node` the program's launcher does");
}

TEST_CASE(
    "weights are not rounded on the wire, what is sent before the step is not of after it, and a centre is evaluated where it is")
{
  auto spec = spec_of("local-sgd");
  spec.sync.allreduce = "ring";
  spec.sync.wire = Wire::bfloat16;
  refused(spec, "`sync.wire` is bfloat16, but `local-sgd` does not use it; it is for sync-sgd, diloco and decentralized-easgd");
  spec = fitting_spec_of("sync-easgd");
  spec.sync.elastic = ElasticForm::after;
  refused(spec, "`sync.elastic: after` needs the weights after the step, which `sync.overlap: 3` has sent before");
  spec.sync.overlap = 2;
  CHECK(is_good(spec));
  for (const auto* strategy : {"sync-easgd", "diloco", "local-sgd"}) {
    spec = fitting_spec_of(strategy);
    spec.sync.evaluate = EvaluatedModel::centre;
    if (spec.sync.strategy != "local-sgd") CHECK(is_good(spec));
  }
  refused(spec, "`sync.evaluate: centre` needs a strategy with a centre, and `local-sgd` has none");
}

TEST_CASE("keys of the outer optimizer are for diloco, whose fragments and delay fit its period")
{
  auto spec = spec_of("local-sgd");
  spec.sync.outer.learning_rate = 1;
  refused(spec, "`sync.outer.learning_rate` is 1, but `local-sgd` does not use it; it is for diloco");
  spec = spec_of("diloco");
  spec.sync.period = 8;
  spec.sync.outer = {.fragments = 8, .delay = 7, .mix = 0.5};
  spec.sync.allreduce = "ring";
  spec.sync.progress = ProgressMode::poll;
  CHECK(is_good(spec));
  spec.sync.outer.fragments = 9;
  refused(spec, "`sync.outer.fragments` is 9, but `sync.period` is 8, and each fragment needs a step of the period for itself");
  spec.sync.outer.fragments = 1;
  spec.sync.outer.delay = 8;
  refused(spec, "`sync.outer.delay` is 8, but `sync.period` is 8");
  spec.sync.outer.delay = 0;
  refused(spec, "`sync.progress: poll` has nothing to advance: without `sync.outer.delay`");
}

TEST_CASE("int8 and int4 are for pseudo-gradients, and have a sum of their own")
{
  auto spec = spec_of("sync-sgd");
  spec.sync.allreduce = "ring";
  spec.sync.wire = Wire::int8;
  refused(spec, "`sync.wire: int8` is for the pseudo-gradients of diloco");
  spec = spec_of("diloco");
  spec.sync.wire = Wire::int4;
  CHECK(is_good(spec));
  spec.sync.allreduce = "ring";
  refused(spec, "`sync.wire: int4` has a sum of its own, so `sync.allreduce: ring` has no effect");
}
