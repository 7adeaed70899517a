// judge(): a table of the cases that occur, and properties over every combination of evidence.
#include "core/text.hpp"
#include "jobs/follow/failure_cause.hpp"
#include "jobs/launch/last_words.hpp"

#include <functional>
#include <set>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using JobState = JobStatus::State;

namespace {

constexpr double now = 1'800'000'000;

Evidence submitted(double age_s = 5)
{
  Evidence e;
  e.submission = Submission{1, "token", "local", "study", now - age_s, "local-1"};
  return e;
}

Evidence ended_with(int code, const std::string& words = "")
{
  auto e = submitted();
  e.begin = BeginRecord{};
  e.end = JobEnd{code, now};
  e.standard_error = words;
  return e;
}

Evidence with_job(JobState state, const std::string& native = "", const std::string& reason = "")
{
  auto e = submitted();
  e.job = {state, native, reason, std::nullopt, {}};
  return e;
}

const std::string mpirun_report = R"(--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun noticed that process rank 1 with PID 0 on node
vm exited on signal 9 (Killed).
--------------------------------------------------------------------------
)";

const std::string aborted_report = R"(--------------------------------------------------------------------------
mpirun noticed that process rank 0 with PID 0 on node vm exited on signal 6 (Aborted).
--------------------------------------------------------------------------
)";

// Every combination of evidence, `visit`ed once.
template<class Visit> void for_all_evidence(Visit visit)
{
  for (unsigned bits = 0; bits < 1024; ++bits)
    for (const auto state : {JobState::not_found, JobState::queued, JobState::running, JobState::ended, JobState::unknown})
      for (const int code : {-1, 0, 1, 137}) {
        auto e = submitted((bits & 1) != 0 ? 5 : 1e6);
        if ((bits & 2) != 0) e.begin = BeginRecord{};
        if ((bits & 4) != 0) e.heartbeat = Heartbeat{(bits & 1) != 0 ? now : now - 1e6, 3, 10};
        if ((bits & 8) != 0) e.error = RankError{1, "vm", "no memory", 3, now};
        e.has_result = (bits & 16) != 0;
        if ((bits & 32) != 0) e.cancel = Cancellation{};
        if ((bits & 64) != 0) e.stop_reason = parse_stop_reason("time_limit");
        if ((bits & 512) != 0) e.submission->scheduler = "slurm";
        if ((bits & 128) != 0) e.submission.reset();
        if ((bits & 256) != 0) e.preemption = Preemption{now, 3, 10, "step-3.safetensors", "SIGUSR1"};
        if (code >= 0) e.end = JobEnd{code, now};
        e.job.state = state;
        visit(e);
      }
}

} // namespace

TEST_CASE(
    "a run has succeeded only with a whole result, an attempt that is over has a final state, and an unhappy one has a cause")
{
  for_all_evidence([](const Evidence& e) {
    const auto verdict = judge(e, now);
    const bool is_held = e.job.state != JobState::ended && e.job.state != JobState::not_found && e.submission &&
                         e.submission->scheduler == "slurm";
    CHECK((verdict.state == RunState::succeeded) == e.has_result);
    if (e.has_result || (e.end && !is_held))
      CHECK(is_final(verdict.state));
    else if (e.end)
      CHECK_FALSE(is_final(verdict.state));
    else if (e.submission && (e.job.state == JobState::running || e.job.state == JobState::queued))
      CHECK_FALSE(is_final(verdict.state));
    CHECK_FALSE(verdict.evidence.empty());
    if (is_final(verdict.state) && verdict.state != RunState::succeeded) CHECK_FALSE(verdict.cause.empty());
    if (verdict.stalled) CHECK(verdict.state == RunState::running);
  });
}

TEST_CASE("whatever their exit code, ranks that ended under Slurm leave the run open until Slurm has done with its job")
{
  for (int code = 0; code < 256; ++code) {
    auto e = ended_with(code);
    e.submission->scheduler = "slurm";
    e.job.state = JobState::queued;
    CHECK(judge(e, now).state == RunState::queued);
    e.job.state = JobState::running;
    CHECK(judge(e, now).state == RunState::running);
    e.job.state = JobState::unknown;
    CHECK(judge(e, now).state == RunState::unknown);
    e.job.state = JobState::ended;
    CHECK(judge(e, now).state == RunState::failed);
  }
}

