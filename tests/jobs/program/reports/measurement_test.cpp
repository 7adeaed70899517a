#include "jobs/program/reports/measurement.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

namespace {

constexpr double unknown = not_measured;

StepLine step(std::int64_t number, double seconds, double samples, double forward_s = unknown)
{
  StepLine line{.step = number,
                .clock_s = 100.0 + static_cast<double>(number),
                .step_s = seconds,
                .samples = samples,
                .loss = 1.0 / static_cast<double>(number),
                .learning_rate = {}};
  line.phase_s = {0, forward_s, 0, 0, 0, 0};
  return line;
}

RankReport rank(int number, std::vector<StepLine> steps)
{
  RankReport report;
  report.start.rank = number;
  report.begin = BeginLine{100, 0};
  report.steps = std::move(steps);
  return report;
}

RunSpec spec_with_warmup(std::int64_t steps)
{
  RunSpec spec;
  spec.train.warmup_steps = steps;
  return spec;
}

RunResult result_of(const RunSpec& spec, const std::vector<RankReport>& reports, int attempt = 1)
{
  ProgramMeasurement measurement(spec, attempt);
  for (const auto& report : reports) measurement.add(report);
  return measurement.result();
}

std::vector<CaveatLine> gaps_of(const std::vector<RankReport>& reports, const RunSpec& spec = spec_with_warmup(0))
{
  ProgramMeasurement measurement(spec);
  for (const auto& report : reports) measurement.add(report);
  return measurement.gaps();
}

} // namespace

TEST_CASE("throughput is the samples of all ranks over the time of the slowest, without the warm-up")
{
  const auto result = result_of(spec_with_warmup(1), {rank(0, {step(1, 9, 10), step(2, 1, 10), step(3, 1, 10)}),
                                                      rank(1, {step(1, 9, 10), step(2, 1, 10), step(3, 3, 10)})});
  CHECK(result.measured_samples == 40);
  CHECK(result.measured_s == 4);
  CHECK(result.throughput == 10);
  CHECK(result.steps == 3);
  CHECK(result.warmup_steps == 1);
  CHECK(result.final_loss == 1.0 / 3);
}

TEST_CASE("the samples of a step are those of all workers, also if one of them makes fewer steps or a line stands for many")
{
  const auto even =
      result_of(spec_with_warmup(1), {rank(0, {step(1, 1, 10), step(2, 1, 10)}), rank(1, {step(1, 1, 6), step(2, 1, 6)})});
  CHECK(even.step_samples == 16);
  auto short_one = rank(1, {step(1, 1, 6), step(2, 1, 6)});
  short_one.result = ResultLine{};
  const auto uneven = result_of(spec_with_warmup(0), {rank(0, {step(1, 1, 10), step(2, 1, 10), step(3, 1, 10)}), short_one});
  CHECK(uneven.step_samples == 16);
  CHECK(result_of(spec_with_warmup(0), {rank(0, {step(1, 1, 8), step(11, 10, 80)})}).step_samples == 8);
  CHECK(std::isnan(result_of(spec_with_warmup(0), {rank(0, {step(1, 1, unknown)})}).step_samples));
}

TEST_CASE("what a program does not report is not measured, and is never 0")
{
  const auto silent = result_of(spec_with_warmup(0), {rank(0, {})});
  CHECK(silent.steps == not_counted);
  CHECK(silent.measured_samples == not_counted);
  CHECK(std::isnan(silent.throughput));
  CHECK_FALSE(silent.accuracy);
  CHECK_FALSE(silent.final_loss);
  CHECK(silent.diverged_step == not_counted);
  CHECK(std::isnan(silent.communication_share));
  CHECK(silent.parameters == not_counted);
  CHECK(silent.ranks[0].memory_peak_bytes == not_counted);
  CHECK(silent.ranks[0].bytes_sent == not_counted);
  const auto without_samples = result_of(spec_with_warmup(0), {rank(0, {step(1, 1, unknown)})});
  CHECK(std::isnan(without_samples.throughput));
  CHECK(without_samples.measured_samples == not_counted);
  CHECK(without_samples.measured_s == 1);
  CHECK(std::isnan(without_samples.work.useful_s));
}

TEST_CASE("without begin() the first step is not measured, and times from the start are not known")
{
  auto report = rank(0, {step(1, unknown, 10), step(2, 1, 10)});
  report.begin.reset();
  report.evaluations.push_back({.step = 2, .clock_s = 103, .eval_s = 1, .accuracy = 0.9, .loss = {}, .samples = unknown});
  auto spec = spec_with_warmup(0);
  spec.train.target_accuracy = 0.5;
  const auto result = result_of(spec, {report});
  CHECK(result.throughput == 10);
  CHECK(result.measured_samples == 10);
  CHECK(std::isnan(result.wall_s));
  CHECK(std::isnan(result.time_to_accuracy_s));
  CHECK(result.samples_to_accuracy == 20);
}

