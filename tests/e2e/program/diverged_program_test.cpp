// Programs of the user whose loss becomes NaN or infinite, and those that do not report every phase.
#include "core/files/file.hpp"
#include "tests/e2e/own_program.hpp"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using dt::test::connects;
using dt::test::Json;
using dt::test::Own;
using dt::test::recipe;

namespace {

// Python: 30 steps with this loss, then an evaluation.
std::string losing(const std::string& loss, const std::string& evaluation = "accuracy=0.1")
{
  return "import dtctl_report as report, math\nreport.begin()\nfor i in range(30):\n"
         "    report.step(samples=8, loss=" +
         loss + ")\nreport.evaluation(" + evaluation + ")\nreport.result()\n";
}

const std::string with_target = "train: {target_accuracy: 0.05}\nstudy: {repeats: 2}\n";

std::string all_of(const Own& own, const dt::test::Words& words) { return own.dtctl.run(words).out; }

} // namespace

TEST_CASE("a program whose loss becomes NaN and that ends well has diverged, and everything that names its run says so")
{
  const Own own(losing("math.nan if i >= 15 else 1.0", "accuracy=0.1, loss=math.nan"), recipe(with_target));
  const auto outcome = own.dtctl.run({"sweep", "own.yaml", "--wait"});
  CHECK_THAT(outcome.out + outcome.err, Contains("2 diverged") && Contains("2 runs diverged"));
  const std::string words = "the loss is NaN from step 16 on";
  CHECK(own.cause() == "diverged: " + words);
  CHECK(own.run().at("diverged_step") == 16);
  for (const auto* verb : {"status", "results", "explain", "show"}) {
    INFO(verb);
    CHECK_THAT(all_of(own, std::string(verb) == "show" ? dt::test::Words{"show", "own/#1"} : dt::test::Words{verb}),
               Contains(words));
  }
  CHECK_THAT(all_of(own, {"results", "--runs"}), Contains("diverged") && Contains("NaN"));
  CHECK_THAT(all_of(own, {"status", "--all"}), Contains("2/2 (2 diverged)"));
  CHECK_THAT(all_of(own, {"logs", "own/#1"}),
             Contains("dtctl: note: the loss is NaN at step 16 [job ") && Contains("diverged: " + words));
  CHECK(own.dtctl.run({"report", "-o", "own.html"}).ok());
  CHECK_THAT(dt::read_file(own.dtctl.folder() / "own.html"), Contains(words));
  const auto result = dt::read_result(own.attempt());
  REQUIRE(result);
  CHECK(result->diverged_step == 16);
  CHECK(result->not_finite_steps == 15);
}

TEST_CASE("runs that diverged are left out of accuracy and time to target, and their throughput counts")
{
  const Own own(losing("math.inf if i >= 10 and report.os.environ['DTCTL_REPEAT'] == '1' else 1.0"), recipe(with_target));
  CHECK(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  const auto results = own.dtctl.json({"results"});
  const auto& point = results.at("scaling")[0];
  CHECK(point.at("runs_succeeded") == 2);
  CHECK(point.at("diverged") == 1);
  CHECK(point.at("target_runs") == 1);
  CHECK(point.at("reached") == 1);
  CHECK(results.at("not_finite").at("runs").size() == 1);
  CHECK(results.at("not_finite").at("runs")[0].at("divergence") == "the loss is infinite from step 11 on");
  const auto rows =
      own.dtctl
          .json({"query", "SELECT count(throughput) AS measured, sum(diverged_step) AS step, sum(final_loss IS NULL) "
                          "AS unknown FROM runs_flat"})
          .at("rows");
  CHECK(rows[0] == Json{{"measured", 2}, {"step", 11}, {"unknown", 0}});
  own.submit("sweep"); // it is done, so nothing is repeated
  CHECK(own.dtctl.json({"query", "SELECT max(attempt) AS last FROM runs"}).at("rows")[0].at("last") == 1);
}

TEST_CASE("a loss that is printed as nan is a divergence, also if the expression is written for digits")
{
  const Own own("for step in range(1, 31):\n    loss = 2.0 / step if step < 10 else float('nan')\n"
                "    print(f'step {step}: loss {loss:.3f}, 640 images in 0.050 s')\nprint('test accuracy 10.00 %')\n",
                recipe("", "  metrics: {step: 'step ([0-9]+)', loss: 'loss ([0-9.]+)', samples: '([0-9]+) images', step_s: 'in "
                           "([0-9.]+) s', accuracy_percent: 'accuracy ([0-9.]+)'}\n"));
  CHECK(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(own.cause() == "diverged: the loss is NaN from step 10 on");
}

TEST_CASE("a loss of NaN that becomes finite again is no divergence, and is said")
{
  const Own own(losing("math.nan if i == 7 else 1.0"), recipe(with_target));
  own.submit("sweep");
  CHECK(own.cause().empty());
  CHECK_THAT(all_of(own, {"results"}), Contains("finite again"));
  CHECK_THAT(all_of(own, {"logs", "own/#1"}), Contains("NaN at step 8") && Contains("finite again at step 9"));
  CHECK(own.dtctl.json({"results"}).at("scaling")[0].at("target_runs") == 2);
}

TEST_CASE("an accuracy of NaN is shown as NaN and is not taken for one that was not reported")
{
  const Own own(losing("1.0", "accuracy=math.nan"), recipe());
  own.submit();
  CHECK(own.cause().empty());
  CHECK_THAT(all_of(own, {"results"}), Contains("evaluation is NaN"));
  CHECK_THAT(all_of(own, {"results", "--runs"}), Contains("NaN"));
  const auto row = own.dtctl.json({"query", "SELECT accuracy, eval_loss, not_finite FROM results"}).at("rows")[0];
  CHECK(row == Json{{"accuracy", nullptr}, {"eval_loss", nullptr}, {"not_finite", R"({"accuracy":"NaN"})"}});
}

TEST_CASE("of a program that reports no communication --why names the phase and does not say that computation is slower")
{
  const std::string train =
      connects + "import dtctl_report as report\nreport.begin()\n"
                 "for i in range(12):\n    time.sleep(0.004 * ranks)\n    report.step(loss=1.0 + rank, samples=8, phases=";
  const Own own(train + "{'input': 0.0, 'forward': 0.001, 'backward': 0.003 * ranks, 'optimizer': 0.0})\nreport.result()\n",
                recipe("study: {mode: weak, ranks: [1, 2]}\n"));
  CHECK(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  const auto why = all_of(own, {"results", "--why"});
  CHECK_THAT(why, Contains("Computation or communication costs") && Contains("reports `communication`") &&
                      !Contains("Computation costs"));
  own.dtctl.write("train.py", train + "{'forward': 0.001})\nreport.result()\n");
  own.submit("sweep");
  const auto less = own.dtctl.run({"results", "--why"});
  CHECK(less.exit_code == 0);
  CHECK_THAT(less.out + less.err, Contains("The sum of all causes costs") && Contains("`input`") && !Contains("the same steps"));
}