TEST_CASE("a run of a ladder that ended by itself is final while the ladder goes on, one that was cut off is not")
{
  auto e = ended_with(205);
  e.submission->scheduler = "slurm";
  e.submission->token = "l0123456789abcdef.1";
  e.job.state = GENERATE(JobState::queued, JobState::running, JobState::unknown);
  CHECK(judge(e, now).state == RunState::failed);
  e.requeue_asked = true; // it lost a node
  CHECK_FALSE(is_final(judge(e, now).state));
  e.requeue_asked = false;
  e.preemption = Preemption{now, 3, 10, "", "SIGTERM"};
  CHECK_FALSE(is_final(judge(e, now).state));
  e.stop_reason = parse_stop_reason("time_limit"); // its own, and the job may not be started again for it
  CHECK(judge(e, now).state == RunState::preempted);
}

TEST_CASE("a verdict tells the most telling witness's cause")
{
  struct Row {
    std::string what;
    Evidence evidence;
    RunState state;
    std::string cause;
  };
  std::vector<Row> rows;
  const auto add = [&](const std::string& what, const Evidence& e, RunState state, const std::string& cause) {
    rows.push_back({what, e, state, cause});
  };
  const auto fails = [&](const std::string& what, const Evidence& e, const std::string& cause) {
    rows.push_back({what, e, RunState::failed, cause});
  };
  const std::string step_120 = " at step 120 of 400", kept = step_120 + "; a checkpoint is kept: step-120.safetensors";
  const std::string killed_1 = "rank 1 on vm was killed by SIGKILL (by hand, or by the kernel when memory ran out)";

  fails("exit code with words", ended_with(7, "loading\ncannot read train-images\n"), "exit code 7: cannot read train-images");
  fails("exit code, silent", ended_with(7), "exit code 7, and nothing was printed on standard error");
  fails("exit 0 without a result", ended_with(0), "the ranks ended with exit code 0 but left no result");
  fails("the script's own words win",
        ended_with(3, "dtctl: set-up line 2 failed: false (exit code 3) [job token]\nlater noise\n"),
        "set-up line 2 failed: false (exit code 3)");
  fails("mpirun's frame is not the cause", ended_with(7, "engine: bad shape\n" + mpirun_report.substr(0, 230)),
        "exit code 7: engine: bad shape");
  fails("a rank killed", ended_with(137, mpirun_report), killed_1);
  fails("a node that mpirun lost",
        ended_with(205,
                   "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[7527,0],0] on node node0\n"
                   "  Remote daemon: [[7527,0],1] on node node1\n\nThis is usually due to either a failure of the TCP network\n"),
        "node1 was lost: the launcher can no longer reach it");
  fails("a node that srun lost", ended_with(1, "srun: error: Node failure on node1\n"),
        "node1 was lost: the launcher can no longer reach it");
  fails("a signal", ended_with(139), "ended by SIGSEGV");
  {
    auto e = ended_with(1, mpirun_report);
    e.error = RankError{1, "node7", "loss is NaN", 12, now};
    fails("a rank's own error", e, "rank 1 on node7: loss is NaN (step 12)");
    e.error->cause = "step 12: the loss is NaN";
    fails("an error that names its step", e, "rank 1 on node7: step 12: the loss is NaN");
  }
  {
    const auto entry = [](int rank, const std::string& code) {
      return "[0]:\n  time      : 2026-11-27_20:27:02\n  host      : localhost\n  rank      : " + std::to_string(rank) +
             " (local_rank: 0)\n  exitcode  : " + code + " (pid: 11780)\n  error_file: <N/A>\n";
    };
    const auto torchrun_report = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + std::string(60, '=') +
                                 "\nFailures:\n" + entry(1, "3") + "Root Cause (first observed failure):\n" + entry(0, "1") +
                                 std::string(60, '=') + "\n";
    auto e = ended_with(1, "no data for this rank\nTraceback (most recent call last):\n  File \"train.py\", line 22\n"
                           "RuntimeError: Connection reset by peer\n" +
                               torchrun_report + mpirun_report);
    e.begin.emplace();
    e.begin->rank_hosts = {"node0", "node0", "node1", "node1"};
    e.begin->environment["program_launch"] = "per-node";
    e.error = RankError{0, "node0", "RuntimeError: Connection reset by peer", 7, now};
    fails("a rank that another one has lost", e, "rank 1 on node0 ended with exit code 3: no data for this rank");
    e.error->cause = "ValueError: no such label";
    fails("an error of its own", e, "rank 0 on node0: ValueError: no such label (step 7)");
    e.error = RankError{0, "node0", "RuntimeError: Connection closed by peer", 7, now};
    e.begin->environment.clear();
    e.standard_error = mpirun_report;
    fails("a rank that a signal has killed and another one has lost", e, killed_1);
    e.error->rank = 1;
    fails("a rank that has lost a peer, and of which alone the launcher knows", e,
          "rank 1 on node0: RuntimeError: Connection closed by peer (step 7)");
    e.begin->environment["program_launch"] = "per-node";
    e.error.reset();
    e.standard_error = "no data\n" + mpirun_report;
    fails("mpirun's ranks are launchers", e, "exit code 1: no data");
  }
  {
    auto e = ended_with(143);
    e.stop_reason = parse_stop_reason("time_limit");
    e.heartbeat = Heartbeat{now, 40, 100};
    add("time limit", e, RunState::timed_out, "it reached its time limit at step 40 of 100");
    e.error = RankError{1, "node7", "loss is NaN", 12, now};
    fails("failed by itself after the warning", e, "rank 1 on node7: loss is NaN (step 12)");
    e.error.reset();
    e.cancel = Cancellation{now, "alice"};
    add("cancelled", e, RunState::cancelled, "cancelled by alice");
  }
  {
    auto e = ended_with(1);
    e.has_result = true;
    add("a bad end after the result", e, RunState::succeeded, "the result is complete, but the job then ended with exit code 1");
    e.end = JobEnd{0, now};
    add("success", e, RunState::succeeded, "");
  }
  fails("shell killed", with_job(JobState::ended, "ended"),
        "no end was recorded: dtjob was killed, the machine went down, or the disk was full");
  {
    auto e = with_job(JobState::ended, "withdrawn");
    e.stop_reason = parse_stop_reason("not started: it needs 8 cores and this machine now offers 2");
    fails("never started", e, "the job could not be started: it needs 8 cores and this machine now offers 2");
  }
  {
    auto e = ended_with(1);
    e.stop_reason = parse_stop_reason("not run: run aabbccddee did not succeed");
    fails("a predecessor failed", e, "not run: run aabbccddee did not succeed");
  }
  {
    auto e = ended_with(75);
    e.preemption = Preemption{now, 0, 0, "", "SIGUSR1"};
    add("told to stop before its first step", e, RunState::preempted, "it was told to stop (SIGUSR1) before its first step");
    e = ended_with(3, "no memory");
    e.submission->scheduler = "slurm";
    e.submission->token = "l0123456789abcdef.1";
    e.job.state = JobState::queued;
    fails("ended by itself in a ladder that is started again", e, "exit code 3: no memory");
  }
  add("queued", with_job(JobState::queued, "queued", "waits for 2 cores"), RunState::queued, "");
  add("running", with_job(JobState::running, "running"), RunState::running, "");
  {
    auto e = with_job(JobState::running, "running");
    e.heartbeat = Heartbeat{now - 90, 3, 10};
    add("stalled", e, RunState::running, "no heartbeat for 1m30s");
    e.heartbeat = Heartbeat{now - 1, 3, 10};
    e.stall =
        StallRecord{.unix_s = now - 30, .stalled_s = 65, .step = 3, .missing = {{2, "node8", "has not answered"}}, .ranks = {}};
    add("a rank keeps the others waiting", e, RunState::running,
        "no progress for 1m35s, at step 3: rank 2 on node8 has not answered");
    e.stall->missing.clear();
    add("nobody is to be blamed", e, RunState::running, "no progress for 1m35s, at step 3: all ranks wait for each other");
  }
  {
    auto e = ended_with(143);
    e.stop_reason = parse_stop_reason("time_limit");
    e.stall =
        StallRecord{.unix_s = now - 30, .stalled_s = 65, .step = 3, .missing = {{2, "node8", "has not answered"}}, .ranks = {}};
    add("ended while it stood still", e, RunState::timed_out,
        "it reached its time limit; before that it was stalled: no progress for 1m5s, at step 3: rank 2 on node8 has not "
        "answered");
  }
  add("an answer nobody taught us", with_job(JobState::unknown, "SPECIAL_EXIT"), RunState::unknown,
      "the scheduler's answer does not tell its state");
  add("just submitted", submitted(5), RunState::submitted, "");
  add("just submitted, and the clock jumped back", submitted(-30), RunState::submitted, "");
  add("lost", submitted(100), RunState::lost, "its scheduler no longer knows it, and it never began");
  {
    auto e = submitted(100);
    e.submission->job_id.clear();
    add("an intent left behind", e, RunState::lost, "its submission was interrupted before the scheduler accepted it");
    e.begin = BeginRecord{};
    add("lost in the middle", e, RunState::lost, "it began, but its scheduler no longer knows it and no end is recorded");
    e.heartbeat = Heartbeat{now - 2, 3, 10};
    add("unknown to its scheduler but beating", e, RunState::running, "");
  }
  fails("a note of dtctl is no cause", ended_with(3, "KeyError: 'x'\n" + own_note("token", "the program reports steps again")),
        "exit code 3: KeyError: 'x'");
  fails("the crash behind what dtctl says about the end",
        ended_with(1, "Traceback (most recent call last):\nValueError: no data\n" +
                          own_line("token", "the program reported its result, but then ended with an error", 1)),
        "the program reported its result, but then ended with an error (exit code 1): ValueError: no data");
  fails("the program's exit code 0 is the only one in the cause",
        ended_with(1, own_line("token", "the program ended with exit code 0, but rank 0 reported no result", 1)),
        "the program ended with exit code 0, but rank 0 reported no result");
  fails("the exception behind an abort",
        ended_with(134, "terminate called after throwing an instance of 'std::bad_alloc'\n"
                        "  what():  std::bad_alloc\n" +
                            aborted_report),
        "rank 0 on vm was killed by SIGABRT: std::bad_alloc: std::bad_alloc");
  fails("launches that mpirun refused",
        ended_with(1, "mpirun: Error: unknown option \"--bogus\"\nType 'mpirun --help' for usage.\n" +
                          own_note("token", "launch 1 ended with exit code 1 before the first step and is tried again") +
                          "mpirun: Error: unknown option \"--bogus\"\nType 'mpirun --help' for usage.\n"),
        "exit code 1: mpirun: Error: unknown option \"--bogus\"");
  add("nothing", Evidence{}, RunState::planned, "");
  {
    auto e = ended_with(75);
    e.heartbeat = Heartbeat{now, 121, 400};
    e.preemption = Preemption{now, 120, 400, "step-120.safetensors", "SIGTERM"};
    add("preempted", e, RunState::preempted, "it was told to stop (SIGTERM)" + kept);
    e.stop_reason = parse_stop_reason("time_limit");
    auto changed = e;
    changed.stop_reason = parse_stop_reason("time_limit 120");
    add("time limit that was changed", changed, RunState::preempted,
        "it reached its time limit (2m, changed after the submission)" + kept);
    add("time limit with a checkpoint", e, RunState::preempted, "it reached its time limit" + kept);
    e.preemption->checkpoint.clear();
    add("no room for a checkpoint", e, RunState::preempted,
        "it reached its time limit at step 120 of 400, and no checkpoint could be written");
    e.is_own_program = true;
    add("a program that writes its own checkpoints", e, RunState::preempted, "it reached its time limit" + step_120);
    e.is_own_program = false;
    e.preemption->checkpoint = "step-120.safetensors";
    e.submission->scheduler = "slurm";
    e.job.state = JobState::queued;
    add("queued once more", e, RunState::queued, "will be started again; it stopped" + kept);
    e.job.state = JobState::running;
    add("still ending", e, RunState::running, "its ranks have ended (exit code 75); its job has not ended yet");
    e.job.state = JobState::ended;
    add("ended", e, RunState::preempted, "it reached its time limit" + kept);
    e.job.state = JobState::unknown;
    add("its scheduler cannot be asked", e, RunState::unknown,
        "its ranks have ended (exit code 75); its scheduler does not say whether the job will be started again");
    e.job.state = JobState::running;
    e.requeue_asked = true;
    add("about to be queued once more", e, RunState::queued, "will be started again; it stopped" + kept);
    e.requeue_asked = false;
    e.job.restarts = 1;
    add("started again, next attempt to come", e, RunState::queued, "will be started again; it stopped" + kept);
    e.cancel = Cancellation{now, "alice"};
    e.job.state = JobState::queued;
    add("cancelled while queued once more", e, RunState::queued, "is being withdrawn: cancelled by alice");
    e.job.state = JobState::ended;
    add("cancelled and gone from the queue", e, RunState::cancelled, "cancelled by alice");
  }
  {
    auto e = ended_with(75);
    e.preemption = Preemption{now, 120, 400, "step-120.safetensors", "SIGTERM"};
    e.stop_reason = parse_stop_reason("cancelled: cancelled in Slurm");
    add("stopped in order by scancel", e, RunState::cancelled, "cancelled in Slurm" + kept);
    e.stop_reason = parse_stop_reason("preempted: made way for another job (PREEMPTED)");
    add("stopped in order by a preemption", e, RunState::preempted, "it was told to stop (SIGTERM)" + kept);
    e.stop_reason = parse_stop_reason("timed_out: reached Slurm's time limit (TIMEOUT)");
    add("stopped in order at Slurm's limit", e, RunState::preempted, "it reached its time limit" + kept);
  }
  {
    auto e = with_job(JobState::running, "SUSPENDED", "suspended on node1");
    e.job.is_suspended = true;
    e.heartbeat = Heartbeat{now - 900, 3, 10};
    add("suspended, and silent for that", e, RunState::suspended, "");
    e.cancel = Cancellation{now, "alice"};
    add("suspended and asked to end", e, RunState::suspended, "is being stopped: cancelled by alice");
  }
  for (const auto state : {JobState::not_found, JobState::unknown}) {
    auto e = with_job(state, "");
    e.submission = Submission{1, "token", "slurm", "study", now - 1e6, ""};
    e.deferral = Deferral{now - 1e6, "not handed to Slurm yet: no room", 0, {}};
    add("a scheduler had no room for it", e, RunState::planned, "not handed to Slurm yet: no room");
    e.job.state = JobState::queued;
    add("it was handed over since, and its id not written down", e, RunState::queued, "");
    e.job.state = JobState::not_found;
    e.cancel = Cancellation{now, "alice"};
    add("cancelled before there was room", e, RunState::cancelled, "cancelled by alice");
  }
  {
    auto e = ended_with(143);
    e.stop_reason = parse_stop_reason("cancelled: cancelled by user 0 (scancel)");
    add("cancelled behind our back", e, RunState::cancelled, "cancelled by user 0 (scancel)");
    e.stop_reason = parse_stop_reason("failed: node2 failed (NODE_FAIL)");
    e.launches = {{1, now, 1}, {2, now, 1}};
    fails("a node failed", e, "node2 failed (NODE_FAIL); the ranks were launched 2 times");
    e.error = RankError{1, "node7", "loss is NaN", 12, now};
    e.launches.clear();
    fails("a rank knows better than FAILED", e, "rank 1 on node7: loss is NaN (step 12)");
    e.stop_reason = parse_stop_reason("succeeded: COMPLETED");
    e.error.reset();
    fails("a scheduler cannot say that a run succeeded", e, "ended by SIGTERM");
  }
  add("a scheduler that cannot be asked", with_job(JobState::unknown, std::string(unreachable_state), "connection refused"),
      RunState::unknown, "its scheduler does not answer");
  for (const auto state : {JobState::unknown, JobState::not_found}) {
    auto e = with_job(state, std::string(unreachable_state), "connection refused");
    e.stop_reason = parse_stop_reason("cancelled: cancelled by user 0 (scancel)");
    add("what the scheduler said before it could no longer be asked", e, RunState::cancelled, "cancelled by user 0 (scancel)");
  }

  {
    auto e = ended_with(1, "ValueError: told later, by another process\n");
    e.cause = FailureCause{"rank_exit", 1, "node1", "rank 1 on node1 ended with exit code 3: no data"};
    fails("what dtjob told when it ended", e, "rank 1 on node1 ended with exit code 3: no data");
    e = with_job(JobState::ended);
    e.job.exit_code = 0;
    e.begin = BeginRecord{};
    e.begin->unix_s = now;
    add("a result that is late", e, RunState::running, "its job has ended with exit code 0, and its result is not here yet");
    e = with_job(JobState::ended);
    e.job.exit_code = 74;
    e.job_log = "dtjob: the home is gone\n";
    fails("a job that never claimed its run", e, "its job ended with exit code 74 before the run began: the home is gone");
    e = ended_with(74);
    e.job_log = "dtjob: error: write x: No space left on device\n";
    fails("a full disk", e, "the disk is full: dtjob: error: write x: No space left on device");
  }

  std::set<std::string, std::less<>> decided, told;
  for (const auto& row : rows) {
    INFO(row.what);
    const auto verdict = judge(row.evidence, now);
    CHECK(name_of(verdict.state) == name_of(row.state));
    CHECK(verdict.cause == row.cause);
    for (const auto& name : split(verdict.rule, ':')) decided.emplace(trim(name));
    const auto code = row.evidence.end ? std::optional(row.evidence.end->exit_code) : row.evidence.job.exit_code;
    for (const auto& rule : cause_rules())
      if (rule.cause(row.evidence, code)) {
        told.emplace(rule.evidence);
        break;
      }
  }
  for (const auto evidence : judged_evidence()) {
    INFO("a row of the judge that no case above decides: " << evidence);
    CHECK(decided.contains(evidence));
  }
  for (const auto& rule : cause_rules()) {
    INFO("a row of the causes that no case above reaches: " << rule.evidence);
    CHECK(told.contains(rule.evidence));
  }
}

