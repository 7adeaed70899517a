// Trouble around programs of the user: records that cannot be written, ranks that fail one after another, figures that are
// missing.
#include "core/files/file.hpp"
#include "core/record/event_record.hpp"
#include "core/text.hpp"
#include "tests/e2e/own_program.hpp"
#include "tests/support/eventually.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using dt::test::eventually;
using dt::test::Json;
using dt::test::Own;
using dt::test::recipe;
using dt::test::result_of;
using dt::test::trainer;

namespace {

const std::string two_ranks = "resources: {ranks_per_node: 2}\n";

// Python: waits until there is a file of this name in the folder of the test.
std::string wait_for(const Own& own, const std::string& name)
{
  return "while not os.path.exists('" + (own.dtctl.folder() / name).string() + "'): time.sleep(0.01)\n";
}

std::string words_of(const Own& own) { return dt::read_file_if_exists(own.attempt().err()).value_or(""); }

std::size_t lines_with(const std::string& text, const std::string& beginning)
{
  std::size_t count = 0;
  for (const auto& line : dt::split(text, '\n')) count += line.starts_with(beginning);
  return count;
}

} // namespace

TEST_CASE("records that cannot be written for a while do not end the training, and are complete afterwards")
{
  const Own own("");
  own.dtctl.write("train.py", "import dtctl_report as report, os, time\nreport.begin()\n" + wait_for(own, "begin") +
                                  "for i in range(4): report.step(loss=1.0, samples=10)\n" + wait_for(own, "go") +
                                  "for i in range(4): report.step(loss=1.0, samples=10)\nreport.result()\n");
  own.dtctl.json({"submit", "own.yaml"});
  REQUIRE(eventually([&] { return dt::is_there(own.attempt().heartbeat()); }));
  fs::create_directory(own.attempt().events()); // so that it cannot be opened
  own.dtctl.write("begin", "");
  REQUIRE(
      eventually([&] { return words_of(own).find("cannot be written now") != std::string::npos || own.state() == "failed"; }));
  CHECK(own.left_behind() > 0);
  fs::remove(own.attempt().events());
  REQUIRE(eventually([&] { return words_of(own).find("are complete again") != std::string::npos || own.state() == "failed"; }));
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 0);
  CHECK(lines_with(dt::read_file(own.attempt().events()), "step ") == 8);
  CHECK(lines_with(words_of(own), "dtctl: note: the records of the run cannot be written now: open ") == 1); // told once
}

TEST_CASE("a heartbeat that cannot be written is told once, and not told to be complete between two attempts")
{
  const Own own("");
  own.dtctl.write("train.py", "import dtctl_report as report, os, time\nreport.begin()\nreport.step(loss=1.0, samples=10)\n" +
                                  wait_for(own, "second") + "report.step(loss=1.0, samples=10)\n" + wait_for(own, "third") +
                                  "report.step(loss=1.0, samples=10)\n" + wait_for(own, "go") + "report.result()\n");
  own.dtctl.json({"submit", "own.yaml"});
  REQUIRE(eventually([&] { return dt::is_there(own.attempt().heartbeat()); }));
  const auto has_steps = [&](std::size_t steps) {
    return eventually([&] { return lines_with(dt::read_file_if_exists(own.attempt().events()).value_or(""), "step ") == steps; });
  };
  std::error_code in_the_way; // dtjob may write the file between the two
  REQUIRE(eventually([&] {
    fs::remove(own.attempt().heartbeat(), in_the_way);
    return fs::create_directory(own.attempt().heartbeat(), in_the_way);
  }));
  REQUIRE(eventually([&] { return words_of(own).find("cannot be written now") != std::string::npos; }));
  own.dtctl.write("second", "");
  REQUIRE(has_steps(2));
  own.dtctl.write("third", "");
  REQUIRE(has_steps(3)); // what the look at the second step had to say is said
  CHECK(words_of(own).find("are complete again") == std::string::npos);
  fs::remove(own.attempt().heartbeat());
  CHECK(eventually([&] { return words_of(own).find("are complete again") != std::string::npos; }));
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 0);
  CHECK(lines_with(words_of(own), "dtctl: note: the records of the run cannot be written now: ") == 1);
}

