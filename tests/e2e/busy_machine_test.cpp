// A run beside another process on its cores is told as one on a busy machine, and a run that a CPU quota held back as such.
#include "core/machine/process.hpp"
#include "core/record/load_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/e2e/own_program.hpp"
#include "tests/support/busy_loop.hpp"
#include "tests/support/cpu_quota.hpp"

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

using dt::test::BusyLoop;
using dt::test::CpuQuota;
using dt::test::Dtctl;
using dt::test::Own;

namespace {

// Reports steps that need a second of processor time each.
constexpr const char* computing = R"(import dtctl_report as report, time
report.begin()
for step in range(2):
    until = time.process_time() + 1
    while time.process_time() < until:
        pass
    report.step(loss=1.0, samples=10)
report.result()
)";

// A busy loop on each core, wherever the run is put.
struct BusyMachine {
  std::vector<std::unique_ptr<BusyLoop>> loops;
  BusyMachine()
  {
    for (const int core : dt::cores_in_mask()) loops.push_back(std::make_unique<BusyLoop>(core));
  }
};

const std::string short_recipe =
    "version: 1\nname: short\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 640, test_samples: 32}\n"
    "train: {global_batch: 32, steps: 200, warmup_steps: 2}\n";

} // namespace

TEST_CASE("a run beside busy loops on its cores is told as one on a busy machine, with what they took")
{
  const Dtctl dtctl;
  dtctl.write("short.yaml", short_recipe);
  {
    const BusyMachine busy;
    REQUIRE(dtctl.json({"submit", "short.yaml", "--set", "train.steps=400", "--wait"}).at("states") ==
            dt::test::Json{{"succeeded", 1}});
  }
  const auto run = std::filesystem::directory_iterator(dtctl.home() / "runs")->path();
  const auto load = dt::read_load({run, 1});
  REQUIRE(load);
  REQUIRE(load->nodes.size() == 1);
  CHECK(load->nodes[0].own_cores == 1);
  CHECK(load->nodes[0].seconds > 0);
  CHECK(load->nodes[0].load_end > 0);
  const auto results = dtctl.json({"results"});
  CHECK(results.at("busy").at("of_runs") == 1);
  REQUIRE(results.at("busy").at("runs").size() == 1);
  CHECK(results.at("busy").at("runs")[0].at("others_share") >= 0.1);
}

TEST_CASE("a program of the user beside busy loops on its cores is told as one on a busy machine, too")
{
  const Own own(computing, dt::test::recipe("train: {warmup_steps: 0}\n"));
  {
    const BusyMachine busy;
    REQUIRE(own.submit().at("states") == dt::test::Json{{"succeeded", 1}});
  }
  const auto load = dt::read_load(own.attempt());
  REQUIRE(load);
  REQUIRE(load->nodes.size() == 1);
  CHECK(load->nodes[0].own_cores == 1);
  CHECK(load->nodes[0].seconds > 0);
  CHECK(load->nodes[0].others_share >= 0.1);
  CHECK(load->nodes[0].others_share < 0.95); // what the program itself used is not others'
  CHECK(own.dtctl.json({"results"}).at("busy").at("runs").size() == 1);
  CHECK_THAT(own.dtctl.run({"results"}).out, Catch::Contains("other processes took"));
  CHECK_THAT(own.dtctl.run({"show", own.run().at("key")}).out, Catch::Contains("machine load"));
}

TEST_CASE("under a CPU quota, doctor, submission, results and --why name the quota")
{
  const CpuQuota quota(0.2); // less than a busy machine leaves to the two ranks
  if (!quota.is_made()) {
    WARN("no control group can be made here");
    return;
  }
  const auto named = "control group " + quota.name() + " has a CPU quota of 0.2 cores";
  const Dtctl dtctl;
  CHECK(dtctl.run({"doctor"}).out.find(named) != std::string::npos);
  dtctl.write("short.yaml", short_recipe + "resources: {ranks_per_node: 2}\n");
  const auto refused = dtctl.run({"submit", "short.yaml"});
  CHECK(refused.exit_code != 0);
  CHECK((refused.out + refused.err).find(named) != std::string::npos);
  REQUIRE(dtctl.json({"submit", "short.yaml", "--set", "resources.oversubscribe=true", "--wait"}).at("states") ==
          dt::test::Json{{"succeeded", 1}});
  const auto results = dtctl.json({"results"});
  REQUIRE(results.at("throttled").size() == 1);
  CHECK(results.at("throttled")[0].at("throttled_share") > 0.05);
  CHECK(results.at("throttled")[0].at("quota_cores") == 0.2);
  CHECK_THAT(dtctl.run({"results", "--why"}).out, Catch::Contains("A CPU quota") && !Catch::Contains("aiting for input costs"));
}

TEST_CASE("a program of the user that a CPU quota held back is told as such")
{
  const CpuQuota quota(0.2);
  if (!quota.is_made()) {
    WARN("no control group can be made here");
    return;
  }
  const Own own(computing, dt::test::recipe("train: {warmup_steps: 0}\n"));
  REQUIRE(own.submit().at("states") == dt::test::Json{{"succeeded", 1}});
  REQUIRE(own.dtctl.json({"results"}).at("throttled").size() == 1);
}
