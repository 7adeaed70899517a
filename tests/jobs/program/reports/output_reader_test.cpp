#include "jobs/program/reports/output_reader.hpp"

#include "core/text.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using Metrics = std::map<std::string, std::string>;

namespace {

// What the expression finds in the line for this figure: "0.05", or "left out".
std::string figure_in(const std::string& name, const std::string& expression, const std::string& line)
{
  OutputReader reader(Metrics{{name, expression}});
  RankReport report;
  reader.take(line, report);
  const auto& finding = reader.finding(name);
  if (finding.refused > 0) return "left out";
  return finding.found > 0 ? format_shortest(finding.last) : "none";
}

std::string time_in(const std::string& expression, const std::string& line) { return figure_in("step_s", expression, line); }
std::string rate_in(const std::string& expression, const std::string& line) { return figure_in("throughput", expression, line); }

RankReport report_of(OutputReader& reader, const std::vector<std::string>& lines)
{
  RankReport report;
  for (const auto& line : lines) reader.take(line, report);
  reader.finish(report);
  return report;
}

std::vector<std::int64_t> numbers_of(const RankReport& report)
{
  std::vector<std::int64_t> numbers;
  for (const auto& step : report.steps) numbers.push_back(step.step);
  return numbers;
}

std::string caveats_of(const RankReport& report)
{
  std::string text;
  for (const auto& caveat : report.caveats) text += caveat.kind + ": " + caveat.sentence + "\n";
  return text;
}

} // namespace

TEST_CASE("figures in one line are one step, and a line with an accuracy is an evaluation")
{
  OutputReader reader(Metrics{{"step", "step ([0-9]+)"},
                              {"loss", "loss ([0-9.]+)"},
                              {"step_s", "in ([0-9.]+) s"},
                              {"samples", "([0-9]+) images"},
                              {"accuracy_percent", "acc ([0-9.]+)%"},
                              {"result", "^done"}});
  auto report = report_of(
      reader, {"starting", "step 100 loss 0.5, 3200 images in 2.0 s", "step 200 loss 0.25, 3200 images in 1.0 s", "acc 98.5%"});
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
  const auto report = report_of(reader, {"loss 0.5", "loss 0.5", "loss 0.5"});
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
  CHECK(refusals[1].find("but the number there is 12,640") != std::string::npos);
  CHECK(refusals[1].find("comma") == std::string::npos); // it is one number
  reader.take("loss 0.5,640 images", report);
  CHECK(reader.finding("loss").refused == 2);
  CHECK(reader.finding("loss").found == 1);
  CHECK(reader.finding("loss").first_refused_line == 2);
}

TEST_CASE("colours and other terminal codes are not in the way of an expression")
{
  OutputReader reader(Metrics{{"loss", "loss=([0-9.]+)\\]"}});
  const auto report = report_of(reader, {"Epoch 1: 3/30, loss=\x1b[32m0.667\x1b[0m]"});
  REQUIRE(report.steps.size() == 1);
  CHECK(report.steps[0].loss == 0.667);
}

TEST_CASE("a loss that is printed as nan or inf is found by an expression for digits, and the line is a step with that loss")
{
  OutputReader reader(Metrics{{"loss", "loss ([0-9.]+)"}});
  const auto report = report_of(reader, {"loss 0.5", "loss nan", "loss inf"});
  REQUIRE(report.steps.size() == 3);
  CHECK((report.steps[1].loss && std::isnan(*report.steps[1].loss)));
  CHECK(std::isinf(report.steps[2].loss.value_or(0)));
  CHECK(reader.finding("loss").found == 3);
  CHECK(reader.new_refusals().empty());
}

TEST_CASE("a percent sign behind an accuracy counts, and other figures are not in percent")
{
  OutputReader reader(Metrics{{"accuracy", "acc ([0-9.]+)"}, {"loss", "loss ([0-9.]+)"}});
  auto report = report_of(reader, {"acc 0.5 %"});
  REQUIRE(report.evaluations.size() == 1);
  CHECK(report.evaluations[0].accuracy == Approx(0.005));
  reader.take("loss 5%", report);
  CHECK(reader.new_refusals() ==
        std::vector<std::string>{"program.metrics.loss found 5 in `loss 5%` in percent, but only an accuracy may be in percent"});
}

TEST_CASE("a time in another unit becomes seconds, wherever the unit stands")
{
  for (const auto* line : {"in 50ms", "in 50 ms,", "in 50000 \u00b5s", "in 0.05 s", "in 0.05s", "in 0.05 seconds", "in 0.05",
                           "in 0.05 minimal", "in 0.05: step", "in 50 [ms]", "in 50 ms/step", "in 20it/s", "in 20 it/s"}) {
    INFO(line);
    CHECK(time_in("in ([0-9.]+)", line) == "0.05");
    const bool has_unit =
        std::string(line).find("minimal") == std::string::npos && std::string(line).find(": step") == std::string::npos;
    CHECK(time_in("in (.+)", line) == (has_unit ? "0.05" : "none"));
  }
  for (const auto* line : {"elapsed time per iteration (ms): 523", "step_time_ms=523", "time [ms] 523", "time/ms: 523",
                           "{'time_ms': 523", "| ms/batch 523 |", "time (s): 0.523"}) {
    INFO(line);
    CHECK(time_in("[ :=]([0-9.]+)", line) == "0.523");
  }
  CHECK(time_in("in ([0-9.]+)", "in 1.5 min") == "90");
}

