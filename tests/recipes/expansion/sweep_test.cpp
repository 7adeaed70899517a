#include "recipes/expansion/sweep.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;
using Names = std::vector<std::string>;

namespace {

Names sweep(const std::string& text, const std::vector<std::string>& over = {})
{
  LoadOptions options;
  options.over = over;
  return names_of(plan_of(minimal(text), options));
}

std::string errors(const std::string& text, const std::vector<std::string>& over = {})
{
  LoadOptions options;
  options.over = over;
  return errors_of(minimal(text), options);
}

} // namespace

TEST_CASE("a matrix is every combination, the last key fastest, and a zip goes first with first and combines with it")
{
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2], optimizer.momentum: [0.5, 0.9] } }\n") ==
        Names{"seed=1 momentum=0.5", "seed=1 momentum=0.9", "seed=2 momentum=0.5", "seed=2 momentum=0.9"});
  CHECK(sweep("sweep: { zip: { train.global_batch: [32, 64], optimizer.learning_rate: [0.1, 0.2] } }\n") ==
        Names{"global_batch=32 learning_rate=0.1", "global_batch=64 learning_rate=0.2"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2] }, zip: { train.global_batch: [32, 64], optimizer.learning_rate: [0.1, 0.2] "
              "} }\n")
            .size() == 4);
}

TEST_CASE("included points come after, alone when there is nothing else, and are never excluded, while any condition leaves a "
          "point out")
{
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2] }, exclude: [train.seed>=2], include: [{ train.seed: 9 }] }\n") ==
        Names{"seed=1", "seed=9"});
  CHECK(sweep("sweep: { include: [{ train.seed: 9 }, { train.steps: 100 }] }\n") == Names{"seed=9", "steps=100"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2, 3, 4] }, exclude: [{ train.seed: 2 }, train.seed>3] }\n") ==
        Names{"seed=1", "seed=3"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2, 3, 4] }, exclude: [{ train.seed: [2, 4] }] }\n") ==
        Names{"seed=1", "seed=3"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2], optimizer.name: [sgd, adam, lars] }, exclude: [{ train.seed: [2, 7], "
              "optimizer.name: [sgd, lars] }] }\n") ==
        Names{"seed=1 optimizer=sgd", "seed=1 optimizer=adam", "seed=1 optimizer=lars", "seed=2 optimizer=adam"});
}

TEST_CASE("labels are as short as they can be understood")
{
  CHECK(sweep("sweep: { matrix: { optimizer.name: [sgd], data.name: [digits] } }\n") == Names{"optimizer=sgd data=digits"});
  CHECK(sweep("sweep: { matrix: { train.epochs: [1], optimizer.step_epochs: [1] } }\n") == Names{"epochs=1 step_epochs=1"});
  CHECK(sweep("sweep: { include: [{ resources.env.steps: x, train.steps: 100 }] }\n") ==
        Names{"resources.env.steps=x train.steps=100"});
  CHECK(sweep("sweep: { matrix: { resources.modules: [[a, b]], resources.env.A: [1] } }\n") == Names{"modules=a, b A=1"});
  CHECK(sweep("sweep: { matrix: { train.start_from: [3fa92c1b07, weights/a.npz] } }\n") ==
        Names{"start_from=3fa92c1b07", "start_from=weights/a.npz"});
}

TEST_CASE("a condition of exclude that holds for no run is a warning at its place")
{
  const auto warnings = [](const std::string& exclude) {
    std::string text;
    const auto plan = plan_of(minimal("sweep:\n  matrix: { train.seed: [1, 2] }\n  exclude: [" + exclude + "]\n"));
    for (const auto& warning : plan.warnings)
      text += std::to_string(warning.line) + ":" + std::to_string(warning.column) + ": " + warning.message + "\n";
    return text;
  };
  CHECK(warnings("{ train.seed: 2 }, train.seed>1").empty()); // both hold, though the first is enough
  CHECK_THAT(warnings("{ train.seed: 2 }, train.seed>2"),
             Catch::StartsWith("7:32: this condition of `sweep.exclude` holds for no run"));
}

TEST_CASE("a point gives its values to the run, and takes away what they exclude")
{
  const auto plan = plan_of(minimal("resources: { env: { A: 1, B: 1 } }\nsweep: { matrix: { train.batch_per_rank: [8], "
                                    "resources.env.B: [2], train.steps: [50] } }\n"));
  const auto& run = plan.runs.at(0);
  CHECK(run.train.batch_per_rank == 8);
  CHECK(run.train.global_batch == 0);
  CHECK(run.train.epochs == 0);
  CHECK(run.resources.env == std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}});
}

TEST_CASE("option --over is one more axis, or takes the place of the axis of that key")
{
  CHECK(sweep("", {"train.seed=1,2"}) == Names{"seed=1", "seed=2"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2], optimizer.momentum: [0] } }\n",
              {"train.seed=5", "optimizer.name=sgd,momentum"}) ==
        Names{"seed=5 momentum=0 optimizer=sgd", "seed=5 momentum=0 optimizer=momentum"});
  CHECK(sweep("", {"resources.modules=[a],[b,c]"}) == Names{"modules=a", "modules=b, c"});
}