TEST_CASE("the sums of attribution are those of the phases of all ranks, step by step")
{
  const auto result = result_of(spec_with_warmup(0),
                                {rank(0, {step(1, 4, 1, 1), step(2, 4, 1, 3)}), rank(1, {step(1, 4, 1, 2), step(2, 4, 1, 1)})});
  CHECK(result.work.useful_s == 7);
  CHECK(result.work.useful_max_s == 4);
  CHECK(result.work.useful_step_max_s == 5);
  CHECK(result.work.busy_step_max_s == 5);
  CHECK(result.work.useful_fast_s == 3);
  CHECK(result.work.useful_step_fast_s == 2); // two steps, and the lower quartile of 1, 1, 2 and 3 is 1
  CHECK(result.ranks[0].late_s == 1);
  CHECK(result.ranks[1].late_s == 0.5);
}

TEST_CASE("the time between epochs of an observed program is the mean of its ranks, and of another program not known")
{
  auto first = rank(0, {step(1, 4, 1, 1), step(2, 4, 1, 3)}), second = rank(1, {step(1, 4, 1, 2), step(2, 4, 1, 1)});
  CHECK(std::isnan(result_of(spec_with_warmup(0), {first, second}).between.other_s));
  CHECK(std::isnan(result_of(spec_with_warmup(0), {first, second}).work.paused_step_max_s));
  first.choices.push_back({"observed", "PyTorch"});
  first.steps[1].between = {0.25, 0.5, 0};
  second.steps[1].between = {0, 0, 0.5};
  const auto result = result_of(spec_with_warmup(0), {first, second});
  CHECK(result.between.loader_s == 0.125);
  CHECK(result.between.checkpoint_s == 0.25);
  CHECK(result.between.other_s == 0.25);
  CHECK(result.work.busy_step_max_s == 5);
  CHECK(result.work.paused_step_max_s == 5.75); // the second step takes the first rank 3.75
}

TEST_CASE("a noise scale in batches of a worker becomes one in samples")
{
  auto first = rank(0, {step(1, 1, 10), step(2, 1, 10)}), second = rank(1, {step(1, 1, 30), step(2, 1, 30)});
  first.noise_in_batches = {2, 1, 4};
  const auto noise = result_of(spec_with_warmup(0), {first, second}).noise;
  CHECK((noise.value == 40 && noise.low == 20 && noise.high == 80));
}

TEST_CASE("where other processes or threads train as well, the samples of all are not known")
{
  auto report = rank(0, {step(1, 1, 10), step(2, 1, 10)});
  report.caveats.push_back({"processes", "several processes train"});
  const auto result = result_of(spec_with_warmup(0), {report});
  CHECK(result.steps == 2);
  CHECK(result.measured_s == 2);
  CHECK(std::isnan(result.throughput));
  CHECK(result.measured_samples == not_counted);
}

TEST_CASE("a program that goes on from a checkpoint leaves out its warm-up again, and its time to the target is not known")
{
  auto report = rank(0, {step(101, 9, 10), step(102, 1, 10)});
  report.begin = BeginLine{100, 100};
  report.evaluations.push_back({.step = 102, .clock_s = 103, .eval_s = 1, .accuracy = 0.9, .loss = 0, .samples = 10});
  auto spec = spec_with_warmup(1);
  spec.train.target_accuracy = 0.5;
  const auto result = result_of(spec, {report});
  CHECK(result.throughput == 10);
  CHECK(result.resumed_step == 100);
  CHECK(result.steps == 102);
  CHECK(std::isnan(result.time_to_accuracy_s));
  CHECK(result.samples_to_accuracy == not_counted);
}

TEST_CASE("if a rank reports no steps although several others do, the throughput is not known, but rank 0 may report for all")
{
  const std::vector<RankReport> reports{rank(0, {step(1, 1, 10)}), rank(1, {}), rank(2, {step(1, 1, 10)})};
  const auto result = result_of(spec_with_warmup(0), reports);
  CHECK(std::isnan(result.throughput));
  CHECK(result.measured_samples == not_counted);
  CHECK(result.facts.at("ranks that reported steps") == "2 of 3");
  REQUIRE(gaps_of(reports).size() == 1);
  CHECK(gaps_of(reports)[0].sentence.starts_with("rank 1 reported no steps, although other ranks did"));
  const std::vector<RankReport> of_all{rank(0, {step(1, 1, 20)}), rank(1, {})};
  CHECK(result_of(spec_with_warmup(0), of_all).throughput == 20);
  CHECK(result_of(spec_with_warmup(0), of_all).facts.at("ranks that reported steps") == "1 of 2");
  CHECK(gaps_of(of_all).size() == 1);
}

