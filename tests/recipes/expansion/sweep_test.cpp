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

TEST_CASE("a matrix is every combination, the last key fastest")
{
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2], optimizer.momentum: [0.5, 0.9] } }\n") ==
        Names{"seed=1 momentum=0.5", "seed=1 momentum=0.9", "seed=2 momentum=0.5", "seed=2 momentum=0.9"});
}

TEST_CASE("a zip goes first with first, and combines with the matrix")
{
  CHECK(sweep("sweep: { zip: { train.global_batch: [32, 64], optimizer.learning_rate: [0.1, 0.2] } }\n") ==
        Names{"global_batch=32 learning_rate=0.1", "global_batch=64 learning_rate=0.2"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2] }, zip: { train.global_batch: [32, 64], optimizer.learning_rate: [0.1, 0.2] "
              "} }\n")
            .size() == 4);
}

TEST_CASE("included points come after, alone when there is nothing else, and are never excluded")
{
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2] }, exclude: [train.seed>=2], include: [{ train.seed: 9 }] }\n") ==
        Names{"seed=1", "seed=9"});
  CHECK(sweep("sweep: { include: [{ train.seed: 9 }, { train.steps: 100 }] }\n") == Names{"seed=9", "steps=100"});
}

TEST_CASE("any condition leaves a point out")
{
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2, 3, 4] }, exclude: [{ train.seed: 2 }, train.seed>3] }\n") ==
        Names{"seed=1", "seed=3"});
  CHECK(errors("sweep: { matrix: { train.seed: [1] }, exclude: [train.seed=1] }\n") ==
        "r.yaml:5:48: `sweep.exclude` excludes all runs");
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
  CHECK(warnings("{ train.seed: 2 }, train.seed>2") ==
        "7:32: this condition of `sweep.exclude` holds for no run of the sweep, so it leaves nothing out\n");
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

TEST_CASE("option --over names its mistakes")
{
  CHECK(errors("", {"train.seed"}) == "--over: `train.seed` is not of the form key.path=value");
  CHECK(errors("", {"train.seed="}) == "--over: `train.seed` needs at least one value");
  CHECK(errors("", {"train.seed=1,x,1"}) == "--over: `train.seed` must be a whole number, not `x`");
  CHECK(errors("", {"train.seed=1,2,1"}) == "--over: `train.seed` has the value `1` twice");
  CHECK(errors("", {"train.seed=1]"}) == "--over: not valid YAML: a closing bracket without its opening one");
  CHECK_THAT(errors("", {"train.sede=1"}), Catch::StartsWith("--over: unknown key `train.sede`; did you mean `train.seed`?"));
  CHECK(errors("sweep: { zip: { train.seed: [1, 2] } }\n", {"train.seed=3"}) ==
        "r.yaml:5:15: `train.seed` is varied by both --over and `sweep.zip`");
}

TEST_CASE("option --over of a key that was given before is refused, not dropped")
{
  CHECK(errors("", {"train.seed=1", "train.seed=2"}) ==
        "--over: `train.seed` is given twice; write all its values in one option: --over train.seed=A,B");
  CHECK(errors("", {"train.seed=1", "train.seed=1"}).find("is given twice") != std::string::npos);
  CHECK(sweep("", {"resources.env.A=1", "resources.env.B=2"}) == Names{"A=1 B=2"});
  CHECK(errors("sweep: { zip: { optimizer.momentum: [0] } }\n", {"optimizer.momentum=0"}) ==
        "r.yaml:5:15: `optimizer.momentum` is varied by both --over and `sweep.zip`");
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
  CHECK(errors("", {"train.seed=1..4..8"}) == "--over: `1..4..8` " + form);
  CHECK(errors("", {"train.seed=1..x"}) == "--over: `1..x` " + form);
  CHECK(errors("", {"train.seed=1..4 log"}) == "--over: `1..4 log` " + form);
  CHECK(errors("", {"optimizer.learning_rate=0.1..0.4"}) ==
        "--over: `0.1..0.4` needs the number of its values, such as `0.001..1 log 4` or `0..1 linear 5`");
  CHECK(errors("", {"optimizer.learning_rate=0..1 log 3"}) ==
        "--over: `0..1 log 3` has equal ratios (log), so both ends must be above 0");
  CHECK(errors("", {"train.seed=1..4 linear 1.5"}) == "--over: `1..4 linear 1.5` must have 2 to 10000 values");
  CHECK(errors("", {"train.seed=2..2"}) == "--over: `2..2` begins and ends with the same number");
  CHECK(errors("", {"train.seed=1..3 linear 5"}).find("twice") != std::string::npos);
  CHECK(errors("sweep:\n  matrix: { train.seed: [0..99999999] }\n") == "r.yaml:6:26: `0..99999999` must have 2 to 10000 values");
}