TEST_CASE("option --over names its mistakes, and one of a key that was given before or is in the zip is refused, not dropped")
{
  check_refused([](const std::string& over) { return errors("", {over}); },
                {{"train.seed", "--over: `train.seed` is not of the form key.path=value"},
                 {"train.seed=", "--over: `train.seed` needs at least one value"},
                 {"train.seed=1,x,1", "--over: `train.seed` must be a whole number, not `x`"},
                 {"train.seed=1,2,1", "--over: `train.seed` has the value `1` twice"},
                 {"train.seed=1]", "--over: not valid YAML: a closing bracket without its opening one"},
                 {"train.sede=1", "--over: unknown key `train.sede`; did you mean `train.seed`?"}});
  const std::string zip = "sweep: { zip: { train.seed: [1, 2] } }\n";
  for (const auto* over : {"train.seed=3", "train.seed=1,2"})
    CHECK(errors(zip, {over}) == "r.yaml:5:15: `train.seed` is varied by both --over and `sweep.zip`");
  for (const auto* second : {"train.seed=1", "train.seed=2"})
    CHECK_THAT(errors("", {"train.seed=1", second}), Catch::StartsWith("--over: `train.seed` is given twice"));
  CHECK(sweep("", {"resources.env.A=1", "resources.env.B=2"}) == Names{"A=1 B=2"});
}

TEST_CASE("a range in a list of values stands for its numbers, in the recipe and on the command line")
{
  CHECK(sweep("", {"optimizer.learning_rate=0.001..1 log 4"}) ==
        Names{"learning_rate=0.001", "learning_rate=0.01", "learning_rate=0.1", "learning_rate=1"});
  CHECK(sweep("", {"optimizer.momentum=0..0.9 linear 4,0.99"}) ==
        Names{"momentum=0", "momentum=0.3", "momentum=0.6", "momentum=0.9", "momentum=0.99"});
  CHECK(sweep("", {"train.seed=3..1"}) == Names{"seed=3", "seed=2", "seed=1"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1..2, 8..64 log 4] } }\n") ==
        Names{"seed=1", "seed=2", "seed=8", "seed=16", "seed=32", "seed=64"});
}

TEST_CASE("a range that is none is refused where it stands")
{
  const std::string form = "is no range; write `from..to log count`, `from..to linear count`, or `from..to` for whole numbers";
  for (const std::string wrong : {"1..4..8", "1..x", "1..4 log"})
    CHECK(errors("", {"train.seed=" + wrong}) == "--over: `" + wrong + "` " + form);
  check_refused(
      [](const std::string& over) { return errors("", {over}); },
      {{"optimizer.learning_rate=0.1..0.4", "--over: `0.1..0.4` needs the number of its values"},
       {"optimizer.learning_rate=0..1 log 3", "--over: `0..1 log 3` has equal ratios (log), so both ends must be above 0"},
       {"train.seed=1..4 linear 1.5", "--over: `1..4 linear 1.5` must have 2 to 10000 values"},
       {"train.seed=2..2", "--over: `2..2` begins and ends with the same number"},
       {"train.seed=1..3 linear 5", "--over: `train.seed` has the value"}});
  CHECK(places_of(minimal("sweep:\n  matrix: { train.seed: [0..99999999] }\n")) == "6:26");
}

TEST_CASE("an axis that is wrong in the same way twice is refused once, and stays refused")
{
  for (const auto* wrong : {"train.seed=x", "train.seed=", "train.sede=1"})
    CHECK(errors("", {wrong, wrong}) == errors("", {wrong}));
  CHECK(places_of(minimal("sweep:\n  matrix: { train.seed: &a [x] }\n  zip: { train.seed: *a }\n")) == "6:29");
  CHECK(places_of(minimal("sweep:\n  matrix: { train.seed: &a 3 }\n  zip: { train.seed: *a }\n")) == "6:25");
}

TEST_CASE("a range or several values without brackets are answered with the list that was meant, if it is one")
{
  const auto refusal = [](const std::string& axis) { return errors("sweep: { matrix: { " + axis + " } }\n"); };
  CHECK(refusal("train.seed: 4..1") == "r.yaml:5:32: `train.seed` needs a list of values here, not `4..1`; write [4..1]");
  CHECK(refusal("optimizer.momentum: 0..0.9 linear 10").ends_with("; write [0..0.9 linear 10]"));
  CHECK(errors("sweep:\n  matrix:\n    train.seed: 1,2, 4\n").ends_with("; write [1, 2, 4]"));
  CHECK(errors("sweep:\n  matrix:\n    optimizer.name: sgd, adam\n").ends_with("; write [sgd, adam]"));
  for (const auto* wrong :
       {"train.seed: 4..x", "train.seed: 1..1", "optimizer.momentum: 0..1", "train.seed: \"1..4\"", "train.seed: {a: 1}"}) {
    CAPTURE(wrong);
    CHECK(refusal(wrong).find("; write [") == std::string::npos);
  }
}

