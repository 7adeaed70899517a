#include "recipes/checks/checks.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

RunSpec good()
{
  RunSpec spec;
  spec.name = "n";
  spec.model.name = "lenet";
  spec.data.name = "digits";
  spec.train.global_batch = 64;
  spec.train.epochs = 2;
  return spec;
}

// The messages about `good()` after a change, a line each.
template<class Change> std::string problems_after(Change change)
{
  auto spec = good();
  change(spec);
  std::string text;
  for (const auto& problem : find_problems(spec)) text += (text.empty() ? "" : "\n") + problem.message;
  return text;
}

} // namespace

TEST_CASE("a warning must come before the time limit")
{
  CHECK(problems_after([](RunSpec& s) { s.resources.time_limit_s = 90, s.resources.signal_ahead_s = 90; }) ==
        "`resources.signal_ahead` 1m30s must be below `resources.time_limit` 1m30s");
  CHECK(problems_after([](RunSpec& s) { s.resources.when_idle_s = 60; }).empty());
  CHECK(problems_after([](RunSpec& s) { s.resources.scheduler = "slurm", s.resources.when_idle_s = 60; }) ==
        "`resources.when_idle` makes runs wait in the queue of this machine, and the scheduler is `slurm`; a cluster gives nodes "
        "to "
        "a job when they are free");
  CHECK(problems_after([](RunSpec& s) { s.resources.time_limit_s = 91, s.resources.signal_ahead_s = 90; }).empty());
  CHECK(problems_after([](RunSpec& s) { s.resources.time_limit_s = 1, s.resources.signal_ahead_s = 0; }).empty());
}

TEST_CASE("a model has a known name or layers of its own, not both")
{
  CHECK(problems_after([](RunSpec& s) { s.model = {.name = "custom", .layers = {"relu"}}; }).empty());
  CHECK(problems_after([](RunSpec& s) { s.model.name = "custom"; }) ==
        "`model.name` custom needs `model.layers`: the layers of the network");
  CHECK(problems_after([](RunSpec& s) { s.model.layers = {"relu"}; }) ==
        "`model.layers` describes a custom network, so `model.name` must be custom or absent, not `lenet`");
}

TEST_CASE("fixed algorithms need a list, and a list needs fixed algorithms")
{
  using enum AlgorithmChoice;
  const auto with = [](AlgorithmChoice how, const std::string& from, const std::vector<std::string>& list) {
    return problems_after(
        [&](RunSpec& s) { s.train.algorithms = how, s.train.algorithms_from = from, s.train.algorithm_list = list; });
  };
  const std::vector<std::string> list{"conv1 direct direct direct"};
  CHECK(with(fixed, "/runs/abcd", {}).empty());
  CHECK(with(fixed, "", list).empty());
  CHECK(with(fixed, "", {}) ==
        "`train.algorithms` fixed needs the choices to repeat: give `train.algorithms_from`, the key of a run or the path of an "
        "algorithms.json");
  CHECK(with(fixed, "/runs/abcd", list) == "`train.algorithms_from` and `train.algorithm_list` exclude each other; keep one");
  CHECK(with(timed, "/runs/abcd", {}) ==
        "`train.algorithms_from` has an effect only with `train.algorithms` fixed; set that, or remove the key");
  CHECK(with(rules, "", list) ==
        "`train.algorithm_list` has an effect only with `train.algorithms` fixed; set that, or remove the key");
  CHECK(problems_after([&](RunSpec& s) {
          s.engine = Engine::reference, s.train.algorithms = fixed, s.train.algorithm_list = list;
        }) == "`engine: reference` has one algorithm only, plain loops; remove `train.algorithms`");
}

TEST_CASE("a good run has no problems") { CHECK(find_problems(good()).empty()); }

TEST_CASE("what a run cannot do without is asked for")
{
  RunSpec spec;
  const auto problems = find_problems(spec);
  REQUIRE(problems.size() == 5);
  CHECK(problems[0].message == "`name` must not be empty");
  CHECK(problems[1].message == "`model.name` is missing: say which network to train");
  CHECK(problems[2].message == "`data.name` is missing: say which data set to train on");
  CHECK(problems[3].message == "give either `train.batch_per_rank` or `train.global_batch`");
  CHECK(problems[4].message == "give either `train.epochs` or `train.steps`");
}

TEST_CASE("the global batch is a multiple of the ranks")
{
  CHECK(problems_after([](RunSpec& s) {
          s.resources.ranks_per_node = 4;
          s.resources.nodes = 16;
        }).empty());
  CHECK(problems_after([](RunSpec& s) { s.resources.ranks_per_node = 7; }) ==
        "`train.global_batch` 64 is not a multiple of 7 ranks; 63 and 70 are");
  CHECK(problems_after([](RunSpec& s) { s.resources.nodes = 65; }) ==
        "`train.global_batch` 64 is not a multiple of 65 ranks; 65 is");
}

