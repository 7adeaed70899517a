// submit_runs with a real queue, a real mpirun and an engine that is a shell script.
#include "core/files/paths.hpp"
#include "jobs/submit/submit.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/local/local_scheduler.hpp"
#include "jobs/machine/quick_file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/tiny_disk.hpp"
#include "tests/support/traced_program.hpp"
#include "tests/support/unreadable.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <sys/stat.h>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::testing;
using dt::test::error_of;
using dt::test::make_unreadable;
using dt::test::TinyDisk;
namespace fs = std::filesystem;
using Action = SubmitReport::Action;

namespace {

PlannedRun planned(std::int64_t seed)
{
  RunSpec spec;
  spec.name = "test";
  spec.model.name = "lenet";
  spec.data.name = "synthetic";
  spec.train.global_batch = 64;
  spec.train.steps = 10;
  spec.train.seed = seed;
  spec.resources.launch_tries = 1;
  return plan_run(spec, "build", "synthetic");
}

std::vector<PlannedRun> planned_many(std::int64_t count)
{
  std::vector<PlannedRun> runs;
  for (std::int64_t i = 0; i < count; ++i) runs.push_back(planned(i));
  return runs;
}

// The body of an engine that ends when the test says so.
constexpr const char* until_told = "until [[ -e \"$trace.go\" ]]; do sleep 0.02; done";

// A home and an engine that leaves a trace, does what the test says and leaves a result.
struct Lab {
  Playground place;
  std::vector<PlannedRun> runs;
  SubmitOptions options{
      (place.trace().parent_path() / "engine").string(), "study", true, false, {}, {}, agent_program().string()};

  explicit Lab(std::int64_t count, const std::string& body = "") : runs(planned_many(count)) { engine(body); }

  void engine(const std::string& body) const
  {
    write_file_atomic(options.engine, "#!/bin/bash\nattempt=$3\ntrace=" + shell_quote(place.trace().string()) +
                                          "\necho \"$attempt\" >> \"$trace\"\n" + body + "\ncp " +
                                          shell_quote(options.engine + ".result") + " \"$attempt/result.json\"\n");
    ::chmod(options.engine.c_str(), 0755);
    write_file_atomic(options.engine + ".result", to_json(RunResult{}));
  }

  // Ends the runs whose body is `until_told`.
  void tell_to_end() const { write_file_atomic(place.trace().string() + ".go", ""); }

  std::vector<SubmitReport> submit() const { return submit_runs(LockedHome(place.home()), runs, options); }
  std::vector<std::string> keys() const
  {
    std::vector<std::string> keys;
    for (const auto& run : runs) keys.push_back(run.key);
    return keys;
  }
  AttemptFolder attempt(std::size_t run) const { return {place.home().run(runs[run].key), 1}; }
  std::vector<RunStatus> status() const { return reconcile(place.home(), keys()); }
  bool finish() const
  {
    return eventually([&] { return all_final(status()); });
  }
  std::size_t count(RunState state) const
  {
    const auto all = status();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const auto& run) { return run.verdict.state == state; }));
  }
};

std::size_t count(const std::vector<SubmitReport>& reports, Action action)
{
  return static_cast<std::size_t>(
      std::count_if(reports.begin(), reports.end(), [&](const auto& report) { return report.action == action; }));
}

// Executions an attempt folder; each must be one.
std::map<std::string, int> executions(const Lab& lab)
{
  std::map<std::string, int> times;
  for (const auto& line : lines(lab.place.traces())) ++times[line];
  return times;
}

void check_each_ran_once(const Lab& lab)
{
  const auto times = executions(lab);
  CHECK(times.size() == lab.runs.size());
  for (const auto& [attempt, number] : times) {
    INFO(attempt);
    CHECK(number == 1);
    CHECK(attempt.ends_with("/1"));
  }
}

} // namespace