TEST_CASE("a time whose unit is not clear, or is no time, is left out")
{
  CHECK(time_in("in ([0-9.]+)", "in 1:30") == "left out");
  CHECK(time_in("=([0-9.]+)", "time_min=0.05") == "left out");
  CHECK(time_in("batch ([0-9.]+)", "step 100 ms/batch 5") == "left out");
  CHECK(time_in("=([0-9.]+)", "time_ms=50 us") == "left out");
  CHECK(time_in("in ([0-9.]+)", "in 640 img/s") == "left out");
  CHECK(rate_in("rate ([0-9.]+)", "rate 50 ms") == "left out");
  CHECK(rate_in("rate ([0-9.]+)", "rate 640 tok/s/gpu") == "left out");
  CHECK(figure_in("samples", "n ([0-9.]+)", "n 640 img/s") == "left out");
  CHECK(figure_in("loss", "loss ([0-9.]+)", "loss 1.2k") == "left out");
}

TEST_CASE("a rate may be in thousands, a minute, or turned over, and is in samples a second")
{
  CHECK(rate_in("rate (\\S+)", "rate 12K tok/s") == "12000");
  CHECK(rate_in("([0-9.]+)k img/s", "1.2k img/s") == "1200");
  CHECK(rate_in("rate (\\S+)", "rate 12,640 img/s") == "12640");
  CHECK(rate_in("rate (\\S+)", "rate 600 samples/min") == "10");
  CHECK(rate_in("\\): (\\S+)", "throughput (K tok/s): 12") == "12000");
  CHECK(rate_in(", (\\S+)it/s", "[00:10<00:05, 2.00it/s, loss=1]") == "2");
  CHECK(rate_in(", (\\S+)it/s", "[00:10<00:05, 4.00s/it, loss=1]") == "0.25");
  CHECK(rate_in(", ([^,]+),", "[00:10<00:05, 4.00s/it, loss=1]") == "0.25");
  CHECK(time_in(", (\\S+)s/it", "[00:10<00:05, 2.00it/s, loss=1]") == "0.5");
  CHECK(figure_in("samples", "n (\\S+)", "n 1.2k images") == "1200");
}