TEST_CASE("an axis that is wrong in the same way twice is refused once, and stays refused")
{
  CHECK(errors("", {"train.seed=x", "train.seed=x"}) == "--over: `train.seed` must be a whole number, not `x`");
  CHECK(errors("", {"train.seed=", "train.seed="}) == "--over: `train.seed` needs at least one value");
  CHECK(errors("", {"train.sede=1", "train.sede=1"}).starts_with("--over: unknown key `train.sede`"));
  CHECK(errors("sweep:\n  matrix: { train.seed: &a [x] }\n  zip: { train.seed: *a }\n") ==
        "r.yaml:6:29: `train.seed` must be a whole number, not `x`");
  CHECK(errors("sweep:\n  matrix: { train.seed: &a 3 }\n  zip: { train.seed: *a }\n") ==
        "r.yaml:6:25: `train.seed` needs a list of values here, not `3`");
}

TEST_CASE("a condition's list leaves out every point that has any of its values")
{
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2, 3, 4] }, exclude: [{ train.seed: [2, 4] }] }\n") ==
        Names{"seed=1", "seed=3"});
  CHECK(sweep("sweep: { matrix: { train.seed: [1, 2], optimizer.name: [sgd, adam, lars] }, exclude: [{ train.seed: [2, 7], "
              "optimizer.name: [sgd, lars] }] }\n") ==
        Names{"seed=1 optimizer=sgd", "seed=1 optimizer=adam", "seed=1 optimizer=lars", "seed=2 optimizer=adam"});
}

