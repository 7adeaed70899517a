// The estimate from run folders made by hand.
#include "cli/follow/study_clock.hpp"

#include "core/files/file.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/run_record.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::cli;

namespace {

class Study {
 public:
  // A run with its folder.
  RunView put(std::int64_t repeat, RunState state, std::int64_t ranks = 1)
  {
    RunSpec spec;
    spec.name = "clock";
    spec.repeat = repeat;
    spec.model.name = "lenet";
    spec.data.name = "synthetic";
    spec.train.global_batch = 64;
    spec.train.steps = 400;
    spec.resources.ranks_per_node = ranks;
    spec.resources.oversubscribe = true;
    const auto planned = plan_run(spec, "build", "data");
    make_folders(attempt_of(planned.key).path());
    write_file_atomic(spec_path(home_.run(planned.key)), to_json(planned));
    RunView run;
    run.row.key = planned.key;
    run.row.state = state;
    run.row.attempt = 1;
    run.live.emplace();
    Submission submission;
    submission.scheduler = scheduler;
    run.live->submission = submission;
    return run;
  }

  RunView put_finished(std::int64_t repeat, double wall_s, std::int64_t ranks = 1)
  {
    auto run = put(repeat, RunState::succeeded, ranks);
    auto owner = own_identity("token");
    owner.unix_s = 1000;
    write_file_atomic(attempt_of(run.row.key).owner(), to_json(owner));
    write_file_atomic(attempt_of(run.row.key).path_of(AttemptFile::end), "exit 0 " + std::to_string(1000 + wall_s) + "\n");
    return run;
  }

  AttemptFolder attempt_of(const std::string& key) const { return {home_.run(key), 1}; }

  StudyClock clock(std::vector<FinishedRun> earlier = {}, std::int64_t most_runs = 1) const
  {
    return {home_, std::move(earlier), most_runs};
  }

  std::string scheduler = "local";

 private:
  test::TemporaryFolder folder_;
  Home home_{folder_.path()};
};

RunView beating(RunView run, double unix_s, std::int64_t step)
{
  run.live->heartbeat = Heartbeat{unix_s, step, 400};
  return run;
}

} // namespace

TEST_CASE("the wall time of a finished run is that of its job, queued repeats take as long, and failed runs tell nothing")
{
  Study study;
  const auto failed = study.put(3, RunState::failed);
  const std::vector waiting{study.put(1, RunState::queued), study.put(2, RunState::queued), failed};
  CHECK(std::isnan(study.clock().remaining_s(waiting, 5000)));
  CHECK(study.clock().remaining_s({study.put_finished(0, 30), waiting[0], waiting[1], failed}, 5000) == Approx(60));
}

TEST_CASE("runs that had finished before the submission are known too")
{
  Study study;
  const auto before = study.put_finished(0, 30);
  const std::vector runs{study.put(1, RunState::queued)};
  CHECK(study.clock({{before.row.key, 1}}).remaining_s(runs, 5000) == Approx(30));
  CHECK(std::isnan(study.clock().remaining_s(runs, 5000)));
}

TEST_CASE("there is no estimate from a run whose end is not recorded, and none when nothing is left")
{
  Study study;
  const auto done = study.put_finished(0, 30);
  CHECK(std::isnan(study.clock().remaining_s({done}, 5000)));
  std::filesystem::remove(study.attempt_of(done.row.key).path_of(AttemptFile::end));
  CHECK(std::isnan(study.clock().remaining_s({done, study.put(1, RunState::queued)}, 5000)));
}

TEST_CASE("on a cluster as many jobs are expected to run at once as run now")
{
  Study study;
  study.scheduler = "slurm";
  std::vector runs{study.put_finished(0, 40), beating(study.put(1, RunState::running), 1000, 0),
                   beating(study.put(2, RunState::running), 1000, 0), study.put(3, RunState::queued),
                   study.put(4, RunState::queued)};
  CHECK(study.clock({}, 0).remaining_s(runs, 1000) == Approx(80));
  CHECK(study.clock({}, 1).remaining_s(runs, 1000) == Approx(120)); // with --max-jobs 1, one after the other from now on
  runs.pop_back();
  CHECK(study.clock({}, 0).remaining_s(runs, 1000) == Approx(80));
}

TEST_CASE("a running run gets its recent rate and the samples of its step")
{
  Study study;
  auto clock = study.clock();
  std::vector<RunView> runs{study.put(0, RunState::running)};
  for (int i = 0; i < 10; ++i) {
    runs = {beating(runs.front(), 1000 + i, 20 * i)};
    clock.look(runs);
  }
  CHECK(runs.front().steps_per_s == Approx(20));
  CHECK(runs.front().row.global_batch == 64);
}