TEST_CASE("a rank whose report ends early has stopped reporting, unless it says that this is its end")
{
  std::vector<RankReport> reports{rank(0, {step(1, 1, 10), step(2, 1, 10)}), rank(1, {step(1, 1, 10)})};
  auto result = result_of(spec_with_warmup(0), reports);
  CHECK(std::isnan(result.throughput));
  CHECK(gaps_of(reports).size() == 1);
  reports[1].result = ResultLine{};
  result = result_of(spec_with_warmup(0), reports);
  CHECK(result.throughput == 15);
  CHECK(result.facts.at("last step of rank 1") == "1 of 2");
  CHECK(gaps_of(reports).empty());
}

TEST_CASE("of a later attempt whose begin nobody reports, what depends on it is not known, and its warm-up is left out")
{
  auto report = rank(0, {step(100, 9, 10), step(110, 5, 10), step(120, 1, 10)});
  report.begin.reset();
  report.is_printed = report.is_numbered = true;
  report.evaluations.push_back({.step = 120, .clock_s = unknown, .eval_s = unknown, .accuracy = 0.9, .loss = 0, .samples = 10});
  auto spec = spec_with_warmup(5);
  spec.train.target_accuracy = 0.5;
  const auto later = result_of(spec, {report}, 2);
  CHECK(later.resumed_step == not_counted);
  CHECK(later.warmup_steps == not_counted);
  CHECK(later.samples_to_accuracy == not_counted);
  CHECK(later.steps == 120);
  CHECK(later.throughput == 10); // of the last line: before it are 10 steps, after the first line
  const auto first = result_of(spec, {report}, 1);
  CHECK(first.resumed_step == 0);
  CHECK(first.warmup_steps == 5);
  CHECK(first.samples_to_accuracy == 30);
  report.steps.front().step = 1; // it began at the beginning again
  CHECK(result_of(spec, {report}, 2).resumed_step == 0);
  report.is_numbered = false; // the lines are counted, so the number of the first is always 1
  CHECK(result_of(spec, {report}, 2).resumed_step == not_counted);
  CHECK(result_of(spec, {report}, 2).steps == not_counted);
}

TEST_CASE(
    "without an evaluation it is not known how many samples the target accuracy needs, and with one 0 says that it was not met")
{
  auto spec = spec_with_warmup(0);
  spec.train.target_accuracy = 0.5;
  auto report = rank(0, {step(1, 1, 10)});
  CHECK(result_of(spec, {report}).samples_to_accuracy == not_counted);
  report.evaluations.push_back({.step = 1, .clock_s = 102, .eval_s = 1, .accuracy = 0.25, .loss = 0, .samples = 10});
  CHECK(result_of(spec, {report}).samples_to_accuracy == 0);
}

namespace {

// Read through its output: a line for each of `steps` steps, a second apart, and an accuracy of 0.9 a second after the last one.
RankReport printed(int steps, double seconds)
{
  auto report = rank(0, {});
  for (int i = 1; i <= steps; ++i) report.steps.push_back(step(i, seconds, 10)); // clock: 100 + i
  report.begin.reset();
  report.is_printed = true;
  report.started_clock_s = 98;
  const double end_s = report.steps.back().clock_s + 1;
  report.evaluations.push_back(
      {.step = steps, .clock_s = end_s, .eval_s = unknown, .accuracy = 0.9, .loss = {}, .samples = unknown});
  return report;
}

RunSpec spec_with_target(double accuracy)
{
  auto spec = spec_with_warmup(0);
  spec.train.target_accuracy = accuracy;
  return spec;
}

} // namespace

TEST_CASE("what ranks say that limits the measurement is in the result, a sentence once, beside the gaps in their reports")
{
  auto first = printed(4, 0.75), second = first;
  first.is_printed = second.is_printed = false;
  second.start.rank = 1;
  second.steps.clear();
  first.caveats = {{"samples", "batches have no length"}, {"observation", "it stopped at step 3"}};
  second.caveats = {{"samples", "batches have no length"}, {"samples", "and no tensors"}};
  const auto result = result_of(spec_with_warmup(0), {first, second});
  CHECK(result.caveats == TextMap{{"samples", "batches have no length; and no tensors"},
                                  {"observation", "it stopped at step 3"},
                                  {"reports", "only rank 0 of 2 ranks reported steps; its samples count as those of all ranks"}});
}

