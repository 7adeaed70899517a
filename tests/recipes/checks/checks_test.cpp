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

// `good()` has this one problem after a change.
template<class Change> void refused(Change change, const std::string& begin_of_message)
{
  INFO(begin_of_message);
  auto spec = good();
  change(spec);
  const auto problems = find_problems(spec);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].message, Catch::StartsWith(begin_of_message));
}

template<class Change> bool accepted(Change change)
{
  auto spec = good();
  change(spec);
  return find_problems(spec).empty();
}

const std::string no_effect = " has an effect only together with `program.command`";

} // namespace

TEST_CASE("a good run has no problems, and what a run cannot do without is asked for")
{
  CHECK(find_problems(good()).empty());
  std::string keys, messages;
  for (const auto& problem : find_problems({})) {
    keys += std::string(problem.keys.at(0)) + " ";
    messages += problem.message + "\n";
  }
  CHECK(keys == "name model.name data.name train.batch_per_rank train.epochs ");
  CHECK(messages == "`name` must not be empty\n"
                    "`model.name` is missing: say which network to train\n"
                    "`data.name` is missing: say which data set to train on\n"
                    "give either `train.batch_per_rank` or `train.global_batch`\n"
                    "give either `train.epochs` or `train.steps`\n");
}

TEST_CASE("a warning must come before the time limit, and only this machine has a queue for runs that wait until it is idle")
{
  refused([](auto& s) { s.resources.time_limit_s = s.resources.signal_ahead_s = 90; },
          "`resources.signal_ahead` 1m30s must be below `resources.time_limit` 1m30s");
  CHECK(accepted([](auto& s) { s.resources.time_limit_s = 91, s.resources.signal_ahead_s = 90; }));
  CHECK(accepted([](auto& s) { s.resources.time_limit_s = 1, s.resources.signal_ahead_s = 0; }));
  CHECK(accepted([](auto& s) { s.resources.when_idle_s = 60; }));
  refused([](auto& s) { s.resources.scheduler = "slurm", s.resources.when_idle_s = 60; },
          "`resources.when_idle` makes runs wait in the queue of this machine, and the scheduler is `slurm`");
}

TEST_CASE("a model has a known name or layers of its own, not both")
{
  CHECK(accepted([](auto& s) { s.model = {.name = "custom", .layers = {"relu"}}; }));
  refused([](auto& s) { s.model.name = "custom"; }, "`model.name` custom needs `model.layers`: the layers of the network");
  refused([](auto& s) { s.model.layers = {"relu"}; },
          "`model.layers` describes a custom network, so `model.name` must be custom or absent, not `lenet`");
}

TEST_CASE("fixed algorithms need a list, and a list needs fixed algorithms")
{
  using enum AlgorithmChoice;
  const auto with = [](AlgorithmChoice how, const std::string& from, const std::vector<std::string>& list) {
    return [=](RunSpec& s) { s.train.algorithms = how, s.train.algorithms_from = from, s.train.algorithm_list = list; };
  };
  const std::vector<std::string> list{"conv1 direct direct direct"};
  CHECK(accepted(with(fixed, "/runs/abcd", {})));
  CHECK(accepted(with(fixed, "", list)));
  refused(with(fixed, "", {}), "`train.algorithms` fixed needs the choices to repeat: give `train.algorithms_from`");
  refused(with(fixed, "/runs/abcd", list), "`train.algorithms_from` and `train.algorithm_list` exclude each other");
  refused(with(timed, "/runs/abcd", {}), "`train.algorithms_from` has an effect only with `train.algorithms` fixed");
  refused(with(rules, "", list), "`train.algorithm_list` has an effect only with `train.algorithms` fixed");
  refused([&](auto& s) { s.engine = Engine::reference, s.train.algorithms = fixed, s.train.algorithm_list = list; },
          "`engine: reference` has one algorithm only");
  refused([](auto& s) { s.engine = Engine::reference, s.train.precision = Precision::bf16; },
          "`engine: reference` computes in fp32 only, not in bf16");
}

TEST_CASE(
    "the global batch is a multiple of the ranks, of the micro-batches and countable, and a step has the samples that it takes")
{
  CHECK(accepted([](auto& s) { s.resources.ranks_per_node = 4, s.resources.nodes = 16; }));
  refused([](auto& s) { s.resources.ranks_per_node = 7; }, "`train.global_batch` 64 is not a multiple of 7 ranks; 63 and 70 are");
  refused([](auto& s) { s.resources.nodes = 65; }, "`train.global_batch` 64 is not a multiple of 65 ranks; 65 is");
  CHECK(accepted([](auto& s) { s.train.accumulation = 4; }));
  refused([](auto& s) { s.train.accumulation = 3; }, "`train.accumulation` 3 does not divide the 64 samples of a rank's batch");
  refused([](auto& s) { s.train.accumulation = 32, s.resources.ranks_per_node = 4; },
          "`train.accumulation` 32 does not divide the 16 samples of a rank's batch");
  refused(
      [](auto& s) {
        s.train = {}, s.train.epochs = 1, s.train.batch_per_rank = 2'100'000'000;
        s.resources.nodes = 1'000'000, s.resources.ranks_per_node = 65536;
      },
      "`train.batch_per_rank` 2100000000 on 65536000000 ranks is more than 1e15 samples a step");
  refused([](auto& s) { s.data.train_samples = 60; }, "one step of 64 samples needs more than the 60 there are to train on");
  refused([](auto& s) { s.data.name = "synthetic", s.train.global_batch = 16384; },
          "one step of 16384 samples needs more than the 8192 there are to train on");
  refused([](auto& s) { s.data.channels = s.data.height = s.data.width = 65536; },
          "an image of 65536 x 65536 x 65536 has more than 100000000 values");
}