TEST_CASE("only what makes another run can vary")
{
  CHECK(errors("sweep: { matrix: { resources.time_limit: [1h, 2h] } }\n") ==
        "r.yaml:5:20: `resources.time_limit` is not part of a run's identity, so all points of a sweep over it would be the same "
        "run");
  CHECK(errors("sweep: { matrix: { study.repeats: [1, 2] } }\n") ==
        "r.yaml:5:20: `study.repeats` applies to the whole study and cannot vary in a sweep");
  CHECK(errors("sweep: { include: [{ name: x }] }\n") ==
        "r.yaml:5:22: `name` is not part of a run's identity, so all points of a sweep over it would be the same run");
  CHECK(errors("sweep: { matrix: { sweep.zip: [1] } }\n") ==
        "r.yaml:5:20: `sweep.zip` cannot be set here; a sweep is written in the recipe, or as --over key.path=a,b,c");
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

TEST_CASE("lists of a matrix hold values, each once")
{
  CHECK(errors("sweep: { matrix: { train.seed: 1 } }\n") == "r.yaml:5:32: `train.seed` needs a list of values here, not `1`");
  CHECK(errors("sweep: { matrix: { train.seed: [] } }\n") == "r.yaml:5:32: `train.seed` needs at least one value");
  CHECK(errors("sweep: { matrix: { optimizer.momentum: [0.5, 0.50] } }\n") ==
        "r.yaml:5:46: `optimizer.momentum` has the value `0.5` twice");
  CHECK(errors("sweep: { matrix: { train.seed: [1, x, y] } }\n") ==
        "r.yaml:5:36: `train.seed` must be a whole number, not `x`\nr.yaml:5:39: `train.seed` must be a whole number, not `y`");
  CHECK(errors("sweep: { matrix: [train.seed] }\n") ==
        "r.yaml:5:18: `sweep.matrix` must be a map of keys to lists of values, not a list");
  CHECK(errors("sweep: { matix: {} }\n") ==
        "r.yaml:5:10: unknown key `matix` in `sweep`; did you mean `matrix`? Allowed: matrix, zip, include, exclude");
}

TEST_CASE("a key that only a wrong axis gives is not called missing")
{
  CHECK(errors_of("version: 1\ndata: { name: digits }\ntrain: { epochs: 1, global_batch: 8 }\nsweep: { matrix: { model.name: "
                  "[lennet] } }\n") ==
        "r.yaml:4:33: `model.name` is `lennet`; did you mean `lenet`? Allowed: " + allowed_models());
}

TEST_CASE("a zip takes lists of one length")
{
  CHECK(errors("sweep: { zip: { train.seed: [1, 2], optimizer.momentum: [0.1, 0.2, 0.3] } }\n") ==
        "r.yaml:5:37: `sweep.zip` needs lists of equal length: `optimizer.momentum` has 3 values, `train.seed` has 2");
}

TEST_CASE("axes that fight are refused")
{
  CHECK(errors("sweep: { matrix: { train.epochs: [1], train.steps: [100] } }\n") ==
        "r.yaml:5:39: `train.steps` and `train.epochs` exclude each other; vary only one");
  CHECK(errors("sweep: { matrix: { resources.nodes: [1, 2] } }\nstudy: { mode: strong, nodes: [1, 2] }\n") ==
        "r.yaml:5:20: `resources.nodes` is set by `study.nodes` and cannot vary in the sweep too");
  CHECK(errors("sweep: { matrix: { resources.ranks_per_node: [1, 2] } }\nstudy: { mode: strong, ranks: [1, 2] }\n") ==
        "r.yaml:5:20: `resources.ranks_per_node` is set by `study.ranks` and cannot vary in the sweep too");
}

TEST_CASE("an included point cannot give what each size of the study gives")
{
  CHECK(errors("sweep: { include: [{ resources.ranks_per_node: 3 }] }\nstudy: { mode: strong, ranks: [1, 2] }\n") ==
        "r.yaml:5:22: `resources.ranks_per_node` is set by `study.ranks` and cannot vary in the sweep too");
  CHECK(errors("sweep: { include: [{ train.seed: 2, resources.nodes: 3 }] }\nstudy: { mode: strong, nodes: [1, 2] }\n") ==
        "r.yaml:5:37: `resources.nodes` is set by `study.nodes` and cannot vary in the sweep too");
}

TEST_CASE("option --set cannot give what each size of the study gives")
{
  LoadOptions options;
  options.set = {"resources.ranks_per_node=3"};
  CHECK(errors_of(minimal("study: { mode: strong, ranks: [1, 2] }\n"), options) ==
        "--set: `resources.ranks_per_node` has no effect, because `study.ranks` sets it for each size; use --set study.ranks=…");
}

TEST_CASE("included points are maps of what goes together")
{
  CHECK(errors("sweep: { include: { train.seed: 1 } }\n") ==
        "r.yaml:5:19: `sweep.include` must be a list of maps of keys to values, not a map");
  CHECK(errors("sweep: { include: [3] }\n") ==
        "r.yaml:5:20: a point of `sweep.include` must be a map of keys to values, not `3`");
  CHECK(errors("sweep: { include: [{ train.epochs: 1, train.steps: 100 }] }\n") ==
        "r.yaml:5:39: `train.steps` and `train.epochs` exclude each other; keep one");
  CHECK(errors("sweep: { exclude: { train.seed: 1 } }\n") ==
        "r.yaml:5:19: `sweep.exclude` must be a list of conditions, not a map");
}

TEST_CASE("a point that trains the same as another is refused, whatever it is called")
{
  CHECK(errors("sweep: { matrix: { train.seed: [1, 2] }, include: [{ train.seed: 2 }] }\n") ==
        "r.yaml:5:66: the point `seed=2` is the same run as an earlier point of the sweep");
  CHECK(errors("sweep: { matrix: { train.seed: [1] }, include: [{ optimizer.momentum: 0.9 }] }\n") ==
        "r.yaml:5:71: the point `momentum=0.9` is the same run as an earlier point of the sweep");
  CHECK(errors("sweep: { zip: { train.seed: [1, 1], optimizer.momentum: [0.5, 0.5] } }\n") ==
        "r.yaml:5:33: the point `seed=1 momentum=0.5` is the same run as an earlier point of the sweep");
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