TEST_CASE("a run whose records cannot be written at its end has failed, although its program has a result")
{
  const Own own("");
  own.dtctl.write("train.py", "import dtctl_report as report, os, time\nreport.begin()\n" + wait_for(own, "begin") +
                                  "report.step(loss=1.0, samples=10)\nreport.result()\n");
  own.dtctl.json({"submit", "own.yaml"});
  REQUIRE(eventually([&] { return dt::is_there(own.attempt().heartbeat()); }));
  fs::create_directory(own.attempt().events());
  own.dtctl.write("begin", "");
  REQUIRE(eventually([&] { return dt::is_there(own.attempt().end()); }));
  fs::remove(own.attempt().events());
  CHECK(own.state() == "failed");
  CHECK(own.cause() == "the run's records could not be written, so it has no result: open " + own.attempt().events().string() +
                           ": Is a directory (exit code 74)");
  CHECK_FALSE(dt::is_there(own.attempt().result()));
}

TEST_CASE("a rank that fails because another one has left after the warning does not turn a stopped run into a failed one")
{
  const std::string way = GENERATE("raise RuntimeError('connection closed by peer')", "os.abort()");
  const Own own("import dtctl_report as report, os, signal, sys, time\n"
                "left = os.environ['DTCTL_KEEP_FOLDER'] + '/left'\n"
                "def leave(*_):\n    open(left, 'w').close()\n    sys.exit(0)\n"
                "if os.environ['RANK'] == '0': signal.signal(signal.SIGUSR1, leave)\n"
                "report.begin()\nreport.step(loss=1.0, samples=3)\n"
                "while not os.path.exists(left): time.sleep(0.01)\n" +
                    way + "\n",
                recipe("resources: {ranks_per_node: 2, time_limit: 60s, signal_ahead: 50s}\n"));
  CHECK(own.submit().at("states") == Json{{"preempted", 1}});
  CHECK(own.cause() == "it reached its time limit at step 1");
  if (way != "os.abort()")
    CHECK_THAT(words_of(own),
               Contains("rank 1 reported an error after the run was told to stop: RuntimeError: connection closed"));
}

TEST_CASE("a rank that stops reporting leaves the throughput unknown, because a part of the samples is missing")
{
  const Own own("import dtctl_report as report, os, time\nreport.begin()\nfor i in range(20):\n    time.sleep(0.002)\n"
                "    if os.environ['RANK'] == '0' or i < 10: report.step(loss=1.0, samples=10)\n"
                "if os.environ['RANK'] == '0': report.result()\n",
                recipe(two_ranks));
  CHECK(std::isnan(result_of(own).throughput));
  CHECK_THAT(words_of(own), Contains("rank 1 reported its last step at 10 of 20"));
}

TEST_CASE("a rank that ends with exit code 0 while another one waits for it is the cause, and the run ends before its time limit")
{
  const std::string launcher = GENERATE("mpirun", "dtjob");
  const int leaving = GENERATE(0, 1);
  const Own own(
      "import dtctl_report as report, os, sys, time\nreport.begin()\n"
      "for i in range(3): report.step(loss=1.0, samples=8)\n"
      "if os.environ['RANK'] == '" +
          std::to_string(leaving) + "': os._exit(0)\nwhile True: time.sleep(1)\n",
      recipe("train: {stall_after: 2s}\nresources: {ranks_per_node: 2, oversubscribe: true, time_limit: 10m, launcher: " +
             launcher + "}\n"));
  INFO(launcher << " " << leaving);
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.cause(),
             StartsWith("rank " + std::to_string(leaving) + " ended with exit code 0 without a result at step 3, and rank " +
                        std::to_string(1 - leaving) + " waited for it"));
}

TEST_CASE("a rank that has left before the first step is the cause, too, and one that has told its result is not")
{
  const auto leaves = recipe("train: {stall_after: 2s}\nresources: {ranks_per_node: 2, oversubscribe: true, time_limit: 10m}\n");
  const Own own("import dtctl_report as report, os, time\nreport.begin()\nif os.environ['RANK'] == '1': os._exit(0)\n"
                "while True: time.sleep(1)\n",
                leaves);
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK(own.cause() == "rank 1 ended with exit code 0 without a result before its first step, and rank 0 waited for it");
  const Own done("import dtctl_report as report, os, time\nreport.begin()\nreport.step(loss=1.0, samples=8)\n"
                 "if os.environ['RANK'] == '1':\n    report.result()\n    os._exit(0)\ntime.sleep(5)\nreport.result()\n",
                 leaves);
  CHECK(done.submit().at("states") == Json{{"succeeded", 1}});
}

