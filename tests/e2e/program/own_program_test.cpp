// Programs of the user in place of dtengine: what they report, how they fail, and what is left of them.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/e2e/own_program.hpp"
#include "tests/support/eventually.hpp"

#include <array>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::Json;
using dt::test::Own;
using dt::test::recipe;
using dt::test::result_of;
using dt::test::trainer;

TEST_CASE("a program's steps, evaluations and result are those of its run, and what it does not report is NULL")
{
  const Own own(trainer(), recipe("resources: {ranks_per_node: 2}\ntrain: {target_accuracy: 0.5}\n"));
  const auto result = result_of(own);
  CHECK(result.steps == 8);
  CHECK(result.measured_samples == 2 * 3 * 10); // of 2 ranks, after 5 steps of warm-up
  CHECK(result.throughput == Approx(60 / result.measured_s));
  CHECK(result.accuracy == 0.75);
  CHECK(result.samples_to_accuracy == 160);
  CHECK(result.parameters == 5);
  const auto begin = dt::read_begin(own.attempt());
  REQUIRE(begin);
  CHECK(begin->rank_hosts == std::vector<std::string>(2, dt::host_name()));
  CHECK(begin->rank_masks[0] != begin->rank_masks[1]);
  const auto row = own.dtctl
                       .json({"query", "SELECT communication_share, bytes_sent, staleness_mean, eval_loss, accuracy, model_name, "
                                       "sync_strategy, optimizer_learning_rate, program_command FROM results JOIN runs ON "
                                       "runs.id = run_id"})
                       .at("rows")[0];
  INFO(row.dump());
  for (const auto* name : {"communication_share", "bytes_sent", "staleness_mean", "eval_loss"}) CHECK(row.at(name).is_null());
  CHECK(row.at("sync_strategy").is_null()); // dtengine's keys say nothing about this run
  CHECK(row.at("accuracy") == 0.75);
}

namespace {

// Reports 20 samples a step and rank, whatever the recipe says.
const auto batch_of_a_rank = trainer("", 12);

std::string mode_of(const std::string& mode, const std::string& train = "")
{
  return recipe("train: {warmup_steps: 2" + train + "}\nresources: {oversubscribe: true}\nstudy: {mode: " + mode +
                ", ranks: [1, 2], repeats: 1}\n");
}

} // namespace

TEST_CASE("a strong study of a program whose batch grows with the ranks says so, and is predicted by what was recorded")
{
  const Own own(batch_of_a_rank, mode_of("strong"));
  REQUIRE(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  const auto results = own.dtctl.json({"results", "own"});
  REQUIRE(results.contains("batches"));
  CHECK(results.at("batches") ==
        Json::parse(R"([{"kind": "mode", "label": "", "recipe": "strong", "key": "study.mode", "growth": 1.0,
    "recorded": [{"workers": 1.0, "samples": 10.0}, {"workers": 2.0, "samples": 20.0}]}])"));
  CHECK_THAT(own.dtctl.run({"results", "own"}).out, Catch::Contains("the recipe says strong") && Catch::Contains("weak scaling"));
  const auto rows = own.dtctl.json({"query", "SELECT ranks, step_samples FROM runs_flat ORDER BY ranks"}).at("rows");
  CHECK(rows == Json::parse(R"([{"ranks": 1, "step_samples": 10.0}, {"ranks": 2, "step_samples": 20.0}])"));
}

