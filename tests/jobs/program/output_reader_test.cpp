#include "jobs/program/output_reader.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using Metrics = std::map<std::string, std::string>;

TEST_CASE("figures in one line are one step, and a line with an accuracy is an evaluation")
{
  OutputReader reader(Metrics{{"step", "step ([0-9]+)"},
                              {"loss", "loss ([0-9.]+)"},
                              {"step_s", "in ([0-9.]+) s"},
                              {"samples", "([0-9]+) images"},
                              {"accuracy_percent", "acc ([0-9.]+)%"},
                              {"result", "^done"}});
  RankReport report;
  for (const auto* line :
       {"starting", "step 100 loss 0.5, 3200 images in 2.0 s", "step 200 loss 0.25, 3200 images in 1.0 s", "acc 98.5%"})
    reader.take(line, report);
  REQUIRE(report.steps.size() == 2);
  CHECK(report.steps[1].step == 200);
  CHECK(report.steps[1].samples == 3200);
  CHECK(report.steps[1].step_s == 1);
  CHECK(report.steps[0].loss == 0.5);
  REQUIRE(report.evaluations.size() == 1);
  CHECK(report.evaluations[0].accuracy == Approx(0.985));
  CHECK(reader.missing() == std::vector<std::string>{"result"});
  reader.take("done", report);
  CHECK(reader.missing().empty());
}

TEST_CASE("without a number of the step, lines with a loss are counted")
{
  OutputReader reader(Metrics{{"loss", "loss ([0-9.]+)"}});
  RankReport report;
  for (int i = 0; i < 3; ++i) reader.take("loss 0.5", report);
  CHECK(report.steps.back().step == 3);
  CHECK(std::isnan(report.steps.back().samples));
}

TEST_CASE("impossible figures in the output are left out")
{
  OutputReader reader(Metrics{{"accuracy", "acc ([-0-9.]+)"}, {"samples", "n ([-0-9.e]+)"}, {"step", "step ([-0-9.e]+)"}});
  RankReport report;
  reader.take("acc 98.5", report); // percent, though accuracy is a share
  reader.take("acc -1", report);
  CHECK(report.evaluations.empty());
  reader.take("n -5 step 1e300", report);
  CHECK(std::isnan(report.steps.back().samples));
  CHECK(report.steps.back().step == 1);
}
