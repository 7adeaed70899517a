#include "recipes/reading/recipe_file.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

const std::string root_keys =
    "version, name, description, extends, profile, label, engine, model, data, program, train, optimizer, sync, "
    "resources, platform, study, sweep";

} // namespace

TEST_CASE("a recipe is a map of maps with the version 1, and an empty one says how to begin, and nothing more")
{
  const auto rest = minimal().substr(11);
  const std::string empty = "r.yaml:1:1: holds no keys; a recipe starts with `version: 1`";
  for (const auto* nothing : {"", "# nothing\n"}) CHECK(errors_of(nothing) == empty);
  CHECK(errors_of("- a\n") == "r.yaml:1:1: a recipe must be a map of keys, not a list");
  CHECK(errors_of("hello\n") == "r.yaml:1:1: a recipe must be a map of keys, not `hello`");
  CHECK(errors_of(rest) == "r.yaml:1:1: `version` is missing; write `version: 1` at the top");
  CHECK(errors_of("version: 2\n" + rest) == "r.yaml:1:10: `version` is `2`; this dtctl reads version 1");
  CHECK(errors_of("version: \"1\"\n" + rest) == "r.yaml:1:10: `version` is the text `1`; this dtctl reads version 1");
  CHECK(errors_of(minimal("optimizer:\n  # learning_rate: 0.1\nsync: {}\n")).empty());
  CHECK(errors_of(minimal("sync: sync-sgd\n")) == "r.yaml:5:7: `sync` must be a map of keys, not `sync-sgd`");
  CHECK(errors_of(minimal("sync: [a]\n")) == "r.yaml:5:7: `sync` must be a map of keys, not a list");
}

TEST_CASE("an unknown key names the nearest, the block where it belongs and the allowed ones, and is not called missing too")
{
  const auto sync_keys = allowed_keys("sync");
  check_refused([](const std::string& more) { return errors_of(minimal(more)); },
                {{"optimiser: {}\n", "r.yaml:5:1: unknown key `optimiser`; did you mean `optimizer`? Allowed: " + root_keys},
                 {"1: 2\n", "r.yaml:5:1: unknown key `1`; allowed: " + root_keys},
                 {"sync: { stratgy: sync-sgd }\n",
                  "r.yaml:5:9: unknown key `stratgy` in `sync`; did you mean `strategy`? Allowed: " + sync_keys},
                 {"sync: { zzz: 1 }\n", "r.yaml:5:9: unknown key `zzz` in `sync`; allowed: " + sync_keys},
                 {"momentum: 0.9\n", "r.yaml:5:1: unknown key `momentum`; it belongs in `optimizer`. Allowed: " + root_keys},
                 {"sync: { seed: 1 }\n", "r.yaml:5:9: unknown key `seed` in `sync`; it belongs in `train` or `study`. Allowed: "},
                 {"train.seed: 1\n", "r.yaml:5:1: unknown key `train.seed`; write `seed` in the block `train`"}});
  CHECK(places_of("version: 1\nmodle: { name: lenet }\ndata: { nmae: digits }\ntrain: { epocs: 3, global_batch: 64 }\n") ==
        "2:1 3:9 4:10");
}

TEST_CASE("of two keys that exclude each other the second is the mistake")
{
  const std::string text = "version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain:\n  epochs: 1\n  steps: 100\n"
                           "  global_batch: 8\n  batch_per_rank: 8\n";
  CHECK(places_of(text) == "6:3 8:3");
  CHECK_THAT(errors_of(text), Catch::StartsWith("r.yaml:6:3: `train.steps` and `train.epochs` exclude each other; keep one"));
}

TEST_CASE("anchors and merge keys serve as in any YAML")
{
  const auto plan = plan_of("version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: &t { global_batch: 64, epochs: "
                            "2, seed: &s 7 }\nstudy: { seed: *s }\n");
  CHECK(plan.runs[0].study.seed == 7);
  CHECK_THAT(errors_of(minimal("optimizer: { <<: { learning_rate: 0.1, learnig_rate: 3 } }\n")),
             Catch::StartsWith("r.yaml:5:40: unknown key `learnig_rate` in `optimizer`; did you mean `learning_rate`?"));
}

TEST_CASE("a recipe lies over the one it extends, key by key")
{
  const TemporaryFolder folder;
  folder.write("base/b.yaml", "version: 1\nname: base\ndescription: d\nextends: ../root.yaml\ntrain: { batch_per_rank: 8, seed: "
                              "5 }\nresources: { env: { A: 1, B: 1 }, modules: [x, y] }\n");
  folder.write("root.yaml",
               "version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: { global_batch: 64, epochs: 3, seed: 4 }\n");
  const auto file = folder.write(
      "r.yaml", "version: 1\nextends: base/b.yaml\ntrain: { steps: 100 }\nresources: { env: { B: 2 }, modules: [z] }\n");
  const auto plan = load_plan(file, {});
  const auto& run = plan.runs.at(0);
  CHECK(run.model.name == "lenet");
  CHECK(run.train.seed == 5);
  CHECK(run.train.batch_per_rank == 8);
  CHECK(run.train.global_batch == 0);
  CHECK(run.train.steps == 100);
  CHECK(run.train.epochs == 0);
  CHECK(run.resources.env == std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}});
  CHECK(run.resources.modules == std::vector<std::string>{"z"});
  CHECK(plan.name == "r");
  CHECK(plan.description.empty());
}