TEST_CASE("a batch beyond counting is refused, not overflown")
{
  const auto huge = [](RunSpec& s) {
    s.train = {}, s.train.epochs = 1, s.train.batch_per_rank = 2'100'000'000, s.resources.nodes = 1'000'000,
    s.resources.ranks_per_node = 65536;
  };
  CHECK(problems_after(huge) == "`train.batch_per_rank` 2100000000 on 65536000000 ranks is more than 1e15 samples a step");
}

TEST_CASE("warm-up leaves steps to measure")
{
  CHECK(problems_after([](RunSpec& s) { s.train.epochs = 0, s.train.steps = 6; }).empty());
  CHECK(problems_after([](RunSpec& s) { s.train.epochs = 0, s.train.steps = 5; }) ==
        "`train.warmup_steps` 5 leaves none of the run's 5 steps to measure");
  CHECK(problems_after([](RunSpec& s) { s.data.name = "synthetic", s.train.epochs = 1, s.train.warmup_steps = 128; }) ==
        "`train.warmup_steps` 128 leaves none of the run's 128 steps to measure");
  CHECK(problems_after([](RunSpec& s) { s.data.train_samples = 640, s.train.warmup_steps = 19; }).empty());
}

TEST_CASE("a step needs as many samples as it takes")
{
  CHECK(problems_after([](RunSpec& s) { s.data.train_samples = 60; }) ==
        "one step of 64 samples needs more than the 60 there are to train on");
  CHECK(problems_after([](RunSpec& s) { s.data.name = "synthetic", s.train.global_batch = 16384; }) ==
        "one step of 16384 samples needs more than the 8192 there are to train on");
}

TEST_CASE("stopping at the target needs a target")
{
  CHECK(problems_after([](RunSpec& s) { s.train.stop_at_target = true; }) ==
        "`train.stop_at_target` needs a `train.target_accuracy` above 0");
  CHECK(problems_after([](RunSpec& s) { s.train.stop_at_target = true, s.train.target_accuracy = 0.9; }).empty());
}

TEST_CASE("micro-batches divide a rank's batch")
{
  CHECK(problems_after([](RunSpec& s) { s.train.accumulation = 4; }).empty());
  CHECK(problems_after([](RunSpec& s) { s.train.accumulation = 3; }) ==
        "`train.accumulation` 3 does not divide the 64 samples of a rank's batch");
  CHECK(problems_after([](RunSpec& s) { s.train.accumulation = 32, s.resources.ranks_per_node = 4; }) ==
        "`train.accumulation` 32 does not divide the 16 samples of a rank's batch");
}

TEST_CASE("the reference engine computes in fp32 only")
{
  CHECK(problems_after([](RunSpec& s) { s.engine = Engine::reference, s.train.precision = Precision::bf16; }) ==
        "`engine: reference` computes in fp32 only, not in bf16");
}

TEST_CASE("an image has a size that fits a machine")
{
  CHECK(problems_after([](RunSpec& s) { s.data.channels = s.data.height = s.data.width = 65536; }) ==
        "an image of 65536 x 65536 x 65536 has more than 100000000 values");
}

TEST_CASE("environment variables have names a shell can export")
{
  CHECK(problems_after([](RunSpec& s) { s.resources.env = {{"OMP_PROC_BIND", "x"}, {"_a1", ""}}; }).empty());
  CHECK(problems_after([](RunSpec& s) {
          s.resources.env = {{"1A", ""}};
        }) == "`resources.env` names the variable `1A`; allowed: letters, digits and _, not beginning with a digit");
  CHECK(problems_after([](RunSpec& s) {
          s.resources.env = {{"A=$(x)", ""}, {"", ""}};
        }) == "`resources.env` names the variable ``; allowed: letters, digits and _, not beginning with a digit\n"
              "`resources.env` names the variable `A=$(x)`; allowed: letters, digits and _, not beginning with a digit");
}

TEST_CASE("variables and words that no program can be started with are refused")
{
  const std::string longest(128 * 1024 - 1, 'x');
  CHECK(problems_after([&](RunSpec& s) { s.resources.env = {{"A", longest.substr(2)}}; }).empty());
  CHECK(problems_after([&](RunSpec& s) {
          s.resources.env = {{"A", longest}};
        }) == "`resources.env`: the variable `A` has 131073 bytes; no program can be started with more than 131071");
  CHECK(problems_after([&](RunSpec& s) {
          s.resources.env = {{"A", std::string("a\0b", 3)}};
        }) == "`resources.env`: the variable `A` holds a byte of value 0, at which it would end");
  CHECK(problems_after([](RunSpec& s) {
          s.resources.env = {{"UID", "1"}};
        }) == "`resources.env` names the variable `UID`, which bash sets itself; choose another name");
}

