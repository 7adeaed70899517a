// dtctl compare --against-now: two studies again, interleaved in one.
#include "core/files/file.hpp"
#include "tests/e2e/own_program.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using dt::test::Json;
using dt::test::Own;
using namespace dt;

namespace {

// Prints a throughput of about this many samples/s, a little different in each repeat: a figure that no busy machine changes.
std::string program(int throughput)
{
  return "import os\nprint('throughput', " + std::to_string(throughput) +
         " * (1 + 0.001 * (3 * int(os.environ['DTCTL_REPEAT']) % 7)))\n";
}

// Two versions of one program, each with a study of its own: the second has a tenth of the throughput.
struct TwoVersions : Own {
  TwoVersions()
      : Own(program(1000),
            dt::test::recipe("study: { repeats: 3, vary_seed: true }\n", "  metrics: { throughput: 'throughput ([0-9.]+)' }\n"))
  {
    dtctl.run({"sweep", "own.yaml", "--set", "name=before", "--wait"});
    dtctl.write("train.py", program(100));
    dtctl.run({"sweep", "own.yaml", "--set", "name=after", "--wait"});
  }
  Json compare(const std::vector<std::string>& more = {}) const
  {
    return dtctl.json(test::with({"compare", "after", "--reference", "before"}, more));
  }
};

} // namespace

TEST_CASE("a program that became slower is no regression of studies apart, and is one against now")
{
  const TwoVersions versions;
  const auto apart = versions.compare();
  INFO(apart.dump(1));
  CHECK(apart.at("exit_code") == 0);
  CHECK(apart.at("comparisons")[0].at("verdict") == "different in these runs");
  const auto now = versions.compare({"--against-now"});
  INFO(now.dump(1));
  CHECK(now.at("exit_code") == 5);
  CHECK(now.at("comparisons")[0].at("verdict") == "slower");
  CHECK(now.at("separation").at("interleaved") == true);
  CHECK(now.at("comparisons")[0].at("runs_a") == 3);

  // The rounds of the new study have a run of each side, with the seed of the repeat.
  const auto study = now.at("study").get<std::string>();
  const auto rows = versions.dtctl
                        .json({"query", "SELECT repeat, seed, label, engine_build FROM runs_flat WHERE study_key = '" + study +
                                            "' ORDER BY position"})
                        .at("rows");
  REQUIRE(rows.size() == 6);
  std::map<std::string, std::set<std::string>> builds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].at("repeat") == 3 + static_cast<int>(i) / 2);
    CHECK(rows[i].at("seed") == 1 + static_cast<int>(i) / 2);
    builds[rows[i].at("label")].insert(rows[i].at("engine_build").get<std::string>());
  }
  REQUIRE(builds.size() == 2);
  CHECK(builds.at("side=A").size() == 1);
  CHECK(builds.at("side=A") != builds.at("side=B")); // the earlier version ran with the files that it had

  const auto again = versions.compare({"--against-now"});
  CHECK(again.at("study") != now.at("study"));
  CHECK_THAT(versions.dtctl.run({"compare", "after", "after", "--against-now"}).err, Catch::Contains("the same runs"));
}