TEST_CASE("a rank that computes on after another one has ended without a result does not wait for it")
{
  const Own own("import dtctl_report as report, os, time\nreport.begin()\nreport.step(loss=1.0, samples=8)\n"
                "if os.environ['RANK'] == '1': os._exit(0)\n"
                "end = time.time() + 6\nwhile time.time() < end: pass\nreport.result()\n",
                recipe("train: {stall_after: 2s}\nresources: {ranks_per_node: 2, oversubscribe: true, time_limit: 10m}\n"));
  CHECK(own.submit().at("states") == Json{{"succeeded", 1}});
}

TEST_CASE(
    "every state of a progress bar whose lines end in carriage returns is read, logs show the last one, and its text is kept")
{
  const Own own("import sys\nfor i in range(1, 4): sys.stderr.write(f'\\r train: {i}/3')\nsys.stderr.write('\\n')\n"
                "for i in range(1, 2001): print(f'step {i} loss {1 / i:.6f} ' + 40 * '#', end='\\r')\nprint()\n",
                recipe("", "  metrics: {step: 'step (\\d+)', loss: 'loss ([0-9.]+)'}\n"));
  CHECK(result_of(own).steps == 2000);
  CHECK(lines_with(dt::read_file(own.attempt().events()), "step ") == 2000);
  const auto logs = own.dtctl.run({"logs", "own"}).out, out = dt::read_file(own.attempt().out());
  CHECK_THAT(logs, Contains(" train: 3/3\n") && !Contains("1/3") && !Contains("x0d"));
  CHECK_THAT(words_of(own), Contains("\r train: 1/3\r train: 2/3\r train: 3/3\n"));
  CHECK(std::count(out.begin(), out.end(), '\r') == 2000);
}

TEST_CASE("a run records of what it prints what validate says, step for step")
{
  const Own own(
      "for epoch in range(3):\n    for step in range(4):\n"
      "        print(f'epoch {epoch} step {step} loss {4 - epoch}.{step} rate {100 + 800 * (step > 1)} img/s')\n",
      recipe("train: {warmup_steps: 0}\n",
             "  metrics: {step: 'step (\\d+)', epoch: 'epoch (\\d+)', loss: 'loss (\\S+)', throughput: 'rate (\\S+)'}\n"));
  const auto result = dt::test::result_of(own);
  own.dtctl.write("out.txt", dt::read_file(own.attempt().out()));
  const auto record = own.dtctl.json({"validate", "own.yaml", "--metrics", "out.txt"}).at("record");
  CHECK(record.at("steps") == 12);
  CHECK(result.steps == 12);
  CHECK(record.at("throughput") == result.throughput);
  CHECK(result.throughput == Approx(180));
  CHECK(record.at("final_loss") == *result.final_loss);
  CHECK(own.dtctl.json({"query", "SELECT count(*) AS n FROM steps"}).at("rows")[0].at("n") == 12);
}

TEST_CASE("a program that prints much when it is told to stop ends at once: its last lines are searched, and the log has all")
{
  const Own own(
      "import os, signal, sys, time\n"
      "def stop(*_):\n"
      "    sys.stdout.write(40000 * (800 * 'x' + '\\n') + 'step 7 loss 0.125\\n')\n"
      "    sys.stdout.flush()\n"
      "    os._exit(0)\n"
      "signal.signal(signal.SIGUSR1, stop)\n"
      "print('step 1 loss 1.0', flush=True)\n"
      "time.sleep(1000)\n",
      recipe("resources: {time_limit: 60s, signal_ahead: 50s}\n", "  metrics: {step: 'step (\\d+)', loss: 'loss ([0-9.]+)'}\n"));
  own.submit();
  REQUIRE(eventually([&] { return fs::exists(own.attempt().end()); }));
  CHECK_THAT(words_of(own), Contains("of the output of rank 0 were not searched"));
  CHECK_THAT(dt::read_file(own.attempt().events()), Contains("\nstep 7 "));
  CHECK(lines_with(dt::read_file(own.attempt().out()), "xxx") == 40000);
}