TEST_CASE("strong scaling keeps the global batch, weak scaling that of a rank")
{
  const auto per_rank = [](RunSpec& s) { s.train.global_batch = 0, s.train.batch_per_rank = 8; };
  CHECK(problems_after([](RunSpec& s) { s.study.mode = StudyMode::strong; }).empty());
  CHECK(problems_after([&](RunSpec& s) { per_rank(s), s.study.mode = StudyMode::weak; }).empty());
  CHECK(problems_after([&](RunSpec& s) { per_rank(s), s.study.mode = StudyMode::strong; }) ==
        "in a strong-scaling study the global batch stays constant; give `train.global_batch` instead of `train.batch_per_rank`");
  CHECK(problems_after([&](RunSpec& s) { per_rank(s), s.study.mode = StudyMode::partition; }) ==
        "in a partition study the global batch stays constant; give `train.global_batch` instead of `train.batch_per_rank`");
  CHECK(problems_after([](RunSpec& s) { s.study.mode = StudyMode::weak; }) ==
        "in a weak-scaling study the batch per rank stays constant; give `train.batch_per_rank` instead of `train.global_batch`");
}

TEST_CASE("a study has a mode and sizes, each once")
{
  StudySpec study;
  CHECK(find_study_problems(study).empty());
  study.mode = StudyMode::strong;
  REQUIRE(find_study_problems(study).size() == 1);
  CHECK(find_study_problems(study)[0].message ==
        "a strong-scaling study needs sizes: give either `study.ranks` or `study.nodes`");
  study.ranks = {1, 2, 4};
  CHECK(find_study_problems(study).empty());
  study.ranks = {4, 1, 4};
  CHECK(find_study_problems(study)[0].message == "`study.ranks` lists 4 twice; for several runs of a size use `study.repeats`");
  study = {};
  study.parts = {1, 2};
  CHECK(find_study_problems(study).at(0).message == "`study.parts` needs `study.mode` partition");
  study.mode = StudyMode::partition;
  CHECK(find_study_problems(study).empty());
  study.nodes = {1};
  CHECK(find_study_problems(study).at(0).message == "the sizes of a partition study are `study.parts`; remove `study.nodes`");
  study = {};
  study.mode = StudyMode::partition;
  CHECK(find_study_problems(study).at(0).message == "a partition study needs `study.parts`, for example [1, 2, 4]");
  study = {};
  study.nodes = {1};
  CHECK(find_study_problems(study)[0].message ==
        "sizes need a `study.mode`; allowed: strong, weak, and scaling for a program of your own");
}

TEST_CASE("a problem is shown where the first key that is given stands")
{
  CHECK(errors_of(minimal("resources: { ranks_per_node: 3 }\n")) ==
        "r.yaml:4:24: `train.global_batch` 64 is not a multiple of 3 ranks; 63 and 66 are");
  CHECK(errors_of("version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: { global_batch: 8 }\n") ==
        "r.yaml:4:1: give either `train.epochs` or `train.steps`");
  CHECK(errors_of("version: 1\nmodel: { name: lenet }\ntrain: { global_batch: 8, epochs: 1 }\n") ==
        "r.yaml:1:1: `data.name` is missing: say which data set to train on");
}

TEST_CASE("a key that could not be read is not complained about again")
{
  CHECK(errors_of("version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: { global_batch: x, epochs: y }\nstudy: { "
                  "mode: strong, ranks: 2 }\n") == "r.yaml:4:24: `train.global_batch` must be a whole number, not `x`\n"
                                                   "r.yaml:4:35: `train.epochs` must be a number, not `y`\n"
                                                   "r.yaml:5:31: `study.ranks` must be a list; write [2]");
}

TEST_CASE("steps of a program have one source: what is observed, what is printed, or dtctl_sync")
{
  const auto observed = [](RunSpec& s) {
    s.program.command = {"train"};
    s.program.observe = ProgramObservation::pytorch;
  };
  CHECK(problems_after(observed).empty());
  CHECK(problems_after([&](RunSpec& s) { observed(s), s.program.metrics["loss"] = "loss (.*)"; }) ==
        "`program.observe: pytorch` and `program.metrics` both say what the steps of the program are; remove one");
  CHECK(problems_after([&](RunSpec& s) {
          observed(s), s.program.sync = true;
        }).starts_with("`program.observe: pytorch` does not go with the block `sync`"));
  CHECK(problems_after([](RunSpec& s) { s.program.observe = ProgramObservation::none; }) ==
        "`program.observe` has an effect only together with `program.command`; give it, or remove the key");
}

