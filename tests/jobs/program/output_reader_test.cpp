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

TEST_CASE("figures that stand alone in lines are not lost")
{
  OutputReader reader(Metrics{{"loss", "^loss ([0-9.]+)"},
                              {"epoch", "Epoch ([0-9]+)"},
                              {"learning_rate", "lr ([0-9.]+)"},
                              {"step", "step ([0-9]+)"},
                              {"forward_s", "forward ([0-9.]+)"},
                              {"eval_loss", "test loss ([0-9.]+)"},
                              {"accuracy", "acc ([0-9.]+)"}});
  RankReport report;
  for (const auto* line : {"lr 0.5", "Epoch 1", "step 10", "forward 0.25", "loss 3", "loss 2", "test loss 0.75", "acc 0.5",
                           "Epoch 2", "loss 1", "acc 0.75", "loss 0.5", "test loss 0.25"})
    reader.take(line, report);
  CHECK(report.evaluations.size() == 2); // of the last one the accuracy may still come
  reader.finish(report);
  REQUIRE(report.steps.size() == 4);
  CHECK(report.steps[0].step == 10);
  CHECK(report.steps[0].phase_s[static_cast<std::size_t>(Phase::forward)] == 0.25);
  CHECK(std::isnan(report.steps[1].phase_s[static_cast<std::size_t>(Phase::forward)]));
  CHECK(report.steps[1].step == 11);
  CHECK(report.steps[1].epoch == 1);
  CHECK(report.steps[2].epoch == 2);
  CHECK(report.steps[2].learning_rate == 0.5);
  REQUIRE(report.evaluations.size() == 3);
  CHECK(report.evaluations[0].loss == 0.75);
  CHECK(report.evaluations[0].accuracy == 0.5);
  CHECK(report.evaluations[1].accuracy == 0.75);
  CHECK(std::isnan(report.evaluations[1].loss));
  CHECK(report.evaluations[2].loss == 0.25);
  CHECK(std::isnan(report.evaluations[2].accuracy));
  CHECK(report.evaluations[2].step == 13);
  CHECK(reader.missing().empty());
}

TEST_CASE("impossible figures in the output are left out, are said once, and are no evidence")
{
  OutputReader reader(Metrics{{"accuracy", "acc ([-0-9.]+)"}, {"samples", "n ([-0-9.e]+)"}, {"step", "step ([-0-9.e]+)"}});
  RankReport report;
  reader.take("acc 98.5", report); // percent, though accuracy is a share
  reader.take("acc -1", report);
  CHECK(report.evaluations.empty());
  CHECK(reader.new_refusals() == std::vector<std::string>{"program.metrics.accuracy found 98.5, but an accuracy lies between 0 "
                                                          "and 1; use accuracy_percent if the program prints percent"});
  CHECK(reader.new_refusals().empty());
  reader.take("n -5 step 1e300", report);
  CHECK(std::isnan(report.steps.back().samples));
  CHECK(report.steps.back().step == 1);
  CHECK(reader.missing() == std::vector<std::string>{"accuracy", "samples", "step"});
}
