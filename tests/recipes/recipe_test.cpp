#include "recipes/recipe.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

TEST_CASE("a plan carries its recipe, and a file's odd name becomes a printable one")
{
  const TemporaryFolder folder;
  const auto text = minimal("description: about it\n");
  const auto file = folder.write("my-study.yaml", text);
  const auto plan = load_plan(file, {});
  CHECK(plan.name == "my-study");
  CHECK(plan.description == "about it");
  CHECK(plan.path == file.string());
  CHECK(plan.text == text);
  CHECK(plan.runs.at(0).name == "my-study");
  CHECK(load_plan(folder.write("x.yaml", minimal("name: given\n")), {}).name == "given");
  CHECK(load_plan(folder.write("a\nb.yaml", minimal()), {}).name == "a\\x0ab");
}

TEST_CASE("every key of a recipe reaches its run")
{
  const auto run = plan_of(R"(version: 1
name: all
model: { name: lenet }
data: { name: synthetic, train_samples: 1000, test_samples: 100, channels: 3, height: 32, width: 33, classes: 7, shuffle: false, prefetch_batches: 0 }
train: { batch_per_rank: 10, steps: 40, warmup_steps: 4, seed: 9, eval_every_epochs: 0.5, target_accuracy: 0.9, stop_at_target: true }
optimizer: { name: sgd, learning_rate: 0.1, momentum: 0.5, weight_decay: 0.001, schedule: step, step_epochs: 3, step_factor: 0.5, polynomial_power: 1, final_learning_rate: 0.001, warmup_epochs: 1, warmup_factor: 0.2, linear_scaling: true }
sync: { strategy: sync-sgd, allreduce: mpi }
resources: { nodes: 2, ranks_per_node: 3, threads_per_rank: 4, time_limit: 2h, oversubscribe: true, scheduler: local, launcher: mpirun, launcher_args: [--tag-output], partition: p, account: a, qos: q, constraint: c, modules: [m], env: { E: 1 }, setup: [ulimit -s unlimited], scheduler_args: [--exclusive] }
)")
                       .runs.at(0);
  CHECK(run.data.width == 33);
  CHECK_FALSE(run.data.shuffle);
  CHECK(run.train.batch_per_rank == 10);
  CHECK(run.train.stop_at_target);
  CHECK(run.optimizer.name == "sgd");
  CHECK(run.optimizer.warmup_factor == 0.2);
  CHECK(run.optimizer.linear_scaling);
  CHECK(run.ranks() == 6);
  CHECK(run.resources.time_limit_s == 7200);
  CHECK(run.resources.launcher_args == std::vector<std::string>{"--tag-output"});
  CHECK(run.resources.env.at("E") == "1");
  CHECK(run.resources.setup == std::vector<std::string>{"ulimit -s unlimited"});
  CHECK(run.resources.scheduler_args == std::vector<std::string>{"--exclusive"});
}

TEST_CASE("layers lie as promised: default, profile, extends, recipe, --set, sweep point")
{
  const TemporaryFolder folder;
  LoadOptions options;
  options.user_config = folder.write(
      "user.yaml", "profiles: { p: { resources: { threads_per_rank: 2, nodes: 2, account: profile, qos: profile } } }\n");
  options.profile = "p";
  options.set = {"optimizer.learning_rate=0.4", "optimizer.momentum=0.4"};
  options.over = {"optimizer.weight_decay=0.5"};
  folder.write("base.yaml", "version: 1\nmodel: { name: lenet }\ndata: { name: digits }\nresources: { nodes: 4, account: base "
                            "}\noptimizer: { learning_rate: 0.2, weight_decay: 0.2, step_factor: 0.2 }\n");
  const auto file = folder.write("r.yaml", "version: 1\nextends: base.yaml\ntrain: { global_batch: 64, epochs: 1 }\nresources: { "
                                           "account: recipe }\noptimizer: { learning_rate: 0.3, weight_decay: 0.3 }\n");
  const auto run = load_plan(file, options).runs.at(0);
  CHECK(run.resources.ranks_per_node == 1); // default
  CHECK(run.resources.qos == "profile");    // over the default
  CHECK(run.resources.nodes == 4);          // extends over the profile
  CHECK(run.optimizer.step_factor == 0.2);
  CHECK(run.resources.account == "recipe");  // over extends
  CHECK(run.optimizer.learning_rate == 0.4); // --set over the recipe
  CHECK(run.optimizer.weight_decay == 0.5);  // the sweep over all
}

TEST_CASE("a plan knows what kind it is")
{
  CHECK(plan_of(minimal()).kind == PlanKind::single);
  CHECK(plan_of(minimal("study: { repeats: 2 }\n")).kind == PlanKind::sweep);
  CHECK(plan_of(minimal("sweep: { matrix: { train.seed: [1] } }\n")).kind == PlanKind::sweep);
  CHECK(plan_of(minimal("study: { mode: strong, ranks: [1] }\n")).kind == PlanKind::strong);
  CHECK(plan_of("version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: { batch_per_rank: 64, epochs: 2 }\nstudy: { "
                "mode: weak, ranks: [1] }\n")
            .kind == PlanKind::weak);
  CHECK(plan_of(minimal("study: { mode: partition, parts: [1] }\n")).kind == PlanKind::partition);
  CHECK(name_of(PlanKind::strong) == "strong");
}

TEST_CASE("a run's name tells point, size and repeat, as far as there are several")
{
  RunSpec run;
  run.name = "n";
  CHECK(run_name(run) == "n");
  run.label = "seed=1";
  CHECK(run_name(run) == "n/seed=1");
  run.study.repeats = 3;
  run.repeat = 1;
  CHECK(run_name(run) == "n/seed=1/#2");
  run.study.ranks = {1, 2};
  run.resources.ranks_per_node = 2;
  CHECK(run_name(run) == "n/seed=1 ranks=2/#2");
}

TEST_CASE("all mistakes of a recipe come in one pass")
{
  CHECK(places_of(R"(version: 1
model: { name: lennet }
data: { name: digits, chanels: 3 }
train:
  epochs: "3"
  global_batch: 100
  global_batch: 100
  stop_at_target: yes
optimizer: { learning_rate: .nan, momentum: 2 }
resources: { time_limit: soon, modules: gcc, env: { 1A: x } }
study: { mode: strng, ranks: [1, 3] }
sweep:
  matrix: { train.sede: [1], optimizer.weight_decay: [] }
  exclude: [resources.nodes>x]
)") == "2:16 3:23 5:11 6:17 7:3 8:19 9:29 9:45 10:26 10:41 10:51 11:16 13:13 13:54 14:13");
}