TEST_CASE("a launcher of the program goes with a program only, and not with strategies that exchange through MPI")
{
  const auto launched = [](RunSpec& s) {
    s.program.command = {"torchrun", "train.py"};
    s.program.launch = ProgramLaunch::per_node;
  };
  CHECK(problems_after(launched).empty());
  CHECK(problems_after([&](RunSpec& s) {
          launched(s), s.program.sync = true;
        }).starts_with("the block `sync` needs ranks of MPI, which dtctl starts itself; remove `program.launch: per-node`"));
  CHECK(problems_after([](RunSpec& s) { s.program.launch = ProgramLaunch::per_node; }) ==
        "`program.launch` has an effect only together with `program.command`; give it, or remove the key");
}

TEST_CASE("dtjob starts ranks of a program without MPI, on one node")
{
  const auto started = [](RunSpec& s) {
    s.program.command = {"train"};
    s.resources.launcher = "dtjob";
  };
  CHECK(problems_after(started).empty());
  CHECK(
      problems_after([](RunSpec& s) { s.resources.launcher = "dtjob"; }) ==
      "`resources.launcher: dtjob` starts programs of your own (`program.command`), and dtengine needs MPI; set it to mpirun or "
      "srun");
  CHECK(problems_after([&](RunSpec& s) { started(s), s.resources.nodes = 2; }) ==
        "`resources.launcher: dtjob` starts ranks on one node, the job's own; set it to mpirun or srun");
  CHECK_THAT(problems_after([&](RunSpec& s) { started(s), s.program.sync = true; }),
             Catch::Contains("`resources.launcher: dtjob` gives the ranks no MPI"));
  CHECK(problems_after([&](RunSpec& s) { started(s), s.resources.launcher_args = {"-v"}; }) ==
        "`resources.launcher: dtjob` has no arguments; remove `resources.launcher_args`");
}

TEST_CASE("a container holds a program of the user, and its runtime, image and mounts must fit the job")
{
  const auto contained = [](RunSpec& s) {
    s.program.command = {"train"};
    s.resources.container.image = "/images/torch.sif";
  };
  CHECK(problems_after(contained).empty());
  CHECK_THAT(
      problems_after([&](RunSpec& s) { contained(s), s.program.command.clear(); }),
      Catch::StartsWith("a container holds a program of your own (`program.command`), and dtengine runs on the node itself"));
  CHECK_THAT(problems_after([&](RunSpec& s) { contained(s), s.program.sync = true; }),
             Catch::StartsWith("the block `sync` needs the library of dtctl_sync and its MPI, which an image does not have"));
  CHECK(problems_after([&](RunSpec& s) { contained(s), s.resources.container.runtime = ContainerRuntime::pyxis; }) ==
        "pyxis is a plugin of srun, but `resources.launcher` is mpirun; set it to srun, or choose another "
        "`resources.container.runtime`");
  CHECK(problems_after([&](RunSpec& s) { contained(s), s.resources.container.image = "torch.sif"; }) ==
        "`resources.container.image` is the file `torch.sif`, and jobs run in other folders; write its absolute path");
  for (const auto* mount : {"/scratch", "scratch:/scratch", "/a:/b:exec", "/a,/b:/c", "/a:b"})
    CHECK(problems_after([&](RunSpec& s) { contained(s), s.resources.container.mounts = {mount}; }) ==
          "`resources.container.mounts` has `" + std::string(mount) +
              "`; write SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths, without commas");
  CHECK(problems_after([&](RunSpec& s) { contained(s), s.resources.container.mounts = {"/a:/b", "/c:/d:ro"}; }).empty());
  CHECK(problems_after([](RunSpec& s) { s.resources.container.mounts = {"/a:/b"}; }) ==
        "`resources.container.mounts` has an effect only together with `resources.container.image`; give it, or remove the key");
}

TEST_CASE("the node of a run is one that the run may use")
{
  const auto placed = [](RunSpec& s) {
    s.resources.hosts = {"node0", "node1"};
    s.resources.nodelist = "node1";
  };
  CHECK(problems_after(placed).empty());
  CHECK(problems_after([&](RunSpec& s) { placed(s), s.resources.nodelist = "node7"; }) ==
        "`resources.nodelist` is `node7`, which is not in `resources.hosts`; name one of them, or choose a cluster's scheduler");
  CHECK(problems_after([&](RunSpec& s) { placed(s), s.resources.exclude = {"node1"}; }) ==
        "`resources.exclude` has `node1`, on which the run must take place (`resources.nodelist`)");
  CHECK_THAT(problems_after([&](RunSpec& s) { placed(s), s.resources.nodes = 2; }),
             Catch::Contains("`resources.nodelist` is one node, but the run has 2 (`resources.nodes`)"));
}