TEST_CASE("numbers of steps that begin again in every epoch are counted on")
{
  OutputReader reader(Metrics{{"step", "\\]\\[(\\d+)/"}, {"epoch", "Epoch: \\[(\\d+)\\]"}, {"loss", "Loss (\\S+)"}});
  std::vector<std::string> lines;
  for (int epoch = 0; epoch < 3; ++epoch)
    for (int step = 0; step < 4; ++step)
      lines.push_back("Epoch: [" + std::to_string(epoch) + "][" + std::to_string(step) + "/4] Loss 1." + std::to_string(step));
  const auto report = report_of(reader, lines);
  CHECK(numbers_of(report) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(report.is_count_known);
  CHECK(report.caveats.empty());
  CHECK(reader.new_notes().size() == 1);
}

TEST_CASE("where not every step is printed, the number behind tells how many steps an epoch has, else their count is not known")
{
  OutputReader reader(Metrics{{"step", "step (\\d+)"}, {"loss", "loss (\\S+)"}});
  const auto known = report_of(reader, {"step 0/25 loss 9", "step 10/25 loss 8", "step 20/25 loss 7", "step 0/25 loss 6",
                                        "step 10/25 loss 5", "step 20/25 loss 4"});
  CHECK(numbers_of(known) == std::vector<std::int64_t>{1, 11, 21, 26, 36, 46});
  CHECK(known.is_count_known);
  OutputReader other(Metrics{{"step", "step (\\d+)"}, {"loss", "loss (\\S+)"}});
  const auto unknown = report_of(other, {"step 0 loss 9", "step 10 loss 8", "step 20 loss 7", "step 0 loss 6", "step 10 loss 5"});
  CHECK(numbers_of(unknown) == std::vector<std::int64_t>{1, 11, 21, 22, 32});
  CHECK_FALSE(unknown.is_count_known);
  CHECK(caveats_of(unknown).find("there were at least 32, and how many is not known") != std::string::npos);
}

TEST_CASE("a training that goes back to a checkpoint makes its steps again")
{
  OutputReader reader(Metrics{{"step", "step (\\d+)"}, {"loss", "loss (\\S+)"}});
  const auto report = report_of(reader, {"step 1 loss 4", "step 2 loss 3", "step 3 loss 2", "step 2 loss 3", "step 3 loss 1"});
  CHECK(numbers_of(report) == std::vector<std::int64_t>{1, 2, 3, 2, 3});
  CHECK(caveats_of(report).find("steps 2 to 3 were made twice") != std::string::npos);
  OutputReader epochs(Metrics{{"step", "step (\\d+)"}, {"loss", "loss (\\S+)"}, {"epoch", "epoch (\\d+)"}});
  const auto in_epochs = report_of(epochs, {"epoch 1 step 1 loss 9", "epoch 1 step 2 loss 8", "epoch 2 step 1 loss 7",
                                            "epoch 2 step 2 loss 6", "epoch 2 step 1 loss 7", "epoch 2 step 2 loss 5"});
  CHECK(numbers_of(in_epochs) == std::vector<std::int64_t>{1, 2, 3, 4, 3, 4});
}

TEST_CASE("a bar that is drawn again is no step, and where steps have numbers, a line with a loss alone is none")
{
  OutputReader reader(Metrics{{"step", "(\\d+)/30"}, {"loss", "loss=(\\S+)"}});
  const auto report = report_of(reader, {"1/30 loss=3", "2/30 loss=2", "2/30 loss=2", "test loss=9", "3/30 loss=1"});
  CHECK(numbers_of(report) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(caveats_of(report) == "metrics: 1 line with a loss has no number of a step, so it was not taken for steps\n");
}

TEST_CASE("samples that are counted from the start become those of a step")
{
  OutputReader reader(Metrics{{"step", "iteration +(\\d+)"}, {"samples", "samples: +(\\d+)"}, {"step_s", "\\(ms\\): (\\S+)"}});
  const auto report = report_of(reader, {"iteration 100 | consumed samples: 25600 | elapsed time per iteration (ms): 500 |",
                                         "iteration 200 | consumed samples: 51200 | elapsed time per iteration (ms): 500 |",
                                         "iteration 300 | consumed samples: 76800 | elapsed time per iteration (ms): 500 |"});
  CHECK(std::isnan(report.steps[0].samples));
  CHECK(report.steps[1].samples == 256);
  CHECK(report.steps[2].samples == 256);
  CHECK(report.steps[2].step_s == 0.5);
  CHECK(caveats_of(report).starts_with("metrics: program.metrics.samples grows from line to line (25600, 51200, 76800)"));
  OutputReader mnist(Metrics{{"samples", "\\[(\\d+)/"}, {"loss", "Loss: (\\S+)"}});
  const auto epochs = report_of(mnist, {"[0/2560] Loss: 3", "[640/2560] Loss: 2", "[1280/2560] Loss: 2", "[1920/2560] Loss: 2",
                                        "[0/2560] Loss: 1", "[640/2560] Loss: 1"});
  CHECK(epochs.steps[1].samples == 640);
  CHECK(std::isnan(epochs.steps[4].samples));
  CHECK(epochs.steps[5].samples == 640);
}

TEST_CASE("samples of batches that vary or grow by factors are those of the lines")
{
  for (const auto& printed : {std::vector<int>{64, 64, 64}, {4012, 4095, 3987, 4100}, {8, 16, 32, 64}, {64, 64, 64, 17}}) {
    OutputReader reader(Metrics{{"samples", "(\\d+) images"}});
    std::vector<std::string> lines;
    for (const auto samples : printed) lines.push_back(std::to_string(samples) + " images");
    const auto report = report_of(reader, lines);
    CHECK(report.steps.back().samples == printed.back());
    CHECK(report.caveats.empty());
  }
}

TEST_CASE(
    "an expression for a figure of each step that has found nothing in two steps is named once, and again when it finds one")
{
  OutputReader reader(Metrics{{"loss", "loss (\\S+)"}, {"samples", "(\\S+) imags"}, {"accuracy", "acc (\\S+)"}});
  RankReport report;
  CHECK(OutputReader(Metrics{{"loss", "loss (\\S+)"}}).new_silent(true, report) == std::vector<std::string>{"loss"});
  CHECK(reader.silence("loss") == "program.metrics.loss has found nothing, because rank 0 has printed no line yet");
  reader.take("loss function: none", report);
  CHECK(report.steps.empty());
  CHECK(reader.finding("loss").no_number.starts_with("program.metrics.loss found `function`, which is no number"));
  reader.take("loss 0.5, 640 images", report);
  CHECK(reader.new_silent(false, report).empty());
  reader.take("loss 0.25, 640 images", report);
  CHECK(reader.new_silent(false, report) == std::vector<std::string>{"samples"});
  CHECK(reader.silence("samples") ==
        "program.metrics.samples ((\\S+) imags) has found nothing in the first 3 lines of rank 0, of "
        "which the last is `loss 0.25, 640 images`");
  CHECK(reader.new_silent(false, report).empty());
  CHECK(reader.new_silent(true, report) == std::vector<std::string>{"accuracy"}); // after many lines or a minute
  CHECK(reader.silence("accuracy").ends_with("; it may still come"));
  CHECK(reader.new_found().empty());
  reader.take("acc 0.5", report);
  CHECK(reader.new_found() == std::vector<std::string>{"accuracy"});
  CHECK(reader.new_found().empty());
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