TEST_CASE("warm-up leaves steps to measure, and stopping at the target needs a target")
{
  CHECK(accepted([](auto& s) { s.train.epochs = 0, s.train.steps = 6; }));
  refused([](auto& s) { s.train.epochs = 0, s.train.steps = 5; },
          "`train.warmup_steps` 5 leaves none of the run's 5 steps to measure");
  refused([](auto& s) { s.data.name = "synthetic", s.train.epochs = 1, s.train.warmup_steps = 128; },
          "`train.warmup_steps` 128 leaves none of the run's 128 steps to measure");
  CHECK(accepted([](auto& s) { s.data.train_samples = 640, s.train.warmup_steps = 19; }));
  refused([](auto& s) { s.train.stop_at_target = true; }, "`train.stop_at_target` needs a `train.target_accuracy` above 0");
  CHECK(accepted([](auto& s) { s.train.stop_at_target = true, s.train.target_accuracy = 0.9; }));
}

TEST_CASE("environment variables have names a shell can export and values that a program can be started with")
{
  const auto with = [](const std::string& name, const std::string& value) {
    return [=](RunSpec& s) { s.resources.env = {{name, value}}; };
  };
  const std::string longest(128 * 1024 - 1, 'x'), allowed = "`; allowed: letters, digits and _, not beginning with a digit";
  for (const auto* good_name : {"OMP_PROC_BIND", "_a1"}) CHECK(accepted(with(good_name, "x")));
  for (const std::string wrong : {"1A", "", "A=$(x)"})
    refused(with(wrong, ""), "`resources.env` names the variable `" + wrong + allowed);
  auto two = good();
  two.resources.env = {{"1A", ""}, {"2B", ""}};
  CHECK(find_problems(two).size() == 2);
  CHECK(accepted(with("A", longest.substr(2))));
  refused(with("A", longest), "`resources.env`: the variable `A` has 131073 bytes");
  refused(with("A", std::string("a\0b", 3)), "`resources.env`: the variable `A` holds a byte of value 0");
  refused(with("UID", "1"), "`resources.env` names the variable `UID`, which bash sets itself");
}

TEST_CASE("strong scaling keeps the global batch, weak scaling that of a rank")
{
  using enum StudyMode;
  const auto per_rank = [](StudyMode mode) {
    return [=](RunSpec& s) { s.train.global_batch = 0, s.train.batch_per_rank = 8, s.study.mode = mode; };
  };
  CHECK(accepted([](auto& s) { s.study.mode = strong; }));
  CHECK(accepted(per_rank(weak)));
  refused(per_rank(strong), "in a strong-scaling study the global batch stays constant; give `train.global_batch` instead");
  refused(per_rank(partition), "in a partition study the global batch stays constant; give `train.global_batch` instead");
  refused([](auto& s) { s.study.mode = weak; },
          "in a weak-scaling study the batch per rank stays constant; give `train.batch_per_rank` instead");
}

TEST_CASE("a study has a mode and sizes, each once")
{
  using enum StudyMode;
  using Sizes = std::vector<std::int64_t>;
  const auto problem = [](std::optional<StudyMode> mode, const Sizes& ranks = {}, const Sizes& nodes = {},
                          const Sizes& parts = {}) {
    StudySpec study;
    study.mode = mode, study.ranks = ranks, study.nodes = nodes, study.parts = parts;
    const auto problems = find_study_problems(study);
    return problems.empty() ? "" : problems.at(0).message;
  };
  CHECK(problem({}).empty());
  CHECK(problem(strong, {1, 2, 4}).empty());
  CHECK(problem(partition, {}, {}, {1, 2}).empty());
  CHECK_THAT(problem(strong), Catch::StartsWith("a strong-scaling study needs sizes"));
  CHECK_THAT(problem(strong, {4, 1, 4}), Catch::StartsWith("`study.ranks` lists 4 twice"));
  CHECK(problem({}, {}, {}, {1, 2}) == "`study.parts` needs `study.mode` partition");
  CHECK_THAT(problem(partition, {}, {1}, {1, 2}), Catch::EndsWith("remove `study.nodes`"));
  CHECK_THAT(problem(partition), Catch::StartsWith("a partition study needs `study.parts`"));
  CHECK_THAT(problem({}, {}, {1}), Catch::StartsWith("sizes need a `study.mode`"));
}

