// The end of an attempt whose program has printed more than was read.
#include "jobs/program/program_recorder.hpp"

#include "core/files/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using Catch::Contains;

namespace {

constexpr std::size_t noise_bytes = 4 * 1024 * 1024;

std::string noise(const std::string& line)
{
  std::string text;
  while (text.size() < noise_bytes) text += line + "\n";
  return text;
}

// An attempt whose program has printed a text and has ended, and of which nothing was read.
struct Ended {
  explicit Ended(std::string printed, const std::map<std::string, std::string>& metrics)
      : text(std::move(printed)), recorder(attempt, run_with(metrics), "token")
  {
    make_folders(attempt.path());
    recorder.begin_launch();
    replace_file(attempt.path_of(AttemptFile::reports) / "rank-0", "rank 0 1 host 0 -\n");
    replace_file(attempt.path_of(AttemptFile::output) / "stdout", text);
  }
  static PlannedRun run_with(const std::map<std::string, std::string>& metrics)
  {
    PlannedRun run;
    run.spec.train.warmup_steps = 0;
    run.spec.train.target_accuracy = 0.9;
    run.spec.program.command = {"true"};
    run.spec.program.metrics = metrics;
    return run;
  }
  RunResult result() const
  {
    const auto found = read_result(attempt);
    REQUIRE(found);
    return *found;
  }
  std::string log() const { return read_file_if_exists(attempt.err()).value_or(""); }

  test::TemporaryFolder folder;
  AttemptFolder attempt{folder.path() / "run", 1};
  std::string text;
  ProgramRecorder recorder;
};

const std::map<std::string, std::string> numbered{
    {"step", "step (\\d+)"}, {"loss", "loss (\\S+)"}, {"accuracy", "accuracy (\\S+)"}, {"samples", "samples (\\S+)"}};

// Steps with figures that get better in the middle than at the end.
std::string training()
{
  return "step 1 loss 1.0 samples 10\naccuracy 0.5\n" + noise("step 2 loss 0.01 samples 10 of the middle") +
         "step 3 loss 0.02 samples 10\naccuracy 0.99\n" + noise("nothing to see here") +
         "step 900 loss 0.125 samples 10\naccuracy 0.75\n";
}

} // namespace

TEST_CASE("of an output that was not read before the program ended, the end is searched, and what needs all lines is unknown")
{
  Ended run(training(), numbered);
  CHECK(run.recorder.conclude(0).code == 0);
  const auto result = run.result();
  CHECK(result.steps == 900);
  CHECK(result.final_loss == 0.125);
  CHECK(result.accuracy == 0.75);
  CHECK(std::isnan(result.best_accuracy));
  CHECK(std::isnan(result.throughput));
  CHECK(std::isnan(result.time_to_accuracy_s));
  CHECK(result.samples_to_accuracy == not_counted);
  CHECK(read_file(run.attempt.out()) == run.text);
  const auto words = "of the output of rank 0 were not searched, because they were not read yet when the program had ended";
  CHECK_THAT(result.facts.at("not searched by program.metrics"), Contains(words));
  CHECK_THAT(run.log(), Contains(words));
}

TEST_CASE("steps that were counted by their lines have no number behind lines that were not searched")
{
  auto metrics = numbered;
  metrics.erase("step");
  Ended run(training(), metrics);
  CHECK(run.recorder.conclude(0).code == 0);
  CHECK(run.result().steps == not_counted);
  CHECK(run.result().final_loss == 0.125);
  CHECK(read_file_if_exists(run.attempt.events()).value_or("").empty());
}

TEST_CASE("figures before lines that were not searched are not the final ones")
{
  RankReport report;
  report.steps.resize(1);
  report.steps[0].loss = 0.5;
  report.evaluations.resize(1);
  report.evaluations[0].accuracy = 0.5;
  report.gap = RankReport::Gap{.bytes = 1000, .steps = 1, .evaluations = 1};
  ProgramMeasurement measurement(RunSpec{});
  measurement.add(report);
  const auto result = measurement.result();
  CHECK_FALSE(result.accuracy);
  CHECK_FALSE(result.final_loss);
}

TEST_CASE("a figure that stands only in lines that were not searched is missing, and the cause says why")
{
  Ended run(noise("nothing") + "accuracy 0.5\n" + noise("nothing"), {{"accuracy", "accuracy (\\S+)"}});
  const auto end = run.recorder.conclude(0);
  CHECK(end.code == 1);
  CHECK_THAT(end.why, Contains("printed no line that matches program.metrics.accuracy") && Contains("were not searched"));
}

TEST_CASE("an output that is read to its end before the conclusion is searched as a whole")
{
  Ended run(training(), numbered);
  while (run.recorder.read_on()) {
  }
  CHECK(run.recorder.conclude(0).code == 0);
  const auto result = run.result();
  CHECK(result.steps == 900);
  CHECK(result.best_accuracy == 0.99);
  CHECK(result.facts.empty());
  CHECK(read_file(run.attempt.out()) == run.text);
  CHECK(run.log().find("not searched") == std::string::npos);
}

TEST_CASE("a line that was searched in part only is left out")
{
  LineCutter cutter(LineCutter::Ends::line_feed_or_carriage_return);
  CHECK(cutter.take("one\nacc") == std::vector<std::string>{"one"});
  cutter.leave_out("uracy 0.1\nin the mid");
  CHECK(cutter.take("dle 0.2\nlast\n") == std::vector<std::string>{"last"});
  cutter.leave_out("whole lines\n");
  CHECK(cutter.take("next", true) == std::vector<std::string>{"next"});
}

TEST_CASE("an attempt that was fenced off while its program ran records neither steps nor an error nor a result")
{
  const int code = GENERATE(0, 3);
  Ended run(training(), numbered);
  if (code != 0)
    replace_file(run.attempt.path_of(AttemptFile::reports) / "rank-0", "rank 0 1 host 0 -\nerror 2 1 \"the loss is NaN\"\n");
  REQUIRE(fence(run.attempt, 2));
  const auto end = run.recorder.conclude(code);
  CHECK(end.code == (code == 0 ? 1 : code));
  CHECK(end.why == "fenced off by attempt 2: it writes nothing more");
  for (const auto& path :
       {run.attempt.begin(), run.attempt.events(), run.attempt.heartbeat(), run.attempt.error(), load_path(run.attempt)})
    CHECK_FALSE(is_there(path));
  CHECK(fenced_by(run.attempt) == 2);
  CHECK(read_file(run.attempt.out()) == run.text); // what the program has printed is kept
}