TEST_CASE("a scaling study leaves strong or weak to the samples that the program reports, and dtctl new writes one")
{
  const Own own(batch_of_a_rank, mode_of("scaling"));
  REQUIRE(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  CHECK_FALSE(own.dtctl.json({"results", "own"}).contains("batches"));
  REQUIRE(own.dtctl.run({"new", "other.yaml", "--program", "train.py", "--ranks", "1,2"}).ok());
  CHECK_THAT(dt::read_file(own.dtctl.folder() / "other.yaml"), Catch::Contains("mode: scaling"));
}

TEST_CASE("a recipe's batch that the program does not train with is told once for a study")
{
  const Own own(batch_of_a_rank, mode_of("weak", ", batch_per_rank: 500"));
  REQUIRE(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  CHECK_THAT(own.dtctl.run({"results", "own"}).out, Catch::Contains("makes 500 samples") && Catch::Contains("reported 10"));
}

TEST_CASE(
    "a forced run begins with an empty folder for what its attempts keep, so it has the figures of the first one, also if the "
    "program does not say begin()")
{
  auto silent = trainer("place = os.environ['DTCTL_KEEP_FOLDER'] + '/checkpoint'\n"
                        "if os.path.exists(place): raise SystemExit('there is a checkpoint')\nopen(place, 'w').close()\n");
  silent.erase(silent.find("report.begin()\n"), 15);
  const Own own(silent, recipe("train: {warmup_steps: 2, target_accuracy: 0.5}\n"));
  const auto figures = [&] {
    return own.dtctl.json({"query", "SELECT attempt, steps, warmup_steps, measured_samples, samples_to_accuracy FROM runs_flat"})
        .at("rows")[0];
  };
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(figures() ==
        Json::parse(R"({"attempt": 1, "steps": 8, "warmup_steps": 2, "measured_samples": 60, "samples_to_accuracy": 80})"));
  REQUIRE(own.dtctl.json({"submit", "own.yaml", "--force", "--wait"}).at("states") == Json{{"succeeded", 1}});
  CHECK(figures() ==
        Json::parse(R"({"attempt": 2, "steps": 8, "warmup_steps": 2, "measured_samples": 60, "samples_to_accuracy": 80})"));
}

TEST_CASE("a second attempt that finds a checkpoint of the first may have gone on from it, so its steps are not known")
{
  auto silent = trainer(
      "keep = os.environ['DTCTL_KEEP_FOLDER'] + '/checkpoint'\nis_second = os.path.exists(keep)\nopen(keep, 'w').close()\n");
  silent.erase(silent.find("report.begin()\n"), 15);
  silent.insert(silent.find("report.evaluation"), "if not is_second: sys.exit(3)\n");
  const Own own(silent, recipe("train: {warmup_steps: 2}\n"));
  REQUIRE(own.submit().at("states") == Json{{"failed", 1}});
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(own.dtctl.json({"query", "SELECT attempt, steps FROM runs_flat"}).at("rows")[0] ==
        Json::parse(R"({"attempt": 2, "steps": null})"));
}

TEST_CASE("a submission with --force says whose figures it replaces, and leaves those of a pinned baseline alone")
{
  const Own own(trainer());
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  const auto forced = own.dtctl.run({"submit", "own.yaml", "--set", "name=forced", "--force", "--wait", "--quiet"});
  CHECK(forced.exit_code == 0); // and a warning is not silenced
  CHECK_THAT(forced.err, Catch::Contains("in 1 study: own ("));
  REQUIRE(own.dtctl.run({"note", "--baseline", "pinned", "own"}).ok());
  const auto refused = own.dtctl.run({"submit", "own.yaml", "--set", "name=again", "--force"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Contains("baseline pinned"));
  CHECK_FALSE(own.dtctl.run({"results", "again"}).ok());
  REQUIRE(own.dtctl.run({"note", "--forget-baseline", "pinned"}).ok());
  CHECK(own.dtctl.run({"submit", "own.yaml", "--force", "--wait"}).ok());
}

TEST_CASE("the report of a study without a succeeded run shows the failure, and no section that has nothing to show")
{
  const Own own("import sys\nsys.exit('the loader found no images')\n");
  REQUIRE(own.submit().at("states") == Json{{"failed", 1}});
  REQUIRE(own.dtctl.run({"report", "own", "-o", "report.html"}).ok());
  const auto page = dt::read_file(own.dtctl.folder() / "report.html");
  CHECK_THAT(page, Catch::Contains("Failures") && Catch::Contains("the loader found no images") && Catch::Contains("dtctl logs"));
  for (const auto* section :
       {"Efficiency and speed-up", "Where the efficiency went", "Prediction", "Phases and ranks", "Timeline", "Drift"})
    CHECK_THAT(page, !Catch::Contains(section));
  REQUIRE(own.dtctl.run({"report", "own", "-o", "report.md"}).ok());
  const auto text = dt::read_file(own.dtctl.folder() / "report.md");
  CHECK_THAT(text, Catch::Contains("## Failures") && Catch::Contains("the loader found no images") &&
                       !Catch::Contains("## Efficiency"));
}

TEST_CASE("a value reaches the program as argument, variable and file, and each value of a sweep is a run")
{
  const std::string check = "import json\n"
                            "spec = json.load(open(os.environ['DTCTL_SPEC']))\n"
                            "assert sys.argv[1:] == ['--lr=' + os.environ['DTCTL_OPTIMIZER_LEARNING_RATE'], '{x}'], sys.argv\n"
                            "assert float(sys.argv[1][5:]) == spec['optimizer']['learning_rate']\n"
                            "assert os.environ['DTCTL_PROGRAM_PARAMETERS_HIDDEN'] == spec['program']['parameters']['hidden']\n"
                            "assert os.environ['OWN_FLAG'] == 'on'\n"
                            "assert os.path.samefile(os.getcwd(), os.path.dirname(sys.argv[0]) or '.')\n";
  const Own own(trainer(check),
                "version: 1\nname: own\nprogram:\n  command: [python3, train.py, \"--lr={optimizer.learning_rate}\", \"{{x}}\"]\n"
                "  files: [train.py]\n  parameters: {hidden: 16}\n  environment: [OWN_FLAG]\n"
                "sweep: {matrix: {optimizer.learning_rate: [0.1, 0.02], program.parameters.hidden: [16, 32]}}\n");
  const auto outcome = own.dtctl.json({"sweep", "own.yaml", "--wait"}, {"OWN_FLAG=on"});
  INFO(outcome.dump());
  CHECK(outcome.at("states") == Json{{"succeeded", 4}});
  CHECK(own.dtctl.json({"sweep", "own.yaml"}, {"OWN_FLAG=on"}).at("counts") == Json{{"already_done", 4}});
  CHECK(own.dtctl.json({"sweep", "--dry-run", "own.yaml"}, {"OWN_FLAG=off"}).at("to_submit") ==
        4); // the variable is part of the key
}

TEST_CASE("ranks get what torchrun would set, and the port is free")
{
  const auto script = trainer(
      "names = ['MASTER_ADDR', 'RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'LOCAL_WORLD_SIZE']\n"
      "open(os.environ['DTCTL_KEEP_FOLDER'] + '/' + os.environ['RANK'], 'w').write(' '.join(os.environ[n] for n in names))\n"
      "if os.environ['RANK'] == '0':\n"
      "    import socket\n"
      "    with socket.socket() as listener: listener.bind(('', int(os.environ['MASTER_PORT'])))\n");
  const Own own(script, recipe("resources: {ranks_per_node: 2}\n"));
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(dt::read_file(own.run_folder() / "keep" / "0") == "127.0.0.1 0 0 2 2");
  CHECK(dt::read_file(own.run_folder() / "keep" / "1") == "127.0.0.1 1 1 2 2");
}

TEST_CASE("what only dtengine can do is refused for a program's runs, with a reason that is true of them")
{
  const Own own(trainer(), recipe("study: {mode: strong, ranks: [1, 2]}\n"));
  REQUIRE(own.submit("sweep").at("states") == Json{{"succeeded", 2}});
  const std::string key = own.run().at("key");
  for (const auto& [words, why] :
       {std::pair{dt::test::Words{"predict", "--ranks", "4"}, std::string("the times of the forward and the backward pass")},
        {{"simulate", "last", "--platform", "ethernet-10g"}, "compute profile"},
        {{"export", "--format", "trace", "last"}, "was not traced"},
        {{"export", "--format", "weights", "last", "--list"}, "runs"}, // of two runs one must be named
        {{"export", "--format", "weights", key, "--list"}, key + "/keep (DTCTL_KEEP_FOLDER)"},
        {{"plot", "--kind", "timeline"}, "was traced"}}) {
    const auto refused = own.dtctl.run(words);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains(why));
  }
  CHECK(own.dtctl.run({"plot", "--kind", "loss", "-o", "loss.svg"}).ok());
  CHECK(own.dtctl.run({"sweep", "--dry-run", "own.yaml", "--set", "study.ranks=1,2,4", "--set", "resources.oversubscribe=true"})
            .ok());
  CHECK(own.dtctl.run({"report", "-o", "report.html"}).ok());
  const auto row = own.dtctl.json({"query", "SELECT global_batch, batch_per_rank FROM runs"}).at("rows")[0];
  CHECK((row.at("global_batch").is_null() && row.at("batch_per_rank").is_null())); // the recipe does not say
}

TEST_CASE("a program that cannot be changed is read through expressions over what rank 0 prints")
{
  const Own own("import os, time\n"
                "for i in range(1, 9):\n"
                "    if os.environ['RANK'] == '0' or i > 100: print(f'step {i} loss {1 / i:.4f}: 20 images in 0.5 s')\n"
                "if os.environ['RANK'] == '0': print('accuracy 97.5 %')\n",
                recipe("resources: {ranks_per_node: 2}\n",
                       "  metrics: {step: 'step (\\d+)', loss: 'loss ([0-9.]+)', samples: '(\\d+) "
                       "images', step_s: 'in ([0-9.]+) s', accuracy_percent: 'accuracy ([0-9.]+)'}\n"));
  const auto result = result_of(own);
  CHECK(result.throughput == 40);
  CHECK(result.accuracy == Approx(0.975));
  CHECK(result.final_loss == Approx(0.125));
}

TEST_CASE("the time to the target is known for a program that is only read through its output")
{
  const Own own("import time\nfor i in range(1, 5):\n    time.sleep(0.4)\n    print(f'loss {1 / i} acc {i / 5}')\n",
                recipe("train: {target_accuracy: 0.6}\n", "  metrics: {loss: 'loss (\\S+)', accuracy: 'acc (\\S+)'}\n"));
  const auto result = result_of(own);
  CHECK(result.time_to_accuracy_s > 1.2 - 0.3); // the third line, and the error of the clock
  const auto rows = own.dtctl.json({"query", "SELECT elapsed_s FROM evals ORDER BY step"}).at("rows");
  REQUIRE(rows.size() == 4);
  CHECK(rows[3].at("elapsed_s") > rows[0].at("elapsed_s"));
}

TEST_CASE(
    "a program without a whole result has failed: the cause names rank, words and step, it is launched once and leaves nothing")
{
  const std::string begins = "import dtctl_report as report, os, time\nfails = os.environ['RANK'] == '1'\n"
                             "report.begin()\nreport.step(loss=1.0, samples=3)\n",
                    host = dt::host_name();
  struct Failing {
    const char* name;
    std::string source, cause;
  };
  const std::vector<Failing> failing{
      {"silent", "pass\n", "the program ended with exit code 0, but rank 0 reported no result; call dtctl_report.result()"},
      {"torn", begins + "open(os.environ['DTCTL_REPORT'], 'a').write('result 12.5 3')\n", "rank 0 reported no result"},
      {"early", "raise SystemExit('no data here')\n", "no data here"},
      {"late", trainer() + "sys.exit(3)\n", "the program reported its result, but then ended with an error (exit code 3)"},
      {"told", trainer("if os.environ['RANK'] == '1': report.error('the loss is NaN')"),
       "rank 1 on " + host + ": the loss is NaN"},
      {"raises", begins + "if fails: raise ValueError('no such layer: x')\ntime.sleep(1000)\n",
       "rank 1 on " + host + ": ValueError: no such layer: x (step 1)"},
      {"earliest",
       begins + "failed = os.environ['DTCTL_KEEP_FOLDER'] + '/failed'\n"
                "if fails:\n    report.error('the loss is NaN')\n    open(failed, 'w').close()\n    time.sleep(1000)\n"
                "while not os.path.exists(failed): time.sleep(0.01)\nraise RuntimeError('connection closed by peer')\n",
       "rank 1 on " + host + ": the loss is NaN (step 1)"}};
  std::map<std::string, std::string> sources;
  for (const auto& program : failing) sources[program.name] = program.source;
  const dt::test::Programs programs(sources, "resources: {ranks_per_node: 2}\n");
  CHECK(programs.states() == Json{{"failed", failing.size()}});
  for (const auto& program : failing) {
    INFO(program.name);
    CHECK_THAT(programs.cause(program.name), Catch::Contains(program.cause));
    const auto& attempt = programs.attempt(program.name);
    CHECK(dt::read_launches(attempt).size() == 1);
    CHECK(eventually([&] { return dt::processes_with_token(dt::read_submission(attempt)->token).empty(); }));
  }
}

TEST_CASE("a program that hangs and ignores SIGTERM times out, is seen to stand still, and leaves no process")
{
  const Own own("import dtctl_report as report, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "report.begin()\nreport.step(loss=1.0, samples=3)\ntime.sleep(1000)\n",
                recipe("resources: {time_limit: 4s, signal_ahead: 1s}\ntrain: {stall_after: 1s}\n"));
  CHECK(own.submit().at("states") == Json{{"timed_out", 1}});
  CHECK(own.cause().starts_with("it reached its time limit at step 1; before that it was stalled: no progress for "));
  CHECK(eventually([&] { return own.left_behind() == 0; }));
}

TEST_CASE("a program that ignores SIGTERM is cancelled, and leaves no process")
{
  const Own own("import dtctl_report as report, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                "report.begin()\nreport.step(loss=1.0, samples=3)\ntime.sleep(1000)\n");
  own.dtctl.json({"submit", "own.yaml"});
  REQUIRE(eventually([&] { return own.state() == "running" && own.run().at("progress").is_object(); }));
  CHECK(own.dtctl.json({"cancel", "last"}).at("cancelled") == 1);
  CHECK(own.dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 1);
  CHECK(own.state() == "cancelled");
  CHECK(eventually([&] { return own.left_behind() == 0; }));
}

TEST_CASE("children that a program leaves behind are ended, and its run has the result that it reported")
{
  const Own own(trainer("if os.fork() == 0:\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    time.sleep(1234)\n"));
  CHECK(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(dt::read_file(own.attempt().err()).find("which the program has left behind, was ended") != std::string::npos);
  CHECK(eventually([&] { return own.left_behind() == 0; }));
}

TEST_CASE("the warning ahead of the time limit reaches a program that handles it, and its run was stopped in order")
{
  const Own own("import dtctl_report as report, signal, sys, time\nsignal.signal(signal.SIGUSR1, lambda *_: sys.exit(0))\n"
                "report.begin()\nreport.step(loss=1.0, samples=3)\ntime.sleep(1000)\n",
                recipe("train: {steps: 100}\nresources: {time_limit: 60s, signal_ahead: 50s}\n"));
  CHECK(own.submit().at("states") == Json{{"preempted", 1}});
  CHECK(own.cause() == "it reached its time limit at step 1 of 100"); // and nothing of a checkpoint: its program keeps its own
}

// A recipe whose job waits until the file `go` is there. dtctl, which asks for the Python environment with the same set-up line,
// as a command of `bash`, does not.
std::string waiting_recipe(const Own& own, const std::string& command = "python3, train.py")
{
  return "version: 1\nname: own\nprogram:\n  command: [" + command +
         "]\n  files: [train.py]\nresources: {setup: ['[ \"$0\" = bash ] || until [ -e " + (own.dtctl.folder() / "go").string() +
         " ]; do sleep 0.02; done']}\n";
}

// A program of the machine, outside of program.files.
fs::path put_interpreter(const Own& own, const std::string& line)
{
  own.dtctl.write("site-python", "#!/bin/bash\n" + line + " \"$@\"\n");
  fs::permissions(own.dtctl.folder() / "site-python", fs::perms::owner_all);
  return own.dtctl.folder() / "site-python";
}

// Submits train.py with this interpreter, to begin after a run that waits for `go`.
void submit_behind_another(const Own& own, const fs::path& interpreter)
{
  own.dtctl.write("first.yaml", waiting_recipe(own));
  own.dtctl.write("own.yaml", waiting_recipe(own, interpreter.string() + ", train.py"));
  own.dtctl.json({"submit", "first.yaml", "--set", "name=first"});
  own.dtctl.json({"submit", "own.yaml", "--after", "first"});
}

void damage_copy(const Own& own)
{
  for (const auto& entry : fs::recursive_directory_iterator(own.dtctl.home() / "programs"))
    if (entry.path().filename() == "train.py") dt::write_file_atomic(entry.path(), "print('not the same')\n");
}

TEST_CASE("train.py that is edited while a job waits changes neither the job nor its key")
{
  const Own own(trainer());
  own.dtctl.write("own.yaml", waiting_recipe(own));
  own.dtctl.json({"submit", "own.yaml"});
  const auto key = own.run().at("key");
  own.dtctl.write("train.py", "raise SystemExit(1)\n");
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "--timeout", "60s"}).exit_code == 0);
  CHECK(own.dtctl.json({"sweep", "--dry-run", "own.yaml"}).at("runs")[0].at("key") != key);
}

TEST_CASE("a copy of the program that was changed is refused by the job, and the next submission makes it new")
{
  const Own own(trainer());
  own.dtctl.write("own.yaml", waiting_recipe(own));
  own.dtctl.json({"submit", "own.yaml"});
  REQUIRE(eventually([&] { return dt::is_there(own.attempt().path() / "work" / "train.py"); })); // the first job has its copy
  own.dtctl.write("later.yaml", recipe("train: {seed: 2}\n"));
  own.dtctl.json({"submit", "later.yaml", "--set", "name=later", "--after", "own"});
  damage_copy(own);
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "all", "--timeout", "60s"}).exit_code == 1);
  const auto later = [&] { return own.dtctl.json({"status", "later"}).at("runs")[0]; };
  CHECK_THAT(later().at("cause").get<std::string>(), Catch::Contains("has other content"));
  CHECK(own.dtctl.json({"submit", "later.yaml", "--set", "name=later", "--wait"}).at("states") == Json{{"succeeded", 1}});
}

