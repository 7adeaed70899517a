#include "recipes/reading/settings.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

RunSpec run_with(const std::vector<std::string>& set, const std::string& text = minimal())
{
  LoadOptions options;
  options.set = set;
  return plan_of(text, options).runs.at(0);
}

std::string errors_with(const std::string& set, const std::string& text = minimal())
{
  LoadOptions options;
  options.set = {set};
  return errors_of(text, options);
}

} // namespace

TEST_CASE("option --set is stronger than the recipe, the last one strongest")
{
  CHECK(run_with({"train.epochs=3"}).train.epochs == 3);
  CHECK(run_with({"train.epochs=3", "train.epochs=4"}).train.epochs == 4);
}

TEST_CASE("option --set takes texts as they are")
{
  CHECK(run_with({"name=$(touch /tmp/x); '"}).name == "$(touch /tmp/x); '");
  CHECK(run_with({"description=a: b # c"}).description == "a: b # c");
  CHECK(run_with({"description=\"quoted\""}).description == "quoted");
  CHECK(run_with({"resources.account=a=b"}).resources.account == "a=b");
  CHECK(run_with({"resources.account="}, minimal("resources: { account: x }\n")).resources.account.empty());
  CHECK(run_with({"resources.time_limit=1:30:00"}).resources.time_limit_s == 5400);
}

TEST_CASE("option --set takes lists with and without brackets, and single variables of a map")
{
  CHECK(run_with({"resources.modules=gcc,openmpi"}).resources.modules == std::vector<std::string>{"gcc", "openmpi"});
  CHECK(run_with({"resources.modules=[gcc, openmpi]"}).resources.modules == std::vector<std::string>{"gcc", "openmpi"});
  const auto env =
      run_with({"resources.env.B=[2", "resources.env={C: 3}"}, minimal("resources: { env: { A: 1, B: 1 } }\n")).resources.env;
  CHECK(env == std::map<std::string, std::string>{{"A", "1"}, {"B", "[2"}, {"C", "3"}});
}

TEST_CASE("option --set of one key takes away its alternative")
{
  const auto run = run_with({"train.steps=100", "train.batch_per_rank=8"});
  CHECK(run.train.epochs == 0);
  CHECK(run.train.steps == 100);
  CHECK(run.train.global_batch == 0);
  CHECK(run.train.batch_per_rank == 8);
}

TEST_CASE("option --set names its mistakes")
{
  CHECK(errors_with("train.epochs") == "--set: `train.epochs` is not of the form key.path=value");
  CHECK(errors_with("=3") == "--set: `=3` is not of the form key.path=value");
  CHECK(errors_with("train.epochs=many") == "--set: `train.epochs` must be a number, not `many`");
  CHECK(errors_with("train.epochs=") == "--set: `train.epochs` has no value; give one or remove the key");
  CHECK(errors_with("train.epochs=[") == "--set: not valid YAML: a `[` is never closed, or a `,` is missing");
  CHECK(errors_with("name=\xff") == "--set: `name=\\xff` is not UTF-8 text");
}

TEST_CASE("option --set with several values of a key that takes one names --over")
{
  const std::string advice = "; to run it with each of several values, use --over ";
  CHECK(errors_with("optimizer.learning_rate=0.1,0.2") ==
        "--set: `optimizer.learning_rate` must be a number, not `0.1,0.2`" + advice + "optimizer.learning_rate=0.1,0.2");
  CHECK(errors_with("sync.strategy=easgd,hsgd").ends_with(advice + "sync.strategy=easgd,hsgd"));
  CHECK(errors_with("train.seed=[1, 2]").ends_with(advice + "train.seed=1, 2"));
  CHECK(errors_with("train.seed=1..4").ends_with(advice + "train.seed=1..4"));
  CHECK(errors_with("study.ranks=1,x").find("--over") == std::string::npos);
  CHECK(errors_with("train.stall_after=1,2").find("--over") == std::string::npos); // it cannot vary
}

TEST_CASE("option --set of an unknown key names the nearest")
{
  const auto train = allowed_keys("train", "train.");
  CHECK(errors_with("train.epoch=3") == "--set: unknown key `train.epoch`; did you mean `train.epochs`? Allowed: " + train);
  CHECK(errors_with("epochs=3") == "--set: unknown key `epochs`; did you mean `train.epochs`? Allowed: a full path in model, "
                                   "data, program, train, optimizer, sync, resources, platform, study");
  CHECK(errors_with("foo.bar=3") == "--set: unknown key `foo.bar`; allowed: a full path in model, data, program, train, "
                                    "optimizer, sync, resources, platform, study");
}

TEST_CASE("option --set of what is no value says where it goes")
{
  CHECK(errors_with("sweep.matrix={}") ==
        "--set: `sweep.matrix` cannot be set here; a sweep is written in the recipe, or as --over key.path=a,b,c");
  CHECK(errors_with("profile=x") == "--set: `profile` cannot be set here; write it in the recipe, or use --profile");
  CHECK(errors_with("version=2") == "--set: `version` cannot be set here; it can only be set in the recipe");
}

TEST_CASE("option --set of what the sweep varies is refused, for it would do nothing")
{
  const auto sweep = minimal("sweep: { matrix: { train.epochs: [1, 2] } }\n");
  CHECK(errors_with("train.epochs=5", sweep) ==
        "--set: `train.epochs` has no effect, because the sweep varies `train.epochs`; use --over train.epochs=…");
  CHECK(errors_with("train.steps=5", sweep) ==
        "--set: `train.steps` has no effect, because the sweep varies `train.epochs`; use --over train.epochs=…");
}

TEST_CASE("a check between keys that --set breaks points at --set")
{
  CHECK(errors_with("train.steps=5") == "--set: `train.warmup_steps` 5 leaves none of the run's 5 steps to measure");
}

TEST_CASE("a relative checkpoint to start from is relative to the file it stands in")
{
  const TemporaryFolder folder;
  const auto file = folder.write("sub/r.yaml", "version: 1\nmodel: { name: lenet }\ndata: { name: digits }\n"
                                               "train: { global_batch: 64, epochs: 2, start_from: ../step-9.safetensors }\n");
  CHECK(load_plan(file, {}).runs.at(0).train.start_from == (folder.path() / "step-9.safetensors").string());
}

TEST_CASE("a relative data path is relative to the file it stands in, on the command line to here")
{
  const TemporaryFolder folder;
  const auto file = folder.write(
      "sub/r.yaml",
      "version: 1\nmodel: { name: lenet }\ndata: { name: mnist, path: ../m }\ntrain: { global_batch: 64, epochs: 2 }\n");
  CHECK(load_plan(file, {}).runs.at(0).data.path == (folder.path() / "m").string());
  LoadOptions options;
  options.set = {"data.path=m"};
  CHECK(load_plan(file, options).runs.at(0).data.path == (std::filesystem::current_path() / "m").string());
  options.set = {"data.path=/m"};
  CHECK(load_plan(file, options).runs.at(0).data.path == "/m");
}
