#include "recipes/reading/profiles.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

// A user's and a project's configuration.
struct Machine {
  TemporaryFolder folder;
  LoadOptions options;
  Machine(const std::string& user, const std::string& project)
  {
    if (!user.empty()) options.user_config = folder.write("user.yaml", user);
    if (!project.empty()) options.project_config = folder.write("project.yaml", project);
    folder.write("r.yaml", minimal());
  }
  dt::RunSpec run(const std::string& profile = "", const std::string& more = "")
  {
    options.profile = profile;
    return load_plan(folder.write("r.yaml", minimal(more)), options).runs.at(0);
  }
  std::string errors(const std::string& profile = "")
  {
    options.profile = profile;
    return errors_in(folder, "r.yaml", options);
  }
};

} // namespace

TEST_CASE("the profile `default` counts unless another is named by the recipe or the caller, and a missing configuration is an "
          "empty one")
{
  Machine machine("profiles:\n  default: { resources: { partition: d } }\n  a: { resources: { partition: pa } }\n  b: { "
                  "resources: { partition: pb } }\n",
                  "");
  CHECK(machine.run().resources.partition == "d");
  CHECK(machine.run("", "profile: a\n").resources.partition == "pa");
  CHECK(machine.run("b", "profile: a\n").resources.partition == "pb");
  Machine empty("", "");
  empty.options.user_config = empty.folder.path() / "nowhere.yaml";
  CHECK(empty.errors().empty());
  CHECK(Machine("# nothing\n", "profiles:\n").errors().empty());
}

TEST_CASE("a profile has the keys of those it extends, the project's are stronger than the user's, and the recipe is stronger")
{
  Machine machine(
      "profiles:\n  base: { resources: { account: u, qos: u, partition: u } }\n  c: { extends: base, resources: { qos: c } }\n",
      "profiles:\n  base: { resources: { account: p } }\n");
  const auto run = machine.run("c");
  CHECK(run.resources.account == "p");
  CHECK(run.resources.qos == "c");
  CHECK(run.resources.partition == "u");
  Machine base("profiles: { default: { resources: { partition: d, threads_per_rank: 4, env: { A: 1, B: 1 } } } }\n", "");
  const auto own = base.run("", "resources: { partition: mine, env: { B: 2 } }\n");
  CHECK(own.resources.partition == "mine");
  CHECK(own.resources.threads_per_rank == 4);
  CHECK(own.resources.env == std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}});
}

TEST_CASE("profiles are listed with all their keys and the strongest file that has them")
{
  Machine machine("profiles:\n  base: { resources: { account: u, modules: [x, y] } }\n"
                  "  c: { extends: base, resources: { qos: c, time_limit: 90m, signal_ahead: 1h30m5s } }\n",
                  "profiles:\n  base: { resources: { account: p } }\n");
  const auto profiles = list_profiles(machine.options);
  REQUIRE(profiles.size() == 2);
  CHECK(profiles[0].name == "base");
  CHECK(profiles[0].file == machine.options.project_config.string());
  CHECK(profiles[1].name == "c");
  CHECK(profiles[1].file == machine.options.user_config.string());
  using Values = std::vector<std::pair<std::string, std::string>>;
  CHECK(profiles[1].values == Values{{"resources.time_limit", "1h30m"},
                                     {"resources.signal_ahead", "5405s"},
                                     {"resources.account", "p"},
                                     {"resources.qos", "c"},
                                     {"resources.modules", "x, y"}});
}

TEST_CASE("an unknown profile names the nearest and the known ones, or where profiles stand if there is none")
{
  Machine machine("profiles: { cluster: {}, laptop: {} }\n", "");
  CHECK(machine.errors("clster") == "--profile: there is no profile `clster`; did you mean `cluster`? Allowed: cluster, laptop");
  machine.folder.write("r.yaml", minimal("profile: zzzzzzz\n"));
  CHECK(machine.errors() == "r.yaml:5:10: there is no profile `zzzzzzz`; allowed: cluster, laptop");
  machine.options.user_config = "/nowhere/config.yaml";
  machine.options.project_config = "/elsewhere/dtctl.yaml";
  CHECK_THAT(machine.errors("p"),
             Catch::Contains("no profiles are configured") && Catch::EndsWith("/nowhere/config.yaml or /elsewhere/dtctl.yaml"));
}

