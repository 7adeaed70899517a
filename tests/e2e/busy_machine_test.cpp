// A run beside another process on its cores is told as one on a busy machine.
#include "core/process.hpp"
#include "core/record/load_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/busy_loop.hpp"

#include <memory>
#include <vector>

#include <catch2/catch.hpp>

using dt::test::BusyLoop;
using dt::test::Dtctl;

TEST_CASE("a run beside busy loops on its cores is told as one on a busy machine, with what they took")
{
  const Dtctl dtctl;
  dtctl.write("short.yaml",
              "version: 1\nname: short\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 640, test_samples: 32}\n"
              "train: {global_batch: 32, steps: 400, warmup_steps: 2}\n");
  {
    std::vector<std::unique_ptr<BusyLoop>> loops; // wherever the run is put
    for (const int core : dt::cores_in_mask()) loops.push_back(std::make_unique<BusyLoop>(core));
    REQUIRE(dtctl.json({"submit", "short.yaml", "--wait"}).at("states") == dt::test::Json{{"succeeded", 1}});
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
  CHECK(dtctl.run({"results"}).out.find("1 of 1 run: other processes took up to") != std::string::npos);
}
