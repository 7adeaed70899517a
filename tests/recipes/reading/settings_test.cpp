#include "recipes/reading/settings.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

RunSpec run_with(const std::vector<std::string>& set, const std::string& text = minimal())
{
  return plan_of(text, with_set(set)).runs.at(0);
}

std::string errors_with(const std::string& set, const std::string& text = minimal()) { return errors_of(text, with_set({set})); }

} // namespace

TEST_CASE("option --set is stronger than the recipe, the last one strongest, and takes away the alternative of its key")
{
  CHECK(run_with({"train.epochs=3"}).train.epochs == 3);
  CHECK(run_with({"train.epochs=3", "train.epochs=4"}).train.epochs == 4);
  const auto run = run_with({"train.steps=100", "train.batch_per_rank=8"});
  CHECK(run.train.epochs == 0);
  CHECK(run.train.steps == 100);
  CHECK(run.train.global_batch == 0);
  CHECK(run.train.batch_per_rank == 8);
}

TEST_CASE("option --set takes texts as they are, lists with and without brackets, and single variables of a map")
{
  CHECK(run_with({"name=$(touch /tmp/x); '"}).name == "$(touch /tmp/x); '");
  CHECK(run_with({"description=a: b # c"}).description == "a: b # c");
  CHECK(run_with({"description=\"quoted\""}).description == "quoted");
  CHECK(run_with({"resources.account=a=b"}).resources.account == "a=b");
  CHECK(run_with({"resources.account="}, minimal("resources: { account: x }\n")).resources.account.empty());
  CHECK(run_with({"resources.time_limit=1:30:00"}).resources.time_limit_s == 5400);
  CHECK(run_with({"resources.modules=gcc,openmpi"}).resources.modules == std::vector<std::string>{"gcc", "openmpi"});
  CHECK(run_with({"resources.modules=[gcc, openmpi]"}).resources.modules == std::vector<std::string>{"gcc", "openmpi"});
  const auto env =
      run_with({"resources.env.B=[2", "resources.env={C: 3}"}, minimal("resources: { env: { A: 1, B: 1 } }\n")).resources.env;
  CHECK(env == std::map<std::string, std::string>{{"A", "1"}, {"B", "[2"}, {"C", "3"}});
}

TEST_CASE("option --set names its mistakes: the nearest key, where what is no value goes, and what the sweep varies")
{
  const std::string paths = "a full path in model, data, program, train, optimizer, sync, resources, platform, study";
  check_refused([](const std::string& set) { return errors_with(set); },
                {{"train.epochs", "--set: `train.epochs` is not of the form key.path=value"},
                 {"=3", "--set: `=3` is not of the form key.path=value"},
                 {"train.epochs=many", "--set: `train.epochs` must be a number, not `many`"},
                 {"train.epochs=", "--set: `train.epochs` has no value; give one or remove the key"},
                 {"train.epochs=[", "--set: not valid YAML: a `[` is never closed, or a `,` is missing"},
                 {"name=\xff", "--set: `name=\\xff` is not UTF-8 text"},
                 {"train.epoch=3",
                  "--set: unknown key `train.epoch`; did you mean `train.epochs`? Allowed: " + allowed_keys("train", "train.")},
                 {"epochs=3", "--set: unknown key `epochs`; did you mean `train.epochs`? Allowed: " + paths},
                 {"foo.bar=3", "--set: unknown key `foo.bar`; allowed: " + paths},
                 {"sweep.matrix={}", "--set: `sweep.matrix` cannot be set here; a sweep is written in the recipe, or as --over"},
                 {"profile=x", "--set: `profile` cannot be set here; write it in the recipe, or use --profile"},
                 {"version=2", "--set: `version` cannot be set here; it can only be set in the recipe"},
                 {"train.steps=5", "--set: `train.warmup_steps` 5 leaves none of the run's 5 steps to measure"}});
  const auto sweep = minimal("sweep: { matrix: { train.epochs: [1, 2] } }\n");
  for (const std::string key : {"train.epochs", "train.steps"})
    CHECK_THAT(errors_with(key + "=5", sweep), Catch::StartsWith("--set: `" + key + "` has no effect, because the sweep varies"));
}

TEST_CASE("option --set with several values of a key that takes one names --over")
{
  const std::string advice = "; to run it with each of several values, use --over ";
  CHECK_THAT(errors_with("optimizer.learning_rate=0.1,0.2"), Catch::EndsWith(advice + "optimizer.learning_rate=0.1,0.2"));
  CHECK(errors_with("sync.strategy=easgd,hsgd").ends_with(advice + "sync.strategy=easgd,hsgd"));
  CHECK(errors_with("train.seed=[1, 2]").ends_with(advice + "train.seed=1, 2"));
  CHECK(errors_with("train.seed=1..4").ends_with(advice + "train.seed=1..4"));
  CHECK(errors_with("study.ranks=1,x").find("--over") == std::string::npos);
  CHECK(errors_with("train.stall_after=1,2").find("--over") == std::string::npos); // it cannot vary
}

TEST_CASE("a relative data path or checkpoint to start from is relative to the file it stands in, on the command line to here")
{
  const TemporaryFolder folder;
  const auto file = folder.write("sub/r.yaml", "version: 1\nmodel: { name: lenet }\ndata: { name: mnist, path: ../m }\n"
                                               "train: { global_batch: 64, epochs: 2, start_from: ../step-9.safetensors }\n");
  const auto run = load_plan(file, {}).runs.at(0);
  CHECK(run.data.path == (folder.path() / "m").string());
  CHECK(run.train.start_from == (folder.path() / "step-9.safetensors").string());
  CHECK(load_plan(file, with_set({"data.path=m"})).runs.at(0).data.path == (std::filesystem::current_path() / "m").string());
  CHECK(load_plan(file, with_set({"data.path=/m"})).runs.at(0).data.path == "/m");
}