TEST_CASE("mistakes in configurations have their places too, and profiles that extend nothing known or themselves are some")
{
  check_refused([](const std::string& user) { return Machine(user, "").errors(); },
                {{"profile: {}\n", "user.yaml:1:1: unknown key `profile`; did you mean `profiles`? Allowed: profiles"},
                 {"[]\n", "user.yaml:1:1: a configuration must be a map of keys, not a list"},
                 {"profiles: []\n", "user.yaml:1:11: `profiles` must be a map of profiles, not a list"},
                 {"profiles: { a: 3 }\n", "user.yaml:1:16: the profile `a` must be a map, not `3`"},
                 {"profiles: { a: { resources: 3 } }\n", "user.yaml:1:29: `resources` must be a map of keys, not `3`"},
                 {"profiles: { a: { extends: [b] } }\n", "user.yaml:1:27: `extends` must be a profile's name, not a list"},
                 {"profiles: { a: { train: {} } }\n",
                  "user.yaml:1:18: unknown key `train` in the profile `a`; allowed: extends, resources, network, platform, cost"},
                 {"profiles: { a: { extends: bb }, b: {} }\n", "user.yaml:1:27: there is no profile `bb`; did you mean `b`?"},
                 {"profiles: { a: { extends: a } }\n", "user.yaml:1:27: `extends` leads back to `a`"}});
  CHECK(Machine("", "profiles: { a: { resources: { nodes: 0 } } }\n").errors() ==
        "project.yaml:1:38: `resources.nodes` is 0; allowed: 1 to 1000000 nodes");
  CHECK_THAT(Machine("profiles: { a: { extends: b }, b: { extends: a } }\n", "").errors("a"),
             Catch::Contains("user.yaml:1:46: `extends` leads back to `a`"));
}

TEST_CASE("GPUs of a profile are for the user's own programs: runs of dtengine ask for none, and the plan says so")
{
  Machine machine("profiles: {gpu: {resources: {gpus_per_node: 4, gpus_per_rank: 1, ranks_per_node: 2}}}\n", "");
  CHECK(machine.run("gpu").resources.gpus_per_node == 0);
  CHECK(machine.run("gpu").resources.gpus_per_rank == 0);
  const auto plan = load_plan(machine.folder.write("r.yaml", minimal()), machine.options);
  REQUIRE(plan.notes.size() == 1);
  CHECK_THAT(plan.notes[0], Catch::StartsWith("1 run of dtengine will ask for no GPU"));
  CHECK(plan.warnings.empty());
  const auto own =
      load_plan(machine.folder.write("own.yaml", "version: 1\nprogram: {command: [python3, train.py]}\n"), machine.options);
  CHECK(own.runs.at(0).resources.gpus_per_node == 4);
  CHECK(own.notes.empty());
}

TEST_CASE("GPUs that a recipe of dtengine asks for itself are a mistake, with a profile and without")
{
  Machine machine("profiles: {gpu: {resources: {gpus_per_node: 4}}}\n", "");
  machine.folder.write("r.yaml", minimal("resources: {gpus_per_node: 2}\n"));
  CHECK_THAT(machine.errors("gpu"), Catch::Contains("uses no GPU; remove `resources.gpus_per_node`"));
}

TEST_CASE("a sweep over programs and dtengine asks for GPUs where a program runs")
{
  Machine machine("", "");
  const auto plan =
      load_plan(machine.folder.write(
                    "r.yaml", minimal("resources: {gpus_per_node: 2}\nsweep: {include: [{train.seed: 1}, {program.command: "
                                      "[python3, train.py]}]}\n")),
                machine.options);
  REQUIRE(plan.runs.size() == 2);
  CHECK(plan.runs[0].resources.gpus_per_node == 0);
  CHECK(plan.runs[1].resources.gpus_per_node == 2);
  CHECK(plan.notes.size() == 1);
}