TEST_CASE("new runs are submitted in order, and their folders tell everything")
{
  Lab lab(3);
  const auto reports = lab.submit();
  CHECK(count(reports, Action::submitted) == 3);
  CHECK(reports[0].reason == "it has never run");
  REQUIRE(lab.finish());
  CHECK(lab.count(RunState::succeeded) == 3);
  check_each_ran_once(lab);
  const auto status = lab.status()[1];
  CHECK(status.submission->job_id == "local-2");
  CHECK(status.submission->study == "study");
  CHECK(status.attempt == 1);
  CHECK(read_planned_run(lab.place.home().run(lab.runs[1].key)).key == lab.runs[1].key);
}

TEST_CASE("submitting again leaves what runs and what succeeded alone")
{
  Lab lab(2, until_told);
  lab.submit();
  for (const auto& report : lab.submit()) CHECK(report.action == Action::already_active);
  lab.tell_to_end();
  REQUIRE(lab.finish());
  const auto reports = lab.submit();
  CHECK(count(reports, Action::already_done) == 2);
  CHECK(reports[0].reason == "attempt 1 succeeded");
  check_each_ran_once(lab);
}

TEST_CASE("a run that is run again by force and cancelled keeps its earlier result, and a third attempt may follow")
{
  Lab lab(1);
  lab.submit();
  REQUIRE(lab.finish());
  lab.engine(until_told);
  lab.options.force = true;
  CHECK(lab.submit().front().attempt == 2);
  REQUIRE(eventually([&] { return lab.count(RunState::running) == 1; }));
  CHECK(cancel_runs(LockedHome(lab.place.home()), lab.keys(), {.who = "alice"}) == 1);
  REQUIRE(lab.finish());
  const auto status = lab.status().front();
  CHECK(status.verdict.state == RunState::succeeded);
  CHECK(status.verdict.cause.ends_with("attempt 2 was cancelled by alice"));
  CHECK(status.attempt == 1);
  CHECK(status.newest_attempt == 2);
  lab.engine("");
  CHECK(lab.submit().front().attempt == 3);
  REQUIRE(lab.finish());
  CHECK(lab.status().front().attempt == 3);
}

TEST_CASE("a failed run gets a new attempt and keeps the old one, or is left, when retries are not wanted")
{
  Lab lab(1, "exit 3");
  lab.submit();
  REQUIRE(lab.finish());
  lab.options.retry_failed = false;
  const auto left = lab.submit().front();
  CHECK(left.action == Action::left_failed);
  CHECK(left.reason.starts_with("attempt 1 failed: "));
  lab.options.retry_failed = true;
  lab.options.force = GENERATE(false, true);
  lab.engine("");
  const auto retried = lab.submit().front();
  CHECK(retried.action == Action::submitted);
  CHECK(retried.attempt == 2);
  CHECK(fenced_by(lab.attempt(0)) == 2);
  REQUIRE(lab.finish());
  CHECK(lab.status().front().verdict.state == RunState::succeeded);
  CHECK(lab.status().front().attempts == 2);
  CHECK(read_end(lab.attempt(0))->exit_code == 3);
}

TEST_CASE("a run asked for twice in one call is submitted once")
{
  Lab lab(1);
  lab.runs.push_back(lab.runs.front());
  const auto reports = lab.submit();
  CHECK(reports[0].action == Action::submitted);
  CHECK(reports[1].action == Action::already_active);
  REQUIRE(lab.finish());
}

TEST_CASE("a run the machine cannot hold is refused and leaves no trace")
{
  Lab lab(2);
  lab.runs[0].spec.resources.ranks_per_node = 4096;
  const auto reports = lab.submit();
  CHECK(reports[0].action == Action::refused);
  CHECK(reports[0].reason.starts_with("It needs 4096 cores"));
  CHECK(reports[1].action == Action::submitted);
  CHECK_FALSE(fs::exists(lab.place.home().run(lab.runs[0].key)));
  REQUIRE(eventually([&] { return lab.count(RunState::succeeded) == 1; }));
  CHECK(lab.status()[0].verdict.state == RunState::planned);
}