TEST_CASE("a sweep that cannot be is refused where that stands")
{
  const std::string ranks = "study: { mode: strong, ranks: [1, 2] }\n", nodes = "study: { mode: strong, nodes: [1, 2] }\n",
                    no_identity = " is not part of a run's identity, so all points of a sweep over it would be the same run";
  check_refused(
      [](const std::string& text) { return errors("sweep: { " + text); },
      {// what makes no other run, or belongs to the study
       {"matrix: { resources.time_limit: [1h, 2h] } }\n", "r.yaml:5:20: `resources.time_limit`" + no_identity},
       {"include: [{ name: x }] }\n", "r.yaml:5:22: `name`" + no_identity},
       {"matrix: { study.repeats: [1, 2] } }\n", "r.yaml:5:20: `study.repeats` applies to the whole study"},
       {"matrix: { sweep.zip: [1] } }\n", "r.yaml:5:20: `sweep.zip` cannot be set here"},
       // lists of values, each once
       {"matrix: { train.seed: 1 } }\n", "r.yaml:5:32: `train.seed` needs a list of values here, not `1`"},
       {"matrix: { train.seed: [] } }\n", "r.yaml:5:32: `train.seed` needs at least one value"},
       {"matrix: { optimizer.momentum: [0.5, 0.50] } }\n", "r.yaml:5:46: `optimizer.momentum` has the value `0.5` twice"},
       {"matrix: [train.seed] }\n", "r.yaml:5:18: `sweep.matrix` must be a map of keys to lists of values, not a list"},
       {"matix: {} }\n", "r.yaml:5:10: unknown key `matix` in `sweep`; did you mean `matrix`? Allowed: matrix, zip,"},
       {"zip: { train.seed: [1, 2], optimizer.momentum: [0.1, 0.2, 0.3] } }\n",
        "r.yaml:5:37: `sweep.zip` needs lists of equal length: `optimizer.momentum` has 3 values, `train.seed` has 2"},
       // points and conditions
       {"include: { train.seed: 1 } }\n", "r.yaml:5:19: `sweep.include` must be a list of maps of keys to values, not a map"},
       {"include: [3] }\n", "r.yaml:5:20: a point of `sweep.include` must be a map of keys to values, not `3`"},
       {"exclude: { train.seed: 1 } }\n", "r.yaml:5:19: `sweep.exclude` must be a list of conditions, not a map"},
       {"matrix: { train.seed: [1] }, exclude: [train.seed=1] }\n", "r.yaml:5:48: `sweep.exclude` excludes all runs"},
       // axes that fight with each other or with the sizes of the study
       {"matrix: { train.epochs: [1], train.steps: [100] } }\n",
        "r.yaml:5:39: `train.steps` and `train.epochs` exclude each other"},
       {"include: [{ train.epochs: 1, train.steps: 100 }] }\n",
        "r.yaml:5:39: `train.steps` and `train.epochs` exclude each other"},
       {"matrix: { resources.nodes: [1, 2] } }\n" + nodes, "r.yaml:5:20: `resources.nodes` is set by `study.nodes`"},
       {"matrix: { resources.ranks_per_node: [1, 2] } }\n" + ranks,
        "r.yaml:5:20: `resources.ranks_per_node` is set by `study.ranks`"},
       {"include: [{ resources.ranks_per_node: 3 }] }\n" + ranks,
        "r.yaml:5:22: `resources.ranks_per_node` is set by `study.ranks`"},
       {"include: [{ train.seed: 2, resources.nodes: 3 }] }\n" + nodes, "r.yaml:5:37: `resources.nodes` is set by `study.nodes`"},
       // points that train the same, whatever they are called
       {"matrix: { train.seed: [1, 2] }, include: [{ train.seed: 2 }] }\n", "r.yaml:5:66: the point `seed=2` is the same run"},
       {"matrix: { train.seed: [1] }, include: [{ optimizer.momentum: 0.9 }] }\n",
        "r.yaml:5:71: the point `momentum=0.9` is the same"},
       {"zip: { train.seed: [1, 1], optimizer.momentum: [0.5, 0.5] } }\n",
        "r.yaml:5:33: the point `seed=1 momentum=0.5` is the same"}});
  CHECK(places_of(minimal("sweep: { matrix: { train.seed: [1, x, y] } }\n")) == "5:36 5:39");
  CHECK(places_of("version: 1\ndata: { name: digits }\ntrain: { epochs: 1, global_batch: 8 }\nsweep: { matrix: { model.name: "
                  "[lennet] } }\n") == "4:33"); // it is not called missing, too
  CHECK_THAT(errors_of(minimal(ranks), with_set({"resources.ranks_per_node=3"})),
             Catch::StartsWith("--set: `resources.ranks_per_node` has no effect, because `study.ranks` sets it for each size"));
}

TEST_CASE("points are counted without counting too far")
{
  Sweep sweep;
  CHECK(sweep.count_points(100) == 1);
  sweep.include.resize(3);
  CHECK(sweep.count_points(100) == 3);
  for (int i = 0; i < 60; ++i) sweep.factors.push_back({{}, std::vector<Level>(1000), {}});
  CHECK(sweep.count_points(1'000'000) == 1'000'001);
}
