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
  CHECK_FALSE(report.evaluations[1].loss);
  CHECK(report.evaluations[2].loss == 0.25);
  CHECK_FALSE(report.evaluations[2].accuracy);
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

TEST_CASE("a number that goes on outside of the group is left out and is said by name with its line, which stays a step")
{
  OutputReader reader(Metrics{{"loss", "loss ([0-9.]+)"}, {"samples", "([0-9]+) images"}});
  RankReport report;
  reader.take("loss 0.5, 640 images", report);
  reader.take("loss 6.32e-08, 12,640 images", report);
  REQUIRE(report.steps.size() == 2);
  CHECK(report.steps[0].samples == 640);
  CHECK_FALSE(report.steps[1].loss);
  CHECK(std::isnan(report.steps[1].samples));
  const auto refusals = reader.new_refusals();
  REQUIRE(refusals.size() == 2);
  CHECK(refusals[0] ==
        "program.metrics.loss found 6.32 in `loss 6.32e-08, 12,640 images`, but the number there is 6.32e-08: let the "
        "group take all of it, as (\\S+) does");
  CHECK(refusals[1].find("program.metrics.samples found 640 in `loss 6.32e-08, 12,640 images`, but the number there is 12,640") ==
        0);
  CHECK(refusals[1].find("comma") == std::string::npos); // it is one number
  reader.take("loss 0.5,640 images", report);
  CHECK(reader.finding("loss").refused == 2);
  CHECK(reader.finding("loss").found == 1);
  CHECK(reader.finding("loss").first_refused_line == 2);
}

TEST_CASE("colours and other terminal codes are not in the way of an expression")
{
  OutputReader reader(Metrics{{"loss", "loss=([0-9.]+)\\]"}});
  RankReport report;
  reader.take("Epoch 1: 3/30, loss=\x1b[32m0.667\x1b[0m]", report);
  REQUIRE(report.steps.size() == 1);
  CHECK(report.steps[0].loss == 0.667);
}

TEST_CASE("a loss that is printed as nan or inf is found by an expression for digits, and the line is a step with that loss")
{
  OutputReader reader(Metrics{{"loss", "loss ([0-9.]+)"}});
  RankReport report;
  for (const auto* line : {"loss 0.5", "loss nan", "loss inf"}) reader.take(line, report);
  REQUIRE(report.steps.size() == 3);
  CHECK((report.steps[1].loss && std::isnan(*report.steps[1].loss)));
  CHECK(std::isinf(report.steps[2].loss.value_or(0)));
  CHECK(reader.finding("loss").found == 3);
  CHECK(reader.new_refusals().empty());
}

TEST_CASE("a percent sign behind an accuracy counts, and other figures are not in percent")
{
  OutputReader reader(Metrics{{"accuracy", "acc ([0-9.]+)"}, {"loss", "loss ([0-9.]+)"}});
  RankReport report;
  reader.take("acc 0.5 %", report);
  reader.finish(report);
  REQUIRE(report.evaluations.size() == 1);
  CHECK(report.evaluations[0].accuracy == Approx(0.005));
  reader.take("loss 5%", report);
  CHECK(reader.new_refusals() ==
        std::vector<std::string>{"program.metrics.loss found 5 in `loss 5%` in percent, but only an accuracy may be in percent"});
}

TEST_CASE("a time in another unit than seconds is left out")
{
  for (const auto* line : {"in 50ms", "in 50 ms,", "in 50 \u00b5s", "in 1.5 min", "in 1:30"}) {
    INFO(line);
    OutputReader reader(Metrics{{"step_s", "in ([0-9.]+)"}});
    RankReport report;
    reader.take(line, report);
    CHECK(reader.new_refusals().size() == 1);
    CHECK(reader.missing() == std::vector<std::string>{"step_s"});
  }
  OutputReader reader(Metrics{{"step_s", "in ([0-9.]+)"}});
  RankReport report;
  for (const auto* line : {"in 0.05 s", "in 0.05s", "in 0.05 seconds", "in 0.05", "in 0.05 minimal", "in 0.05: step"})
    reader.take(line, report);
  CHECK(reader.finding("step_s").found == 6);
}

TEST_CASE("an expression that finds words instead of numbers says which")
{
  OutputReader reader(Metrics{{"loss", "loss (\\S+)"}});
  RankReport report;
  reader.take("loss function: none", report);
  CHECK(report.steps.empty());
  CHECK(reader.finding("loss").no_number ==
        "program.metrics.loss found `function`, which is no number, in `loss function: none`");
}

TEST_CASE(
    "an expression for a figure of each step that has found nothing in two steps is named once, and again when it finds one")
{
  OutputReader reader(Metrics{{"loss", "loss (\\S+)"}, {"samples", "(\\S+) imags"}, {"accuracy", "acc (\\S+)"}});
  RankReport report;
  reader.take("loss 0.5, 640 images", report);
  CHECK(reader.new_silent(false, report).empty());
  reader.take("loss 0.25, 640 images", report);
  CHECK(reader.new_silent(false, report) == std::vector<std::string>{"samples"});
  CHECK(reader.silence("samples") ==
        "program.metrics.samples ((\\S+) imags) has found nothing in the first 2 lines of rank 0, of which the "
        "last is `loss 0.25, 640 images`");
  CHECK(reader.new_silent(false, report).empty());
  CHECK(reader.new_silent(true, report) == std::vector<std::string>{"accuracy"}); // after many lines or a minute
  CHECK(reader.silence("accuracy").find("; it may still come") != std::string::npos);
  CHECK(reader.new_found().empty());
  reader.take("acc 0.5", report);
  CHECK(reader.new_found() == std::vector<std::string>{"accuracy"});
  CHECK(reader.new_found().empty());
}

TEST_CASE("before the first line, an expression has found nothing because nothing was printed")
{
  OutputReader reader(Metrics{{"loss", "loss (\\S+)"}});
  RankReport report;
  CHECK(reader.new_silent(true, report) == std::vector<std::string>{"loss"});
  CHECK(reader.silence("loss") == "program.metrics.loss has found nothing, because rank 0 has printed no line yet");
}

TEST_CASE("where a comma may divide two numbers, the refusal says how to tell them apart")
{
  OutputReader reader(Metrics{{"step", "^(\\d+)"}});
  RankReport report;
  reader.take("12,0.5", report);
  REQUIRE(reader.finding("step").refused == 1);
  CHECK(reader.finding("step").refusal.ends_with(
      "; if a comma divides two numbers there, write it in the expression, directly beside the group"));
}