TEST_CASE("an intent the scheduler never saw is taken up again as the same attempt")
{
  Lab lab(1);
  const auto attempt = lab.attempt(0);
  make_folders(attempt.path());
  if (GENERATE(true, false))
    write_file_atomic(attempt.submission(), to_json(Submission{1, "0123", "local", "", now_unix_s() - 1e5, ""}));
  const auto report = lab.submit().front();
  CHECK(report.action == Action::submitted);
  CHECK(report.attempt == 1);
  REQUIRE(lab.finish());
  check_each_ran_once(lab);
}

TEST_CASE("an intent whose job is in the queue gets its id back and is not submitted again")
{
  Lab lab(1, until_told);
  lab.submit();
  const auto attempt = lab.attempt(0);
  auto submission = *read_submission(attempt);
  submission.job_id.clear();
  write_file_atomic(attempt.submission(), to_json(submission));
  CHECK(lab.submit().front().action == Action::already_active);
  CHECK(read_submission(attempt)->job_id == "local-1");
  lab.tell_to_end();
  REQUIRE(lab.finish());
  check_each_ran_once(lab);
}

TEST_CASE("a finished run whose attempts cannot be listed is unknown, and is neither submitted again nor written to")
{
  const Lab lab(3);
  lab.submit();
  REQUIRE(lab.finish());
  const auto folder = lab.place.home().run(lab.runs[1].key);
  make_unreadable(folder / "attempts");
  const auto statuses = lab.status();
  CHECK(statuses[0].verdict.state == RunState::succeeded);
  CHECK(statuses[1].verdict.state == RunState::unknown);
  CHECK(statuses[1].verdict.cause.find((folder / "attempts").string()) != std::string::npos);
  CHECK(statuses[1].unreadable);
  CHECK(statuses[2].verdict.state == RunState::succeeded);
  const auto reports = lab.submit();
  CHECK(reports[0].action == Action::already_done);
  CHECK(reports[1].action == Action::refused);
  CHECK(reports[1].unreadable);
  CHECK(reports[1].reason.starts_with(statuses[1].verdict.cause));
  CHECK(fs::is_symlink(folder / "attempts"));
  CHECK(executions(lab).size() == 3);
}

TEST_CASE("a damaged intent of an attempt that has run is not taken for an interrupted submission")
{
  const Lab lab(1);
  lab.submit();
  REQUIRE(lab.finish());
  const auto attempt = lab.attempt(0);
  const auto script = read_file(attempt.script());
  write_file_atomic(attempt.submission(), "");
  CHECK(lab.status()[0].verdict.state == RunState::unknown);
  CHECK(lab.submit()[0].action == Action::refused);
  CHECK(read_file(attempt.script()) == script);
  CHECK(read_file(attempt.submission()).empty());
}

TEST_CASE("cancel asks the others and then names the run whose files cannot be read")
{
  const Lab lab(2, "sleep 60");
  lab.submit();
  REQUIRE(eventually([&] { return lab.count(RunState::running) > 0; }));
  const auto unreadable = lab.place.home().run(lab.runs[1].key) / "attempts";
  make_unreadable(unreadable);
  CHECK_THROWS_WITH(cancel_runs(LockedHome(lab.place.home()), lab.keys(), {.who = "test"}),
                    Catch::StartsWith("Run " + lab.runs[1].key + " was not cancelled"));
  CHECK(fs::exists(lab.attempt(0).cancel()));
  fs::remove(unreadable);
  fs::rename(unreadable.string() + ".aside", unreadable);
  cancel_runs(LockedHome(lab.place.home()), lab.keys(), {.who = "test"});
  CHECK(lab.finish());
}

