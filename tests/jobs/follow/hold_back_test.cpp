// hold_back_rest(): when the first runs of a study fail in the same way, the rest is not started.
#include "jobs/follow/hold_back.hpp"

#include "core/files/file.hpp"
#include "core/record/study_record.hpp"
#include "jobs/launch/last_words.hpp"
#include "tests/jobs/playground.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using namespace dt::jobs::testing;

namespace {

const std::string no_torch = "ModuleNotFoundError: No module named 'torch'\n";

// A study of runs whose attempts were submitted at once.
struct Stage {
  Folder folder;
  Home home{folder.path()};
  StudyRecord study;

  explicit Stage(std::size_t runs, std::size_t points = 2)
  {
    study.id = study.name = "study";
    for (std::size_t i = 0; i < runs; ++i) {
      study.run_keys.push_back("key" + std::to_string(i));
      study.run_names.push_back("s/" + std::to_string(i % points) + "/#" + std::to_string(i / points));
      submit(i, 1000);
    }
    write();
  }
  void write() const
  {
    make_folders(home.study(study.id));
    write_file_atomic(home.study(study.id) / "study.json", to_json(study));
  }
  AttemptFolder attempt(std::size_t run) const { return {home.run(study.run_keys[run]), 1}; }
  void submit(std::size_t run, double unix_s) const
  {
    make_folders(attempt(run).path());
    write_file_atomic(attempt(run).submission(),
                      to_json(Submission{1, "token", "local", study.id, unix_s, "local-" + std::to_string(run)}));
  }
  void begin(std::size_t run) const { write_file_atomic(attempt(run).owner(), "{}"); }
  std::size_t fail(std::size_t run, const std::string& words = no_torch, int code = 1) const
  {
    begin(run);
    write_file_atomic(attempt(run).err(), words);
    write_file_atomic(attempt(run).end(), "exit " + std::to_string(code) + " 1001\n");
    return hold_back_rest(attempt(run)).size();
  }
  std::size_t cancelled() const
  {
    std::size_t count = 0;
    for (std::size_t i = 0; i < study.run_keys.size(); ++i) count += is_there(attempt(i).cancel()) ? 1 : 0;
    return count;
  }
};

} // namespace

TEST_CASE("after three failures of the same kind the runs that nobody has claimed are cancelled, and the cause is named")
{
  const Stage stage(6);
  CHECK(stage.fail(0) == 0);
  CHECK(stage.fail(1) == 0);
  stage.begin(3);
  CHECK(stage.fail(2) == 2);
  CHECK(stage.cancelled() == 2);
  CHECK_FALSE(is_there(stage.attempt(3).cancel()));
  const auto why = "held back: the first 3 runs of the study failed before their first step in the same way: "
                   "exit code 1: ModuleNotFoundError: No module named 'torch'";
  CHECK(read_file(stage.attempt(5).cancel()).ends_with(std::string(why) + "\n"));
  CHECK(stage.fail(3) == 0); // it looks again, and nothing is left
  const auto status = reconcile(stage.home, std::vector<std::string>{"key5"}).front();
  CHECK(status.verdict.state == RunState::cancelled);
  CHECK(status.verdict.cause == why);
}

TEST_CASE("ranks, processes and hosts' numbers do not make another kind of failure, exit codes and words do")
{
  CHECK(kind_of_cause("rank 0 on n12: cannot open /h/runs/0123456789abcdef/x (step 3)") ==
        kind_of_cause("rank 7 on n12: cannot open /h/runs/fedcba9876543210/x (step 14)"));
  CHECK(kind_of_cause("exit code 1, and nothing was printed") != kind_of_cause("exit code 2, and nothing was printed"));
  CHECK(kind_of_cause("exit code 1: KeyError: 'lr'") != kind_of_cause("exit code 1: KeyError: 'momentum'"));
}

TEST_CASE("nothing is held back while there is reason to believe that the study works")
{
  Stage stage(8);
  SECTION("a run made a step")
  {
    stage.begin(7);
    write_file_atomic(stage.attempt(7).heartbeat(), "beat 1001 4 10\n");
  }
  SECTION("a run has a result") { write_file_atomic(stage.attempt(7).result(), to_json(RunResult{})); }
  SECTION("a run diverged in its first step")
  {
    stage.begin(7);
    write_file_atomic(stage.attempt(7).error(), to_json(RankError{0, "n1", "step 1: the loss is NaN", 1, 1001}));
    write_file_atomic(stage.attempt(7).end(), "exit 1 1001\n");
  }
  SECTION("a run failed in another way") { CHECK(stage.fail(7, "KeyError: 'lr'\n") == 0); }
  SECTION("the user wants all of them")
  {
    stage.study.keep_going = true;
    stage.write();
  }
  CHECK(stage.fail(0) + stage.fail(1) + stage.fail(2) == 0);
  CHECK(stage.cancelled() == 0);
}

TEST_CASE("failures of one point say nothing about the other points")
{
  const Stage one(8, 1), two(8, 2), of_two(8, 2);
  CHECK(one.fail(0) + one.fail(1) + one.fail(2) == 5);
  CHECK(two.fail(0) + two.fail(2) + two.fail(4) == 0);
  CHECK(of_two.fail(0) + of_two.fail(2) + of_two.fail(1) == 5);
}

TEST_CASE("failures of an earlier submission do not hold back what is submitted again")
{
  const Stage stage(6);
  stage.fail(0);
  stage.fail(1);
  for (std::size_t i = 2; i < 6; ++i) stage.submit(i, 2000);
  CHECK(stage.fail(2) == 0);
  CHECK(stage.fail(3) == 0);
  CHECK(stage.fail(4) == 1);
}

TEST_CASE("an attempt that was stopped or cancelled is no failure that counts")
{
  const Stage stage(6);
  write_file_atomic(stage.attempt(0).cancel(), "1 alice\n");
  CHECK(stage.fail(0) + stage.fail(1) + stage.fail(2) == 0);
  CHECK(stage.fail(3) == 2);
}
