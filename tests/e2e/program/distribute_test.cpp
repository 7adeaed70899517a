// The same run on every host (dtctl submit --distribute), on names of this machine that mpirun takes for hosts.
#include "tests/e2e/own_program.hpp"

#include "core/machine/process.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Json;
using dt::test::Own;

namespace {

// On 127.0.0.1 it is five times as slow.
const std::string slow_on_one = "import dtctl_report as report, json, os\n"
                                "node = json.load(open(os.environ['DTCTL_SPEC']))['resources']['nodelist']\n"
                                "length = 0.1 if node == '127.0.0.1' else 0.02\n"
                                "report.begin(at=0)\n"
                                "for i in range(15): report.step(loss=1.0, samples=10, at=(i + 1) * length)\n"
                                "report.result()\n";

std::string recipe_on(const std::string& more)
{
  return dt::test::recipe("resources: {hosts: [localhost, 127.0.0.1, " + dt::host_name() + "]" + more + "}\n");
}

} // namespace

TEST_CASE("the same run on every host names the slow one, and the recipe leaves it out")
{
  const Own own(slow_on_one, recipe_on(""));
  const auto outcome = own.dtctl.json({"submit", "own.yaml", "--distribute", "--wait"});
  INFO(outcome.dump());
  REQUIRE(outcome.at("states") == Json{{"succeeded", 3}});
  const auto results = own.dtctl.json({"results", "own-nodes"});
  REQUIRE(results.at("nodes").size() == 3);
  for (const auto& node : results.at("nodes")) {
    INFO(node.dump());
    CHECK(node.at("runs") == 1);
    CHECK(node.at("is_slow") == (node.at("node") == "127.0.0.1"));
  }
  CHECK(results.at("exclude") == Json{"127.0.0.1"});
  const auto text = own.dtctl.run({"results", "own-nodes"}).out;
  CHECK_THAT(text, Contains("slow node") && Contains("resources: {exclude: [127.0.0.1]}"));
  // Again nothing is left to do; without the slow host there are two runs, with keys of their own.
  CHECK(own.dtctl.json({"submit", "own.yaml", "--distribute"}).at("counts") == Json{{"already_done", 3}});
  own.dtctl.write("own.yaml", recipe_on(", exclude: [127.0.0.1]"));
  CHECK(own.dtctl.json({"submit", "own.yaml", "--distribute", "--dry-run"}).at("runs").size() == 2);
}

TEST_CASE("a distribution needs a recipe of one run and nodes to choose from")
{
  const Own own(slow_on_one, dt::test::recipe());
  auto refused = own.dtctl.run({"submit", "own.yaml", "--distribute"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("resources.hosts"));
  own.dtctl.write("own.yaml", recipe_on(", nodes: 2"));
  refused = own.dtctl.run({"submit", "own.yaml", "--distribute"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("on 2 nodes"));
}