TEST_CASE("a new file is never written over one that is there")
{
  const Folder folder;
  write_new_file_quick(folder.path() / "record", "first");
  CHECK_THROWS_AS(write_new_file_quick(folder.path() / "record", "second"), Error);
  CHECK(read_file(folder.path() / "record") == "first");
  CHECK(make_folders(folder.path() / "a" / "b"));
  CHECK_FALSE(make_folders(folder.path() / "a" / "b"));
}

TEST_CASE("the submitter killed at ten moments: submitting again completes the sweep, nothing lost, nothing twice")
{
  Lab lab(40);
  // Each submitter does less than half of what the first would have to do, so each is killed with work left over.
  for (int moment = 0; moment < 10; ++moment) {
    const auto end = test::TracedProgram([&] { lab.submit(); }).run(1 + 7 * moment);
    CHECK(end.killed);
  }
  lab.submit();
  REQUIRE(lab.finish());
  CHECK(lab.count(RunState::succeeded) == 40);
  check_each_ran_once(lab);
}

TEST_CASE("the ranks of five of ten runs are killed: these have failed with their cause, the others succeed, a retry mends it")
{
  Lab lab(10, "echo $$ > \"$attempt/pid\"; while [[ ! -e $attempt/go ]]; do sleep 0.02; done");
  lab.submit();
  for (std::size_t i = 0; i < 10; ++i) {
    const auto attempt = lab.attempt(i);
    REQUIRE(eventually([&] { return read_file_if_exists(attempt.path() / "pid").value_or("").ends_with('\n'); }));
    if (i % 2 == 0)
      ::kill(std::stoi(read_file(attempt.path() / "pid")), SIGKILL);
    else
      write_file_atomic(attempt.path() / "go", "");
  }
  REQUIRE(lab.finish());
  CHECK(lab.count(RunState::failed) == 5);
  CHECK(lab.count(RunState::succeeded) == 5);
  for (const auto& status : lab.status()) {
    if (status.verdict.state != RunState::failed) continue;
    CHECK(status.verdict.cause.starts_with("rank 0 on " + host_name() + " was killed by SIGKILL"));
    CHECK(status.verdict.exit_code == 137);
  }
  lab.engine("");
  CHECK(count(lab.submit(), Action::submitted) == 5);
  REQUIRE(lab.finish());
  CHECK(lab.count(RunState::succeeded) == 10);
}

TEST_CASE("a home that cannot be made is an environment error that names the place")
{
  const auto error = error_of([] {
    submit_runs(LockedHome(Home("/proc/dtctl")), planned_many(1), {"/bin/true", "", true, false});
  });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(error.what() == std::string("make folder /proc/dtctl: No such file or directory"));
}