TEST_CASE("a program named by an absolute path that did not exist where the run was submitted is started all the same")
{
  const Own own(trainer());
  submit_behind_another(own, own.dtctl.folder() / "site-python");
  const auto key = own.dtctl.json({"status", "own"}).at("runs")[0].at("key");
  put_interpreter(own, "exec python3");
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "all", "--timeout", "60s"}).exit_code == 0);
  CHECK(own.dtctl.json({"sweep", "--dry-run", "own.yaml"}).at("runs")[0].at("key") != key); // now it exists here, too
}

TEST_CASE("a program named by an absolute path that was changed since the submission is refused by the job, with what to do")
{
  const Own own(trainer());
  const auto interpreter = put_interpreter(own, "exec python3");
  submit_behind_another(own, interpreter);
  put_interpreter(own, "exec python3 -B");
  own.dtctl.write("go", "");
  CHECK(own.dtctl.run({"status", "--follow", "all", "--timeout", "60s"}).exit_code == 1);
  const std::string cause = own.dtctl.json({"status", "own"}).at("runs")[0].at("cause");
  CHECK_THAT(cause, Catch::Contains(interpreter.string() + " is another program") && Catch::Contains("submit the recipe again"));
}

TEST_CASE("what is wrong with a program is refused before the submission, with its place and exit code 2")
{
  const Own own(trainer());
  const auto error_of = [&](const std::string& text) {
    own.dtctl.write("bad.yaml", "version: 1\nname: bad\n" + text);
    const auto result = own.dtctl.run({"submit", "bad.yaml"});
    CHECK(result.exit_code == 2);
    return std::string(dt::trim(result.err));
  };
  const auto program = [](const std::string& command, const std::string& more = "") {
    return "program:\n  command: " + command + "\n  files: [train.py]\n" + more;
  };
  const auto of_program = program("[python3, train.py]");
  for (const auto& [text, place, why] : std::vector<std::array<std::string, 3>>{
           {program("[nosuch, train.py]"), "4:13", "no program nosuch in PATH"},
           {program("[train.py]"), "4:13", "write ./train.py"},
           {program("[./train.py]"), "4:13", "not executable"},
           {program("[python3, trian.py]"), "4:22", "trian.py, which is not in `program.files`"},
           {"program:\n  command: [python3]\n  files: [nosuch.py]\n", "5:10", "program.files"},
           {program("[python3, train.py, \"{model.nam}\"]"), "4:32", "{model.name}"},
           {program("[python3, train.py]", "  metrics: {loss: '(a'}\n"), "6:19", "`program.metrics.loss`"},
           {program("[python3, train.py]", "  metrics: {loss: 'loss [0-9.]+'}\n"), "6:19", "has no group"},
           {of_program + "train: {modelled_rate: 5}\n", "6:24", "only dtengine reads it"},
           {of_program + "resources: {gpus_per_node: 1}\n", "6:28", "asks for 1 on a node, but this machine has no GPU"},
           {of_program + "resources: {gpus_per_rank: 2, ranks_per_node: 2}\n", "6:28", "asks for 4 on a node"}}) {
    const auto error = error_of(text);
    CHECK_THAT(error, Catch::Contains(":" + place + ": ") && Catch::Contains(why));
  }
}