TEST_CASE("sweeps and studies are inherited part by part")
{
  const TemporaryFolder folder;
  folder.write(
      "b.yaml",
      minimal("sweep:\n  matrix: { train.seed: [1, 2, 3] }\n  exclude: [train.seed=2]\nstudy: { repeats: 2, order: listed }\n"));
  CHECK(load_plan(folder.write("same.yaml", "version: 1\nextends: b.yaml\n"), {}).runs.size() == 4);
  CHECK(load_plan(folder.write("other.yaml", "version: 1\nextends: b.yaml\nsweep: { matrix: { train.seed: [2, 4] } }\n"), {})
            .runs.size() == 2);
  const auto none =
      load_plan(folder.write("none.yaml", "version: 1\nextends: b.yaml\nsweep: { matrix: }\nstudy: { repeats: 1 }\n"), {});
  CHECK(none.runs.size() == 1);
  CHECK(none.kind == PlanKind::single);
}

TEST_CASE("errors of all files of a chain come together, each under its own name")
{
  const TemporaryFolder folder;
  folder.write("b.yaml", "version: 1\nextends: c.yaml\ntrain: { seed: x }\n");
  folder.write("c.yaml", "version: 1\nmodel: { name: lennet }\ndata: { name: digits }\n");
  folder.write("r.yaml", "version: 1\nextends: b.yaml\ntrain: { epochs: x, global_batch: 8 }\n");
  CHECK_THAT(errors_in(folder, "r.yaml"), Catch::StartsWith("r.yaml:3:18: `train.epochs` must be a number, not `x`\n"
                                                            "b.yaml:3:16: `train.seed` must be a whole number, not `x`\n"
                                                            "c.yaml:2:16: `model.name` is `lennet`; did you mean `lenet`?"));
}

TEST_CASE("a chain must end, and all of it must be there")
{
  const TemporaryFolder folder;
  folder.write("a.yaml", "version: 1\nextends: b.yaml\n");
  folder.write("b.yaml", "version: 1\nextends: ./a.yaml\n");
  folder.write("self.yaml", "version: 1\nextends: self.yaml\n");
  folder.write("gone.yaml", "version: 1\nextends: c.yaml\n");
  folder.write("deaf.yaml", "version: 1\nextends: broken.yaml\n");
  folder.write("broken.yaml", "a: [\n");
  folder.write(
      "list.yaml",
      "version: 1\nextends: [a.yaml]\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: { global_batch: 64, epochs: 2 }\n");
  CHECK(errors_in(folder, "a.yaml") == "b.yaml:2:10: `extends` leads back to `./a.yaml`: a recipe cannot extend itself");
  CHECK(errors_in(folder, "self.yaml") == "self.yaml:2:10: `extends` leads back to `self.yaml`: a recipe cannot extend itself");
  CHECK(errors_in(folder, "gone.yaml") == "gone.yaml:2:10: the recipe `c.yaml` does not exist; did you mean `a.yaml`?");
  CHECK(errors_in(folder, "deaf.yaml") == "broken.yaml:2:1: not valid YAML: a `[` is never closed, or a `,` is missing");
  CHECK(errors_in(folder, "list.yaml") == "list.yaml:2:10: `extends` must be a name, not a list");
}

TEST_CASE("keys at the top that begin with x- are a place for anchors, and nothing else")
{
  const auto plan = plan_of("version: 1\nx-train: &base { global_batch: 64, epochs: 2 }\nx-anything: [1, { a: b }]\n"
                            "model: { name: lenet }\ndata: { name: digits }\ntrain: { <<: *base, epochs: 3 }\n");
  CHECK(plan.runs.at(0).train.global_batch == 64);
  CHECK(plan.runs.at(0).train.epochs == 3);
  CHECK_THAT(errors_of(minimal("optimizer: { x-rate: 1 }\n")),
             Catch::StartsWith("r.yaml:5:14: unknown key `x-rate` in `optimizer`"));
  CHECK(errors_of("version: 1\nx-train: &base { epochs: soon }\nmodel: { name: lenet }\ndata: { name: digits }\n"
                  "train: { <<: *base, global_batch: 64 }\n") == "r.yaml:2:26: `train.epochs` must be a number, not `soon`");
}