TEST_CASE("on a full disk what does not fit is refused with the reason, and nothing of it stays behind")
{
  const Folder folder;
  const TinyDisk disk(folder.path(), 600 * 1024);
  if (!disk.is_mounted()) return; // needs root
  Lab lab(40, "sleep 1000");
  const Home home(folder.path() / "home");
  write_file_atomic(folder.path() / "filler", std::string(200'000, 'x'));
  const auto reports = submit_runs(LockedHome(home), lab.runs, lab.options);
  const auto accepted = count(reports, Action::submitted);
  CHECK(accepted + count(reports, Action::refused) == 40);
  const auto refused =
      std::find_if(reports.begin(), reports.end(), [](const auto& report) { return report.action == Action::refused; });
  REQUIRE(refused != reports.end());
  CHECK(refused->reason.find("No space left on device") != std::string::npos);
  CHECK(static_cast<std::size_t>(std::distance(fs::directory_iterator(home.runs()), {})) == accepted);
  cancel_runs(LockedHome(home), lab.keys(), {.who = "test"});
  fs::remove(folder.path() / "filler");
  REQUIRE(eventually([&] { return local::Queue(home).list().empty(); })); // the first was running
  const auto again = submit_runs(LockedHome(home), std::span(lab.runs).first(3), lab.options);
  for (const auto& report : again) UNSCOPED_INFO(report.reason);
  CHECK(count(again, Action::submitted) == 3);
  CHECK(cancel_runs(LockedHome(home), std::span<const std::string>(lab.keys()).first(3), {.who = "test"}) == 3);
  REQUIRE(eventually([&] { return local::Queue(home).list().empty(); }));
}

TEST_CASE("a job that cannot be started for want of room waits, says why, and starts when there is room")
{
  const Folder folder;
  const TinyDisk disk(folder.path(), 4 << 20);
  if (!disk.is_mounted()) return; // needs root
  Lab lab(2);
  const Variable locks("DTCTL_CORE_LOCKS", (lab.place.trace().parent_path() / "other-cores").string());
  const Home home(folder.path() / "home");
  submit_runs(LockedHome(home), std::span(lab.runs).first(1), lab.options);
  REQUIRE(eventually(
      [&] { return local::Queue(home).list().empty() && FileLock::try_acquire(local::Queue(home).supervisor_lock()); }));
  {
    const auto held = FileLock::acquire(local::Queue(home).supervisor_lock());
    submit_runs(LockedHome(home), lab.runs, lab.options); // the lock is ours: nothing starts yet
  }
  std::ofstream(folder.path() / "filler") << std::string(8 << 20, 'x'); // more than there is room for
  const auto evidence = [&] { return reconcile(home, lab.keys()).back().verdict.evidence; };
  REQUIRE(eventually([&] { return evidence().find("local-2 could not be started") != std::string::npos; }));
  CHECK(evidence().find("No space left on device") != std::string::npos);
  CHECK(reconcile(home, lab.keys()).back().verdict.state == RunState::queued);
  fs::remove(folder.path() / "filler");
  REQUIRE(eventually([&] { return reconcile(home, lab.keys()).back().verdict.state == RunState::succeeded; }));
}

TEST_CASE("a read-only home is looked at without complaint and refuses submissions in words")
{
  const Folder folder;
  const TinyDisk disk(folder.path(), 4 << 20);
  if (!disk.is_mounted()) return; // needs root
  Lab lab(2);
  const Home home(folder.path() / "home");
  submit_runs(LockedHome(home), std::span(lab.runs).first(1), lab.options);
  REQUIRE(eventually([&] { return local::Queue(home).list().empty(); }));
  const auto* path = folder.path().c_str();
  REQUIRE(eventually([&] { return ::mount(nullptr, path, nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }));
  CHECK(reconcile(home, lab.keys()).front().verdict.state == RunState::succeeded);
  const auto error = error_of([&] { submit_runs(LockedHome(home), lab.runs, lab.options); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(std::string(error.what()) ==
        "The home " + home.root().string() +
            " cannot be written (Read-only file system), so nothing was changed. Make it writable, or set DTCTL_HOME to another "
            "folder");
}

// 10,000 runs; a measurement, not a test: build/dev/tests/test_jobs '[benchmark]'
TEST_CASE("ten thousand runs are submitted, looked at and cancelled", "[.benchmark]")
{
  Lab lab(std::getenv("DTCTL_RUNS") != nullptr ? std::atoi(std::getenv("DTCTL_RUNS")) : 10'000, "sleep 1000");
  const auto runs = lab.runs.size();
  const auto timed = [](const char* what, const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    fmt::print(stderr, "{}: {:.2f} s\n", what, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  };
  timed("submit", [&] { CHECK(count(lab.submit(), Action::submitted) == runs); });
  timed("submit again", [&] { CHECK(count(lab.submit(), Action::already_active) == runs); });
  timed("status", [&] { CHECK(lab.status().size() == runs); });
  timed("cancel", [&] { CHECK(cancel_runs(LockedHome(lab.place.home()), lab.keys(), {.who = "test"}) == runs); });
  REQUIRE(lab.finish());
}