TEST_CASE("a full disk and a quota are named where the program's words end or are missing, from its output or its job's log")
{
  const auto cause = [](const Evidence& e) { return judge(e, now).cause; };
  auto mute = ended_with(74);
  mute.job_log = "dtjob: error: write /home/x: Disk quota exceeded\nslurmstepd: done\n";
  CHECK(cause(mute) == "the disk quota is used up: dtjob: error: write /home/x: Disk quota exceeded");
  mute.job_log.clear();
  CHECK(cause(mute) == "exit code 74, and nothing could be written: the disk of the home may have been full, or a quota used up");

  auto killed = ended_with(137, mpirun_report);
  killed.job_log = "cannot write: No space left on device\n";
  CHECK(cause(killed) == "the disk is full: cannot write: No space left on device");

  auto told = ended_with(3, "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: bad\n");
  told.job_log = killed.job_log;
  CHECK(cause(told).find("ValueError: bad") != std::string::npos);
}

TEST_CASE("the cause of a run that its job never claimed is what the job wrote in its log")
{
  auto e = with_job(JobState::ended);
  e.job.exit_code = 74;
  e.job_log = "2026-11-29T10:00:00Z job 7 restart 0 on n1: waits\ndtjob: read /h/slurm/1/tasks: No such file or directory\n";
  CHECK(judge(e, now).cause.ends_with(" before the run began: read /h/slurm/1/tasks: No such file or directory"));
  e.job.exit_code = 0;
  e.job_log = "2026-11-29T10:00:00Z job 7 restart 0 on n1: /h/runs/1/attempts/1 was cancelled: nothing is run\n";
  CHECK(judge(e, now).state == RunState::failed);
  CHECK(judge(e, now).cause.ends_with(" before the run began: " + e.job_log.substr(0, e.job_log.size() - 1)));
  e.has_owner = true;
  CHECK(judge(e, now).cause == "the ranks ended with exit code 0 but left no result");
}

TEST_CASE("the result of a job that ended with exit code 0 may be late, but not for ever")
{
  auto e = with_job(JobState::ended);
  e.job.exit_code = 0;
  e.has_owner = true;
  e.begin = BeginRecord{};
  e.begin->unix_s = now - 10;
  CHECK(judge(e, now).state == RunState::running);
  CHECK(judge(e, now + lost_grace_s).state == RunState::failed);
  e.job.exit_code = 1;
  CHECK(judge(e, now).state == RunState::failed);
}

TEST_CASE("a run that a full disk ended stays failed when its scheduler has forgotten it")
{
  auto e = with_job(JobState::not_found);
  e.submission->submitted_unix_s = now - 1e6;
  e.begin = BeginRecord{};
  e.begin->unix_s = now - 1e6;
  CHECK(judge(e, now).state == RunState::lost);
  e.job_log = "dtjob: error: write /home/x: No space left on device\n";
  CHECK(judge(e, now).state == RunState::failed);
  CHECK(judge(e, now).cause_kind == cause_kind::disk);
}
