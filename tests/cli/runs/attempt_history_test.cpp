#include "cli/runs/attempt_history.hpp"

#include "cli/runs/checkpoints.hpp"
#include "core/files/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;

namespace {

struct Run {
  AttemptFolder attempt(int number) const
  {
    AttemptFolder found(folder.path(), number);
    make_folders(found.checkpoints());
    return found;
  }
  test::TemporaryFolder folder;
};

std::string story_in(const AttemptFolder& attempt) { return history_of(read_attempt(attempt, history_files)); }

} // namespace

TEST_CASE("the story of a preempted attempt names signal, step, checkpoint and successor, and one without a trace has none")
{
  const Run run;
  const auto attempt = run.attempt(1);
  write_file_atomic(attempt.preempted(), to_json(Preemption{5, 120, 400, "step-120.safetensors", "SIGUSR1"}));
  write_file_atomic(attempt.end(), "exit 75 6\n");
  write_file_atomic(attempt.requeue(), "");
  CHECK(story_in(attempt) ==
        "stopped on SIGUSR1 at step 120 of 400, checkpoint step-120.safetensors; dtctl asked the scheduler to start it again");
  REQUIRE(fence(attempt, 2));
  CHECK(story_in(attempt).ends_with("; attempt 2 replaced it"));
  CHECK(story_in(Run().attempt(1)).empty());
}

TEST_CASE("the story of an attempt tells its restart, its launches and how it ended")
{
  const Run run;
  const auto attempt = run.attempt(2);
  Submission submission;
  submission.restart = 1;
  write_file_atomic(attempt.submission(), to_json(submission));
  write_file_atomic(attempt.launches(), "launch 1 5 139\nlaunch 2 6 1\n");
  write_file_atomic(attempt.end(), "exit 1 7\n");
  CHECK(story_in(attempt) == "restart 1 of its job; launched 2 times (exit codes 139, 1); ended with exit code 1");
  write_file_atomic(attempt.error(), to_json(RankError{3, "node2", "out of memory", 9, 6}));
  CHECK(story_in(attempt).ends_with("; rank 3 on node2: out of memory"));
  RunResult result;
  result.resumed_step = 120;
  REQUIRE(commit_result(attempt, result));
  CHECK(story_in(attempt) == "restart 1 of its job; continued from step 120; launched 2 times (exit codes 139, 1); succeeded");
}

TEST_CASE("the last checkpoint is that of most steps, of any attempt up to the one asked for")
{
  const Run run;
  CHECK(last_checkpoint(run.folder.path(), 9) == 0);
  for (const auto* name :
       {"step-40.safetensors", "step-120.safetensors", "step-x.safetensors", "step-500.safetensors.tmp", "notes"})
    write_file_atomic(run.attempt(1).checkpoints() / name, "");
  write_file_atomic(run.attempt(2).checkpoints() / "step-200.safetensors", "");
  CHECK(last_checkpoint(run.folder.path(), 1) == 120);
  CHECK(last_checkpoint(run.folder.path(), 2) == 200);
}