TEST_CASE("a wrapper is put in front of every rank, of dtengine too")
{
  const Own own(trainer());
  own.dtctl.write("wrap", "#!/bin/bash\necho \"wrapped $*\" >> \"$(dirname \"$0\")/trace\"\nexec \"$@\"\n");
  const auto wrap = own.dtctl.folder() / "wrap";
  fs::permissions(wrap, fs::perms::owner_all);
  const auto with_wrapper = "resources: {wrapper: [" + wrap.string() + "], ranks_per_node: 2}\n";
  own.dtctl.write("own.yaml", recipe(with_wrapper));
  CHECK(own.submit().at("states") == Json{{"succeeded", 1}});
  own.dtctl.write("tiny.yaml", dt::test::tiny_recipe(with_wrapper));
  CHECK(own.dtctl.json({"submit", "tiny.yaml", "--wait"}).at("states") == Json{{"succeeded", 1}});
  const auto trace = dt::read_file(own.dtctl.folder() / "trace");
  CHECK(trace.starts_with("wrapped python3 train.py\nwrapped python3 train.py\nwrapped "));
  CHECK(trace.find("dtengine run --attempt") != std::string::npos);
}

TEST_CASE("the shipped MPI program in C is compiled in the job, and its phases explain the lost efficiency")
{
  const Dtctl dtctl;
  const auto outcome = dtctl.json({"sweep", "mpi-program", "--set", "train.steps=60", "--set", "study.repeats=1", "--wait"});
  INFO(outcome.dump());
  CHECK(outcome.at("states") == Json{{"succeeded", 2}});
  const auto rows =
      dtctl
          .json({"query", "SELECT ranks, throughput, communication_share, work_useful_s, memory_peak_bytes FROM results "
                          "JOIN runs ON runs.id = run_id ORDER BY ranks"})
          .at("rows");
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows)
    for (const auto* name : {"throughput", "communication_share", "work_useful_s", "memory_peak_bytes"}) CHECK(row.at(name) > 0);
}

TEST_CASE("PyTorch and dtengine train the same network on the same data in one study")
{
  const dt::test::Words with_torch{"PATH=/usr/bin:/bin:/usr/local/bin"};
  if (!dt::test::has_torch("/usr/bin/python3")) return;
  const Dtctl dtctl;
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "2560", "--test", "256"}).ok());
  const auto outcome =
      dtctl.json({"sweep", "pytorch-ddp", "--set", "study.repeats=1", "--set", "train.epochs=6", "--wait"}, with_torch);
  INFO(outcome.dump());
  CHECK(outcome.at("states") == Json{{"succeeded", 4}});
  const auto rows =
      dtctl
          .json({"query", "SELECT label, ranks, accuracy, parameters, communication_share, sync_strategy FROM results JOIN "
                          "runs ON runs.id = run_id ORDER BY label, ranks"})
          .at("rows");
  REQUIRE(rows.size() == 4);
  for (const auto& row : rows) {
    CHECK(row.at("parameters") == 61706); // of LeNet
    CHECK(row.at("accuracy") > 0.5);
    CHECK((row.at("sync_strategy").is_null()) == (row.at("label") != "command=dtengine"));
  }
}