TEST_CASE(
    "of a program that is read through its output, the time to the target counts from the first step if its length is known")
{
  const auto report = printed(4, 0.75);
  const auto result = result_of(spec_with_target(0.5), {report});
  CHECK(result.time_to_accuracy_s == Approx(105 - (101 - 0.75)));
  CHECK(result.wall_s == Approx(105 - (101 - 0.75)));
  CHECK(gaps_of({report}, spec_with_target(0.5)).empty());
  CHECK(std::isnan(result_of(spec_with_target(0.95), {report}).time_to_accuracy_s));                     // missed
  CHECK(result_of(spec_with_target(0.5), {printed(4, unknown)}).time_to_accuracy_s == Approx(105 - 98)); // from its start
}

TEST_CASE("lines that were kept in a buffer tell no time to the target, and a note says so")
{
  const auto check = [](const RankReport& report, const std::string& why) {
    CHECK(std::isnan(result_of(spec_with_target(0.5), {report}).time_to_accuracy_s));
    const auto gaps = gaps_of({report}, spec_with_target(0.5));
    REQUIRE(gaps.size() == 1);
    CHECK(gaps[0].sentence.find("the time to the target is not known: " + why) == 0);
  };
  CHECK(gaps_of({printed(4, 5)}).empty()); // where no target is asked for
  check(printed(4, 5),
        "its steps took 15s by program.metrics.step_s, but their lines came within 4s"); // 3 of 4 lie between lines
  auto at_once = printed(4, unknown);
  for (auto& line : at_once.steps) line.clock_s = 105;
  check(at_once, "all of its lines came at once, 7s after its start");
  auto brief = printed(4, unknown);
  brief.started_clock_s = 104.5;
  for (auto& line : brief.steps) line.clock_s = 104.75;
  check(brief, "it ran for less than a second");
}

namespace {

// A rank 0 with these losses.
RankReport with_losses(const std::vector<Reported>& losses, int number = 0)
{
  std::vector<StepLine> steps;
  for (const auto& loss : losses) {
    steps.push_back(step(static_cast<std::int64_t>(steps.size()) + 1, 1, 10));
    steps.back().loss = loss;
  }
  return rank(number, steps);
}

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE(
    "a run whose loss on any rank is NaN or infinite to its end has diverged at the first such step, and keeps its throughput")
{
  const auto result = result_of(spec_with_warmup(0), {with_losses({1, 2, no_number, infinity})});
  CHECK(result.diverged_step == 3);
  CHECK(result.divergence == "the loss is NaN from step 3 on");
  CHECK(result.not_finite_steps == 2);
  CHECK(result.final_loss == infinity);
  CHECK(result.throughput == 10);
  const auto other = result_of(spec_with_warmup(0), {with_losses({1, 1, 1}), with_losses({1, no_number, no_number}, 1)});
  CHECK(other.diverged_step == 2);
  CHECK(other.divergence == "the loss of rank 1 is NaN from step 2 on");
  const auto recovered = result_of(spec_with_warmup(0), {with_losses({1, infinity, 2, {}})});
  CHECK(recovered.diverged_step == not_counted);
  CHECK(recovered.divergence.empty());
  CHECK(recovered.not_finite_steps == 1);
}

TEST_CASE("a last evaluation with an infinite loss is a divergence, and an accuracy of NaN is recorded and is none")
{
  auto report = with_losses({1, 1});
  report.evaluations.push_back({.step = 1, .accuracy = 0.5, .loss = infinity});
  report.evaluations.push_back({.step = 2, .accuracy = no_number, .loss = infinity});
  const auto result = result_of(spec_with_warmup(0), {report});
  CHECK(result.divergence == "the loss on the held-out set is infinite from step 1 on");
  REQUIRE(result.accuracy);
  CHECK(std::isnan(*result.accuracy));
  CHECK(result.best_accuracy == 0.5);
  report.evaluations.back().loss = 1.0;
  CHECK(result_of(spec_with_warmup(0), {report}).divergence.empty());
}

TEST_CASE("a run whose ranks were started again says so, and where its last training began is not known unless it says that")
{
  auto again = rank(0, {step(1, 1, 10), step(2, 1, 10), step(3, 1, 10)});
  again.worker = WorkerLine{7, 1, 2};
  const auto told = result_of(spec_with_warmup(1), {again});
  CHECK(told.facts.at("restarts").find("2 times") != std::string::npos);
  CHECK(told.measured_samples == 20);
  CHECK(told.steps == 3);
  again.begin.reset();
  const auto untold = result_of(spec_with_warmup(1), {again});
  CHECK(untold.measured_samples == 10);
  CHECK(untold.steps == not_counted);
}
