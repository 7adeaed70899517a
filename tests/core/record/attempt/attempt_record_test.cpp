// One reader reads each file of an attempt once.
#include "core/record/attempt/attempt_record.hpp"

#include "core/files/file.hpp"
#include "tests/core/put_file.hpp"
#include "tests/support/opened_files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <array>
#include <vector>

using namespace dt;
using enum AttemptFile;

namespace {

// Every file that AttemptRecord has a member for.
constexpr std::array all_records{submission, deferred,  owner, begin,   heartbeat, error, result, launches,    probe, load,
                                 energy,     preempted, stall, requeue, settled,   end,   cancel, stop_reason, cause};

constexpr std::array json_records{submission, deferred, begin, error, result, probe, load, energy, preempted, stall, cause};

struct Attempt {
  test::TemporaryFolder home;
  AttemptFolder folder{home.path(), 3};

  Attempt() { make_folders(folder.path()); }
  void put(AttemptFile file, const std::string& text) const { test::put_file(folder.path_of(file), text); }
  AttemptRecord read() const { return read_attempt(folder, all_records); }
};

void fill(const Attempt& attempt)
{
  attempt.put(submission, to_json(Submission{3, "token", "slurm", "study", 5, "17"}));
  attempt.put(deferred, to_json(Deferral{6, "no room", 2, {"16"}}));
  attempt.put(owner, "{}");
  BeginRecord started;
  started.host = "node0";
  attempt.put(begin, to_json(started));
  attempt.put(heartbeat, to_line(Heartbeat{8, 4, 10}));
  attempt.put(error, to_json(RankError{1, "node1", "no memory", 4, 9}));
  RunResult outcome;
  outcome.throughput = 99;
  attempt.put(result, to_json(outcome));
  attempt.put(launches, "launch 1 5 139\nlaunch 2 6 0\nlaunch 3");
  ProbeRecord speed;
  speed.ranks = {{0, "node0", 3000, 50}};
  attempt.put(probe, to_json(speed));
  LoadRecord use;
  use.nodes.emplace_back().host = "node0";
  attempt.put(load, to_json(use));
  EnergyRecord joules;
  joules.run.joules = 7;
  attempt.put(energy, to_json(joules));
  attempt.put(preempted, to_json(Preemption{9, 4, 10, "step-4.safetensors", "SIGUSR1"}));
  attempt.put(stall, to_json(StallRecord{
                         .unix_s = 8, .stalled_s = 65, .step = 4, .missing = {{2, "node8", "has not answered"}}, .ranks = {}}));
  attempt.put(requeue, "9\n");
  attempt.put(settled, "COMPLETED 9\n");
  attempt.put(cancel, to_line(Cancellation{8.5, "alice"}));
  attempt.put(stop_reason, "time_limit\nand more\n");
  attempt.put(cause, to_json(FailureCause{"rank_exit", 1, "node1", "rank 1 on node1 ended with exit code 3"}));
  attempt.put(end, "exit 75 11\n");
}

} // namespace

TEST_CASE("the record of an attempt holds every file of it")
{
  const Attempt attempt;
  fill(attempt);
  const auto record = attempt.read();
  CHECK(record.number == 3);
  CHECK(record.submission->job_id == "17");
  CHECK(record.deferral->reason == "no room");
  CHECK(record.has_owner);
  CHECK(record.begin->host == "node0");
  CHECK(record.heartbeat->step == 4);
  CHECK(record.error->cause == "no memory");
  CHECK(record.has_result);
  CHECK(record.result->throughput == 99);
  CHECK_FALSE(record.fenced_by);
  CHECK(record.launches.size() == 2); // the third line is torn
  CHECK(record.probe->ranks.at(0).gemm_gflops == 50);
  CHECK(record.load->nodes.at(0).host == "node0");
  CHECK(record.energy->run.joules == 7);
  CHECK(record.preemption->checkpoint == "step-4.safetensors");
  CHECK(record.stall->missing.at(0).rank == 2);
  CHECK(record.requeue_asked);
  CHECK(record.is_settled);
  CHECK(record.end->exit_code == 75);
  CHECK(record.cancel->who == "alice");
  CHECK(record.cancel->unix_s == 8.5);
  CHECK(record.stop_reason->kind == StopKind::time_limit);
  CHECK(record.cause->rank == 1);
  CHECK(record.cause->text == "rank 1 on node1 ended with exit code 3");
  CHECK(record.problems.empty());
}

TEST_CASE("a reader lists the folder once and opens each file once, however often it is asked")
{
  const Attempt attempt;
  fill(attempt);
  test::OpenedFiles opened(attempt.folder.path());
  AttemptReader reader(attempt.folder);
  AttemptRecord record;
  for (int i = 0; i < 3; ++i) reader.read(all_records, record);
  CHECK(record.result.has_value());
  for (const auto& [name, count] : opened.counts()) {
    INFO(name);
    CHECK(count == 1);
  }
  CHECK(opened.counts()["result.json"] == 1);
  CHECK(opened.counts()[""] == 1);
}

TEST_CASE("a reader opens nothing that was not asked for and nothing that the folder lacks")
{
  const Attempt attempt;
  attempt.put(submission, to_json(Submission{}));
  attempt.put(begin, "{}");
  test::OpenedFiles opened(attempt.folder.path());
  AttemptRecord record;
  AttemptReader(attempt.folder).read(std::array{submission, result, stop_reason}, record);
  CHECK(opened.counts() == std::map<std::string, int>{{"", 1}, {"submission.json", 1}});
}