TEST_CASE("an expression that has matched nothing is told in the log at the second step, while the program runs")
{
  const Own own("");
  own.dtctl.write("own.yaml", recipe("", "  metrics: {loss: 'loss (\\S+)', samples: '(\\S+) imags'}\n"));
  own.dtctl.write("train.py", "import os, time\nfor i in range(2): print('loss 0.5, 640 images')\n" + wait_for(own, "go"));
  own.dtctl.json({"submit", "own.yaml"});
  const std::string note = "dtctl: note: program.metrics.samples ((\\S+) imags) has found nothing in the first 2 lines of rank 0";
  REQUIRE(eventually([&] { return words_of(own).find(note) != std::string::npos || own.state() == "failed"; }));
  CHECK(own.state() == "running");
  CHECK(words_of(own).find("program.metrics.loss") == std::string::npos);
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 1);
}

TEST_CASE("figures that a program prints: a part of a number is left out and told, percent for a share and a line that never "
          "comes fail "
          "the run, a long line is kept whole")
{
  const dt::test::Programs programs(
      {{"part", "for loss, acc in ((0.5, '9.5e-1'), (6.32e-08, '0.97')): print(f'loss {loss} acc {acc}')\n"},
       {"percent", "print('loss 0.5 acc 97.5')\n"},
       {"missing", "print('loss 0.5')\n"},
       {"long", "print('loss 0.5 acc 0.5 ' + 100000 * 'x' + ' the end')\n"}},
      "", "python3", "  metrics: {loss: 'loss ([0-9.]+)', accuracy: 'acc ([0-9.]+)'}\n");
  CHECK(programs.states() == Json{{"succeeded", 2}, {"failed", 2}});
  const auto errors = [&](const std::string& name) { return dt::read_file(programs.attempt(name).err()); };
  const auto part = programs.result("part");
  CHECK_FALSE(part.final_loss);
  CHECK_FALSE(part.accuracy); // which of the two is the best one is not known
  CHECK_THAT(errors("part"), Contains("`loss 6.32e-08 acc 0.97`"));
  CHECK_THAT(part.caveats.at("metrics"), Contains("program.metrics.loss"));
  CHECK_THAT(programs.cause("percent"), Contains("found 97.5") && Contains("accuracy_percent"));
  CHECK_THAT(programs.cause("missing"), Contains("printed no line that matches program.metrics.accuracy"));
  CHECK_THAT(dt::read_file(programs.attempt("long").out()), Contains("x the end\n"));
  CHECK_THAT(errors("long"), Contains("64 KiB"));
}

TEST_CASE("a run of which every figure of an expression is a part of a number has failed for that reason")
{
  const Own own("for i in range(1, 4): print(f'loss {1 / i}, {12640:,} images')\n",
                recipe("", "  metrics: {loss: 'loss (\\S+)', samples: '([0-9]+) images'}\n"));
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.cause(),
             StartsWith("program.metrics.samples found 640 in `loss 1.0, 12,640 images`, but the number there is 12,640"));
}

TEST_CASE("an attempt that goes on from what an earlier one has kept does not take the figures of the whole run for its own")
{
  const Own own("import os, time\nkept = os.environ['DTCTL_KEEP_FOLDER'] + '/kept'\nbefore = 100 if os.path.exists(kept) else 0\n"
                "for i in range(before + 1, before + 21): print(f'step {i} loss 0.5: 20 images in 0.5 s, accuracy 0.9')\n"
                "open(kept, 'w').close()\nraise SystemExit(before == 0)\n",
                recipe("train: {target_accuracy: 0.8}\n",
                       "  metrics: {step: 'step (\\d+)', loss: 'loss ([0-9.]+)', samples: '(\\d+) images', step_s: 'in ([0-9.]+) "
                       "s', accuracy: 'accuracy ([0-9.]+)'}\n"));
  CHECK(own.submit().at("states") == Json{{"failed", 1}});
  own.dtctl.json({"retry", "last"});
  CHECK(own.dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 0);
  const auto row = own.dtctl
                       .json({"query", "SELECT steps, resumed_step, warmup_steps, samples_to_accuracy, throughput FROM results "
                                       "ORDER BY attempt DESC LIMIT 1"})
                       .at("rows")[0];
  INFO(row.dump());
  CHECK(row.at("steps") == 120);
  CHECK(row.at("throughput") == 40);
  for (const auto* name : {"resumed_step", "warmup_steps", "samples_to_accuracy"}) CHECK(row.at(name).is_null());
}
