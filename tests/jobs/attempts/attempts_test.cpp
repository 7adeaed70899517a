// Which attempts a scheduler is asked about.
#include "jobs/attempts/attempts.hpp"

#include "core/files/file.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/opened_files.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::testing;

namespace {

// A home with one attempt at one run.
struct Stage {
  Folder folder;
  Home home{folder.path()};
  AttemptFolder attempt{home.run("key"), 1};

  explicit Stage(const std::string& scheduler)
  {
    make_folders(attempt.path());
    write_file_atomic(attempt.submission(), to_json(Submission{1, "j0123456789abcdef.0", scheduler, "study", 1, "7"}));
  }
  void end(int code) const { write_file_atomic(attempt.end(), "exit " + std::to_string(code) + " 1\n"); }
  std::vector<LatestAttempt> latest() const { return latest_attempts(home, std::vector<std::string>{"key"}); }
  bool is_open() const { return !open_by_scheduler(latest()).empty(); }
};

} // namespace

TEST_CASE("Slurm is asked about a run without a result, whatever its exit code, until it has said that it holds the job no more")
{
  const Stage stage("slurm");
  CHECK(stage.is_open());
  stage.end(GENERATE(0, 1, 75, 143, 205));
  CHECK(stage.is_open());
  write_file_atomic(stage.attempt.cancel(), "1 alice\n");
  CHECK(stage.is_open());
  write_file_atomic(stage.attempt.settled(), "FAILED 1\n");
  CHECK_FALSE(stage.is_open());
  const Stage local("local"); // which starts no job again
  CHECK(local.is_open());
  local.end(1);
  CHECK_FALSE(local.is_open());
}

TEST_CASE("the accounting is asked only about an end by a signal, or after being told to stop, that nothing explains")
{
  const Stage stage("slurm");
  CHECK_FALSE(handle_of(stage.latest()[0]).has_ended);
  stage.end(1);
  CHECK(handle_of(stage.latest()[0]).has_ended);
  write_file_atomic(stage.attempt.preempted(), "{}"); // by scancel, perhaps
  CHECK_FALSE(handle_of(stage.latest()[0]).has_ended);
  std::filesystem::remove(stage.attempt.preempted());
  stage.end(143);
  CHECK_FALSE(handle_of(stage.latest()[0]).has_ended);
  write_file_atomic(stage.attempt.stop_reason(), "cancelled: by root\n");
  CHECK(handle_of(stage.latest()[0]).has_ended);
}

TEST_CASE("of an attempt for which there was no room only the queue is asked, for it has no past")
{
  const Stage stage("slurm");
  write_file_atomic(stage.attempt.submission(), to_json(Submission{1, "j0123456789abcdef.0", "slurm", "study", 1, ""}));
  CHECK_FALSE(handle_of(stage.latest()[0]).has_ended);
  write_file_atomic(stage.attempt.deferred(), to_json(Deferral{1, "no room", 0, {}}));
  CHECK(handle_of(stage.latest()[0]).has_ended);
}

TEST_CASE("a ladder's run was cut off when it was preempted or lost a node, not when it reached its own time limit")
{
  const Stage stage("slurm");
  CHECK_FALSE(was_cut_off(stage.attempt));
  write_file_atomic(stage.attempt.preempted(), "{}");
  CHECK(was_cut_off(stage.attempt));
  write_file_atomic(stage.attempt.stop_reason(), "time_limit\n");
  CHECK_FALSE(was_cut_off(stage.attempt));
  write_file_atomic(stage.attempt.requeue(), "1\n");
  CHECK(was_cut_off(stage.attempt));
}

TEST_CASE("a reconcile opens each record of a run once, and the other attempts only when theirs may have the result")
{
  const Stage stage("local");
  const AttemptFolder later(stage.home.run("key"), 2);
  make_folders(later.path());
  write_file_atomic(later.submission(), to_json(Submission{2, "j0123456789abcdef.1", "local", "study", 1, "8"}));
  write_file_atomic(later.cancel(), to_line(Cancellation{1, "alice"}));
  write_file_atomic(later.end(), "exit 143 1\n");
  REQUIRE(commit_result(stage.attempt, RunResult{}));
  stage.end(0);
  dt::test::OpenedFiles first(stage.attempt.path()), second(later.path());
  const auto status = reconcile(stage.home, std::vector<std::string>{"key"}).at(0);
  CHECK(status.verdict.state == RunState::succeeded);
  CHECK(status.attempt == 1);
  CHECK(first.counts() == std::map<std::string, int>{{"result.json", 1}});
  CHECK(second.counts() == std::map<std::string, int>{{"", 1}, {"submission.json", 1}, {"end", 1}, {"cancel", 1}});
}

TEST_CASE("a reconcile of a run with a result opens the result once and nothing that only a failure needs")
{
  const Stage stage("slurm");
  REQUIRE(commit_result(stage.attempt, RunResult{}));
  write_file_atomic(stage.attempt.error(), to_json(RankError{}));
  stage.end(0);
  dt::test::OpenedFiles opened(stage.attempt.path());
  CHECK(reconcile(stage.home, std::vector<std::string>{"key"}).at(0).verdict.state == RunState::succeeded);
  CHECK(opened.counts() == std::map<std::string, int>{{"", 1}, {"submission.json", 1}, {"result.json", 1}, {"end", 1}});
}