TEST_CASE("a reader for many runs says that there is a result and drops its figures")
{
  const Attempt attempt;
  fill(attempt);
  AttemptRecord record;
  AttemptReader(attempt.folder, AttemptReader::Figures::dropped).read(std::array{result}, record);
  CHECK(record.has_result);
  CHECK_FALSE(record.result);
}

TEST_CASE("an attempt that was replaced has no result but a successor, and one without a folder an empty record")
{
  const Attempt attempt;
  REQUIRE(fence(attempt.folder, 4));
  const auto record = attempt.read();
  CHECK_FALSE(record.has_result);
  CHECK(record.fenced_by == 4);
  CHECK(record.problems.empty());
  const test::TemporaryFolder home;
  const auto empty = read_attempt(AttemptFolder(home.path(), 1), all_records);
  CHECK(empty.number == 1);
  CHECK_FALSE(empty.submission);
  CHECK_FALSE(empty.requeue_asked);
  CHECK(empty.problems.empty());
}

TEST_CASE("a torn JSON record is left out and is a problem, wherever it was torn")
{
  const auto file = GENERATE(from_range(json_records));
  INFO(name_of(file));
  const Attempt attempt;
  fill(attempt);
  const auto whole = read_file(attempt.folder.path_of(file));
  for (const auto length : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 3}) {
    attempt.put(file, whole.substr(0, length));
    CHECK(attempt.read().problems ==
          std::vector{attempt.folder.path_of(file).string() + " is damaged or of another format; it was left out"});
  }
}

TEST_CASE("torn lines are left out without a problem, because a later look may find them whole")
{
  const Attempt attempt;
  attempt.put(end, "exit 7");
  attempt.put(heartbeat, "beat 8 4");
  attempt.put(launches, "launch 1");
  attempt.put(cancel, "");
  const auto record = attempt.read();
  CHECK_FALSE(record.end);
  CHECK_FALSE(record.heartbeat);
  CHECK(record.launches.empty());
  CHECK(record.cancel.has_value()); // whoever wrote it wants the end
  CHECK(record.cancel->who.empty());
  CHECK(record.problems.empty());
}

TEST_CASE("a folder or a FIFO in the place of a record is an error that names it, and never blocks")
{
  const auto file = GENERATE(result, heartbeat, stop_reason, cancel, owner);
  const Attempt attempt;
  const auto path = attempt.folder.path_of(file);
  if (GENERATE(true, false))
    make_folders(path);
  else
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_AS(attempt.read(), IrregularFile);
  CHECK_THROWS_WITH(attempt.read(), Catch::Matchers::Contains(path.string()));
}

TEST_CASE("a reader knows the files that its folder lists and no others, and once an attempt has its end, a listing that lacks "
          "one is not believed")
{
  const Attempt attempt;
  attempt.put(end, "exit 0 1\n");
  AttemptReader reader(attempt.folder);
  fill(attempt); // as if the listing had missed the other files
  CHECK(reader.may_have(result));
  CHECK(reader.has(result));
  AttemptRecord record;
  reader.read(all_records, record);
  CHECK(record.has_result);
  const Attempt open;
  open.put(begin, "x");
  const AttemptReader sure(open.folder);
  CHECK(sure.may_have(begin));
  CHECK_FALSE(sure.may_have(result));
}

TEST_CASE("a file that was absent is found by the next listing, and one that was read is not read again")
{
  const Attempt attempt;
  attempt.put(submission, to_json(Submission{3, "token", "slurm", "study", 5, ""}));
  AttemptReader reader(attempt.folder);
  AttemptRecord record;
  reader.read(all_records, record);
  fill(attempt);
  reader.read(all_records, record);
  CHECK_FALSE(record.end);
  reader.list_again();
  reader.read(all_records, record);
  CHECK(record.end->exit_code == 75);
  CHECK(record.has_result);
  CHECK(record.submission->job_id.empty());
}

TEST_CASE("a file that the record has no member for is refused as a mistake of the caller")
{
  const Attempt attempt;
  attempt.put(script, "true\n");
  CHECK_THROWS_WITH(read_attempt(attempt.folder, std::array{script}), "an attempt's record has no member for job.sh");
}

TEST_CASE("the line of a stop reason is read as it was written, for every kind, and other lines stay as they are")
{
  const StopReason reasons[]{{StopKind::time_limit},
                             {StopKind::time_limit, {}, RunState::failed, 120},
                             {StopKind::not_started, "it needs 8 cores: there are 2"},
                             {StopKind::not_run, "run aabbccddee did not succeed"},
                             {StopKind::removed, "/h/runs/1/attempts/1 is gone"},
                             {StopKind::scheduler, "node2 failed: (NODE_FAIL)", RunState::failed},
                             {StopKind::scheduler, "cancelled by user 0 (scancel)", RunState::cancelled},
                             {StopKind::unknown, "succeeded: COMPLETED"},
                             {StopKind::unknown, "time_limits are bad"}};
  for (const auto& reason : reasons) {
    const auto read = parse_stop_reason(reason.line());
    INFO(reason.line());
    CHECK(read.kind == reason.kind);
    CHECK(read.text == reason.text);
    CHECK(read.new_limit_s == reason.new_limit_s);
    if (read.kind == StopKind::scheduler) CHECK(read.state == reason.state);
  }
}
