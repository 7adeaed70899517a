// dtctl validate --metrics: what expressions find in a file of sample output.
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;
using dt::test::Dtctl;
using dt::test::Json;

namespace {

// A home with the recipe of a program of its own, with these metrics, and a file with output.
struct Sample {
  Dtctl dtctl;
  Sample(const std::string& metrics, const std::string& output)
  {
    dtctl.write("train.py", "pass\n");
    dtctl.write("own.yaml", "version: 1\nname: own\nprogram:\n  command: [python3, train.py]\n  files: [train.py]\n" +
                                (metrics.empty() ? "" : "  metrics: {" + metrics + "}\n"));
    dtctl.write("out.txt", output);
  }
  auto preview(const std::string& file = "out.txt") const { return dtctl.run({"validate", "own.yaml", "--metrics", file}); }
};

const std::string good = "loss: 'loss (\\S+)', samples: '(\\S+) images', accuracy_percent: 'accuracy (\\S+)'";

} // namespace

TEST_CASE("expressions are tried on sample output: lines, first and last figure, and what becomes of them")
{
  const Sample sample(good, "starting\nloss 0.5, 12,640 images\n\nloss 6.32e-08, 640 images\raccuracy \x1b[32m98.2\x1b[0m %\n");
  const auto shown = sample.preview();
  CHECK_THAT(shown.out, Contains("6.32e-08"));
  const auto answer = sample.dtctl.json({"validate", "own.yaml", "--metrics", "out.txt"});
  const auto& metrics = answer.at("metrics");
  REQUIRE(metrics.size() == 3);
  CHECK(metrics[0].at("name") == "accuracy_percent");
  CHECK(metrics[0].at("last") == 98.2);
  CHECK(metrics[1].at("lines") == 2);
  CHECK(metrics[1].at("first") == 0.5);
  CHECK(metrics[1].at("last") == 6.32e-08);
  CHECK(metrics[1].at("last_line") == 4); // as an editor counts
  CHECK(metrics[2].at("first") == 12640);
  CHECK(answer.at("sample").at("steps") == 2);
  CHECK(answer.at("sample").at("evaluations") == 1);
  CHECK(answer.at("valid") == true);
}

TEST_CASE("the preview says what a run records, and what is doubtful about it")
{
  const Sample sample("step: 'step (\\d+)', loss: 'loss (\\S+)', step_s: 'dt (\\S+)', throughput: 'rate (\\S+)'",
                      "step 0 loss 4 dt 50ms rate 100\nstep 1 loss 3 dt 50ms rate 900\nstep 0 loss 2 dt 50ms rate 100\n"
                      "step 1 loss 1 dt 50ms rate 900\nmean rate 500\n");
  const auto shown = sample.preview();
  CHECK(shown.exit_code == 0);
  CHECK_THAT(shown.err, Contains("program.metrics.step went back from 1 to 0") && Contains("go from 100 to 900") &&
                            Contains("1 printed throughput stands in a line without a new step"));
  const auto record = [&](const std::string& setting) {
    return sample.dtctl.json({"validate", "own.yaml", "--metrics", "out.txt", "--set", setting}).at("record");
  };
  CHECK(record("train.warmup_steps=0").at("steps") == 4);
  CHECK(record("train.warmup_steps=0").at("step_p50_s") == 0.05);
  CHECK(record("program.throughput=last").at("throughput") == 500);
}

TEST_CASE("an expression that finds nothing in the sample, or a part of a number, ends with exit code 2 and its place")
{
  const Sample nothing("loss: 'loss (\\S+)', samples: '(\\S+) imags'", "loss 0.5, 640 images\n");
  CHECK(nothing.preview().exit_code == 2);
  CHECK_THAT(nothing.preview().err, Contains("program.metrics.samples"));
  const Sample part("loss: 'loss ([0-9.]+)'", "loss 0.5\nloss 6.32e-08\n");
  CHECK(part.preview().exit_code == 2);
  CHECK_THAT(part.preview().err, Contains("out.txt:2: program.metrics.loss found 6.32"));
}

TEST_CASE("a sample that is not there, a recipe without expressions, and what only Python's engine knows are refused")
{
  const Sample sample(good, "");
  CHECK(sample.preview("nosuch.txt").exit_code == 2);
  CHECK_THAT(sample.preview("nosuch.txt").err, Contains("python3 train.py > FILE 2>&1"));
  CHECK(sample.preview(".").exit_code == 2);
  CHECK_THAT(Sample("", "").preview().err, Contains("the recipe has no program.metrics"));
  for (const auto* expression : {"loss (?=[0-9])(\\S+)", "(?<!val_)loss (\\S+)", "(l)oss\\1"}) {
    const auto answer = Sample("loss: '" + std::string(expression) + "'", "").preview();
    CHECK(answer.exit_code == 2);
    CHECK_THAT(answer.err, Contains("own.yaml:6:19: `program.metrics.loss` is no regular expression"));
  }
}
