#include "recipes/expansion/placeholders.hpp"

#include "tests/core/error_of.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

RunSpec sample()
{
  RunSpec run;
  run.optimizer.learning_rate = 0.05;
  run.train.seed = 7;
  run.train.stop_at_target = true;
  run.program.parameters = {{"hidden", "32"}};
  return run;
}

// A recipe of a program, with more lines.
std::string own(const std::string& command, const std::string& more = "")
{
  return "version: 1\nprogram: { command: " + command + ", parameters: { hidden: 16 } }\n" + more;
}

std::vector<std::string> command_of(const std::string& text, std::size_t run = 0)
{
  return plan_of(text).runs.at(run).program.command;
}

} // namespace

TEST_CASE("a placeholder is replaced by the value of its key, in the shortest form, anywhere in a word, for each run of a sweep")
{
  CHECK(with_values("--lr={optimizer.learning_rate}", sample()) == "--lr=0.05");
  CHECK(with_values("{train.seed}-{program.parameters.hidden}", sample()) == "7-32");
  CHECK(with_values("{ train.stop_at_target }", sample()) == "true");
  CHECK(with_values("{{a}} {{{train.seed}}}", sample()) == "{a} {7}");
  CHECK(with_values("", sample()).empty());
  const auto text =
      own("[train, \"{program.parameters.hidden}\", \"{train.seed}\"]",
          "sweep: { matrix: { program.parameters.hidden: [16, 32] } }\nstudy: { repeats: 2, vary_seed: true, order: listed }\n");
  CHECK(command_of(text, 0) == std::vector<std::string>{"train", "16", "1"});
  CHECK(command_of(text, 1) == std::vector<std::string>{"train", "16", "2"});
  CHECK(command_of(text, 2) == std::vector<std::string>{"train", "32", "1"});
}

TEST_CASE("a placeholder without a value, an unknown one and a single brace are refused")
{
  check_refused([](const std::string& word) { return dt::test::message_of([&] { with_values(word, sample()); }); },
                {{"{optimizer.learning_rat}",
                  "names the unknown key `{optimizer.learning_rat}`; did you mean `{optimizer.learning_rate}`?"},
                 {"{hidden}", "names the unknown key `{hidden}`; did you mean `{program.parameters.hidden}`?"},
                 {"{program.parameters.width}", "names the unknown key `{program.parameters.width}`"},
                 {"{model.name}", "names `{model.name}`, which has no value in this run"},
                 {"{study.ranks}", "names `{study.ranks}`, which has no single value; the JSON file DTCTL_SPEC has it"},
                 {"a}", "has a `}` without its partner; write a brace twice: `{{`, `}}`"},
                 {"{a", "has a `{` without its partner; write a brace twice: `{{`, `}}`"}});
}

TEST_CASE("a variable of resources.env does not come into a command line, where others can see it")
{
  const std::string secret = "resources: { env: { API_TOKEN: s3cret } }\n";
  const auto refusal = errors_of(own("[train, \"--token={resources.env.API_TOKEN}\"]", secret));
  CHECK_THAT(refusal, Catch::StartsWith("r.yaml:2:29: `program.command` names `{resources.env.API_TOKEN}`, but values of"));
  CHECK_THAT(refusal, !Catch::Contains("s3cret"));
  CHECK_THAT(errors_of(own("[train, \"{API_TOKEN}\"]", secret)), !Catch::Contains("did you mean"));
}

TEST_CASE("a program needs no model, data, batch or length, and dtengine's keys are refused where they stand")
{
  CHECK(errors_of(own("[train]")).empty());
  const auto keys = own("[train]", "engine: reference\ntrain: { modelled_rate: 5 }\n");
  CHECK(places_of(keys) == "3:9 4:25");
  CHECK_THAT(errors_of(keys), Catch::StartsWith("r.yaml:3:9: `engine` has no effect, because only dtengine reads it"));
  CHECK(errors_of(own("[train]", "train: { trace: true }\n")).empty()); // of a PyTorch program that is observed
  CHECK(errors_of(own("train it")) == "r.yaml:2:21: `program.command` must be a list; write [train, it]");
}

TEST_CASE("a block sync says that the program trains with dtctl_sync, and how")
{
  const auto run = [](const std::string& more) { return plan_of(own("[train]", more)).runs.front(); };
  CHECK_FALSE(run("").program.sync);
  CHECK(run("sync: { strategy: local-sgd, period: 4 }\n").program.sync);
  CHECK(run("sync: { strategy: local-sgd, period: 4 }\n").sync.period == 4);
  // The workers' rule is the program's own, but a server applies plain SGD.
  CHECK(run("sync: { strategy: decentralized-easgd }\noptimizer: { name: adam }\n").sync.alpha > 0);
  const auto served =
      own("[train]", "sync: { strategy: async-sgd }\noptimizer: { name: adam }\nresources: { ranks_per_node: 2 }\n");
  CHECK_THAT(errors_of(served), Catch::Contains("its servers apply plain SGD"));
}

TEST_CASE("a sweep over the command runs dtengine and the program, and dtengine's keys are dtengine's only")
{
  const auto plan = plan_of(minimal("sync: { period: 1, allreduce: ring }\nprogram: { parameters: { a: 1 } }\n"
                                    "sweep: { matrix: { program.command: [[], [train]] } }\n"));
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[0].label == "command=dtengine");
  CHECK_FALSE(plan.runs[0].is_own_program());
  CHECK(plan.runs[0].sync.allreduce == "ring");
  CHECK(plan.runs[0].program.parameters.empty());
  CHECK(plan.runs[1].is_own_program());
  CHECK(plan.runs[1].sync.allreduce == "mpi");
}

TEST_CASE("GPUs, parameters and wrappers are checked against each other")
{
  check_refused([](const std::string& text) { return errors_of(text); },
                {{own("[train]", "resources: { gpus_per_rank: 2, gpus_per_node: 2, ranks_per_node: 2 }\n"),
                  "r.yaml:3:29: 2 ranks on a node with 2 GPUs each (`resources.gpus_per_rank`) need 4"},
                 {"version: 1\nprogram: { command: [a], parameters: { b: 1, B: 2 } }\n",
                  "r.yaml:2:38: `program.parameters` has the names `B` and `b`, which are one environment variable"},
                 {minimal("program: { files: [x] }\n"), "r.yaml:5:19: `program.files` has an effect only together with"},
                 {own("[train]", "resources: { gpus_per_rank: 1, gpus_per_node: 0 }\n"),
                  "r.yaml:3:29: `resources.gpus_per_rank` needs GPUs, but `resources.gpus_per_node` is 0"}});
}

TEST_CASE("each size of a study asks for the GPUs of its ranks, unless the recipe says how many a node has")
{
  const auto gpus_of = [](const std::string& resources, const std::string& study) {
    std::vector<std::int64_t> gpus;
    for (const auto& run : plan_of(own("[train]", "resources: { scheduler: slurm, " + resources + " }\nstudy: { mode: strong, " +
                                                      study + ", order: listed }\n"))
                               .runs)
      gpus.push_back(run.resources.gpus_per_node);
    return gpus;
  };
  CHECK(gpus_of("gpus_per_rank: 1", "ranks: [1, 2, 4]") == std::vector<std::int64_t>{1, 2, 4});
  CHECK(gpus_of("gpus_per_rank: 2, ranks_per_node: 2", "nodes: [1, 2]") == std::vector<std::int64_t>{4, 4});
  CHECK(gpus_of("gpus_per_rank: 1, gpus_per_node: 4", "ranks: [1, 2, 4]") == std::vector<std::int64_t>{4, 4, 4});
}
