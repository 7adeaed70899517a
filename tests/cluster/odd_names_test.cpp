// Homes whose names have a meaning in a language on the way: Slurm's output paths, the list of tasks, shell scripts, and the
// command lines of mpirun and srun.
#include "tests/cluster/playground.hpp"

#include "core/files/file.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// With a backslash Slurm reads a path in another way than without.
const std::vector<std::string> odd_homes{"-h%j %% 100%\nline \"q\" 'a' $HOME `id` \u00fc;,:=[0-1]*?&|<>(){}#!~",
                                         " back\\slash%a\n\\n \\"};

struct Way {
  const char* name;
  std::string recipe;
  std::size_t runs;
};

std::vector<Way> ways()
{
  return {{"mpirun", "resources: {ranks_per_node: 2}\n", 1},
          {"srun", "resources: {ranks_per_node: 2, launcher: srun}\n", 1},
          {"array", "sweep: {matrix: {train.seed: [1, 2]}}\n", 2},
          {"ladder", "study: {mode: weak, nodes: [1, 2], repeats: 1, layout: ladder, controls: 0}\n", 2}};
}

} // namespace

TEST_CASE("a home may have any name: single runs by mpirun and srun, arrays and ladders work in it")
{
  const Cluster cluster({"--nodes", "2"});
  for (const auto& name : odd_homes)
    for (const auto& way : ways()) {
      INFO(name << ": " << way.name);
      const Dtctl dtctl;
      const auto home = dtctl.folder() / name;
      const auto environment = with(cluster.environment(), {"DTCTL_HOME=" + home.string()});
      dtctl.write("recipe.yaml", cluster_recipe(5, way.recipe));
      const auto result = dtctl.run({"sweep", "recipe.yaml", "--profile", "cluster", "--wait"}, environment);
      INFO(result.out << result.err);
      CHECK(result.exit_code == 0);
      CHECK(dtctl.json({"status", "all"}, environment).at("states") == Json{{"succeeded", way.runs}});
      for (const auto& batch : std::filesystem::directory_iterator(home / "slurm"))
        CHECK(std::filesystem::exists(batch.path() / (std::string(way.name) == "array" ? "log-1" : "log")));
    }
}