TEST_CASE("a problem is shown where the first key that is given stands, but not of a key that could not be read")
{
  const std::string lenet = "version: 1\nmodel: { name: lenet }\n";
  CHECK(places_of(minimal("resources: { ranks_per_node: 3 }\n")) == "4:24");
  CHECK(places_of(lenet + "data: { name: digits }\ntrain: { global_batch: 8 }\n") == "4:1");
  CHECK(places_of(lenet + "train: { global_batch: 8, epochs: 1 }\n") == "1:1");
  CHECK(places_of(lenet + "data: { name: digits }\ntrain: { global_batch: x, epochs: y }\nstudy: { mode: strong, ranks: 2 }\n") ==
        "4:24 4:35 5:31");
}

TEST_CASE("steps of a program have one source, and a launcher goes with a program")
{
  const auto observed = [](RunSpec& s) { s.program.command = {"train"}, s.program.observe = ProgramObservation::pytorch; };
  CHECK(accepted(observed));
  refused([&](auto& s) { observed(s), s.program.metrics["loss"] = "loss (.*)"; },
          "`program.observe: pytorch` and `program.metrics` both say what the steps of the program are");
  refused([&](auto& s) { observed(s), s.program.sync = true; }, "`program.observe: pytorch` does not go with the block `sync`");
  refused([](auto& s) { s.program.observe = ProgramObservation::none; }, "`program.observe`" + no_effect);
  const auto launched = [](RunSpec& s) { s.program.command = {"torchrun"}, s.program.launch = ProgramLaunch::per_node; };
  CHECK(accepted(launched));
  CHECK(accepted([&](auto& s) { launched(s), s.program.sync = true; }));
  refused([](auto& s) { s.program.launch = ProgramLaunch::per_node; }, "`program.launch`" + no_effect);
}

TEST_CASE("dtjob starts ranks of a program without MPI, on one node")
{
  const auto started = [](RunSpec& s) { s.program.command = {"train"}, s.resources.launcher = "dtjob"; };
  CHECK(accepted(started));
  refused([](auto& s) { s.resources.launcher = "dtjob"; },
          "`resources.launcher: dtjob` starts programs of your own (`program.command`), and dtengine needs MPI");
  refused([&](auto& s) { started(s), s.resources.nodes = 2; }, "`resources.launcher: dtjob` starts ranks on one node");
  refused([&](auto& s) { started(s), s.resources.launcher_args = {"-v"}; }, "`resources.launcher: dtjob` has no arguments");
  CHECK(accepted([&](auto& s) { started(s), s.program.sync = true; }));
}

TEST_CASE("a container holds a program of the user, and its runtime, image and mounts must fit the job")
{
  const auto contained = [](RunSpec& s) { s.program.command = {"train"}, s.resources.container.image = "/images/torch.sif"; };
  const auto mounting = [&](const std::string& mount) {
    return [=](RunSpec& s) { contained(s), s.resources.container.mounts = {mount}; };
  };
  CHECK(accepted(contained));
  refused([&](auto& s) { contained(s), s.program.command.clear(); },
          "a container holds a program of your own (`program.command`)");
  refused([&](auto& s) { contained(s), s.program.sync = true; }, "the block `sync` needs the library of dtctl_sync and its MPI");
  refused([&](auto& s) { contained(s), s.resources.container.runtime = ContainerRuntime::pyxis; },
          "pyxis is a plugin of srun, but `resources.launcher` is mpirun");
  refused([&](auto& s) { contained(s), s.resources.container.image = "torch.sif"; },
          "`resources.container.image` is the file `torch.sif`, and jobs run in other folders");
  for (const std::string mount : {"/scratch", "scratch:/scratch", "/a:/b:exec", "/a,/b:/c", "/a:b"})
    refused(mounting(mount), "`resources.container.mounts` has `" + mount + "`; write SOURCE:TARGET or SOURCE:TARGET:ro");
  for (const auto* mount : {"/a:/b", "/c:/d:ro"}) CHECK(accepted(mounting(mount)));
  refused([](auto& s) { s.resources.container.mounts = {"/a:/b"}; },
          "`resources.container.mounts` has an effect only together with `resources.container.image`");
}

TEST_CASE("the node of a run is one that the run may use")
{
  const auto placed = [](RunSpec& s) { s.resources.hosts = {"node0", "node1"}, s.resources.nodelist = "node1"; };
  CHECK(accepted(placed));
  refused([&](auto& s) { placed(s), s.resources.nodelist = "node7"; },
          "`resources.nodelist` is `node7`, which is not in `resources.hosts`");
  refused([&](auto& s) { placed(s), s.resources.exclude = {"node1"}; },
          "`resources.exclude` has `node1`, on which the run must take place");
  auto two = good();
  placed(two), two.resources.nodes = 2;
  std::string messages;
  for (const auto& problem : find_problems(two)) messages += problem.message + "\n";
  CHECK_THAT(messages, Catch::Contains("`resources.nodelist` is one node, but the run has 2 (`resources.nodes`)"));
}
