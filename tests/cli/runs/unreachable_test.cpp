// Runs whose scheduler cannot be asked, and runs that nobody has submitted yet: homes made by hand.
#include "tests/cli/driver.hpp"

#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"
#include "core/text.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using dt::test::Dtctl;
using dt::test::Words;

namespace {

const Words no_slurm{"SLURM_CONF=/no/such/slurm.conf"};

PlannedRun some_run()
{
  RunSpec spec;
  spec.name = "far";
  spec.model.name = "lenet";
  spec.data.name = "synthetic";
  spec.train.global_batch = 64;
  spec.train.steps = 10;
  spec.resources.scheduler = "slurm";
  return plan_run(spec, "build", "data");
}

// A study of one run, as a submission begins it: its record, and the note that the database is behind.
void put_study(const Dtctl& dtctl, const PlannedRun& run)
{
  StudyRecord study;
  study.name = "far";
  study.kind = "single";
  study.run_keys = {run.key};
  study.run_names = {"far"};
  study.created_unix_s = study.submitted_unix_s = 1700000000;
  study.id = study_id(study.name, study.run_keys);
  for (const auto* folder : {"runs", "pending"}) make_folders(dtctl.home() / folder);
  make_folders(dtctl.home() / "studies" / study.id);
  write_file_atomic(dtctl.home() / "studies" / study.id / "study.json", to_json(study));
  write_file_atomic(dtctl.home() / "pending" / study.id, "");
}

// The run's folder as a submission to Slurm leaves it.
AttemptFolder put_submitted(const Dtctl& dtctl, const PlannedRun& run)
{
  const AttemptFolder attempt(dtctl.home() / "runs" / run.key, 1);
  make_folders(attempt.path());
  write_file_atomic(spec_path(attempt.run_folder()), to_json(run));
  write_file_atomic(attempt.submission(), to_json(Submission{1, "j0123456789abcdef.0", "slurm", "", 1700000000, "12"}));
  return attempt;
}

} // namespace

TEST_CASE("a submission to a scheduler that cannot be reached leaves no study, and the record of an earlier one as it was")
{
  const Dtctl dtctl;
  dtctl.write("far.yaml", dt::test::tiny_recipe("resources: {scheduler: slurm}\n"));
  CHECK(dtctl.run({"sweep", "far.yaml"}, no_slurm).exit_code == 3);
  CHECK(dt::names_in(dtctl.home() / "studies").empty());
  CHECK(dtctl.json({"status", "--all"}).at("studies").empty());
  const auto study = dtctl.json({"sweep", "far.yaml", "--dry-run"}, no_slurm).at("study").get<std::string>();
  const auto record = dtctl.home() / "studies" / study / "study.json";
  make_folders(record.parent_path());
  StudyRecord earlier;
  earlier.id = study;
  earlier.created_unix_s = earlier.submitted_unix_s = 1700000000;
  write_file_atomic(record, to_json(earlier));
  const auto text = read_file(record);
  CHECK(dtctl.run({"sweep", "far.yaml"}, no_slurm).exit_code == 3);
  CHECK(read_file(record) == text);
}

TEST_CASE("without its scheduler status prints what is known, says why it is not more, and ends with 3")
{
  const Dtctl dtctl;
  const auto run = some_run();
  put_study(dtctl, run);
  put_submitted(dtctl, run);
  for (const auto* line : {"status", "status --all", "show", "explain", "results"}) {
    const auto result = dtctl.run(dt::split(line, ' '), no_slurm);
    INFO(line << ": " << result.err);
    CHECK(result.exit_code == 3);
    CHECK(result.out.find("far") != std::string::npos);
    CHECK_FALSE(result.err.empty());
  }
  CHECK(dtctl.json({"status"}, no_slurm).at("runs")[0].at("state") == "unknown");
}

TEST_CASE("that nobody could be asked is not kept as a run's state")
{
  const Dtctl dtctl;
  const auto run = some_run();
  put_study(dtctl, run);
  REQUIRE(dtctl.run({"db", "rebuild"}).exit_code == 0);
  const auto attempt = put_submitted(dtctl, run);
  for (int look = 0; look < 2; ++look) {
    CHECK(dtctl.run({"status"}, no_slurm).exit_code == 3);
    CHECK(dtctl.json({"query", "SELECT state FROM runs"}).at("rows")[0].at("state") == "planned");
  }
  write_file_atomic(attempt.end(), "exit 1 1700000001\n");
  RunResult result;
  result.steps = 10;
  REQUIRE(commit_result(attempt, result));
  const auto status = dtctl.json({"status"}, no_slurm);
  CHECK(status.at("runs")[0].at("state") == "succeeded");
  CHECK(status.at("exit_code") == 0);
}

TEST_CASE("watch takes a run that was never submitted for over, unless somebody is submitting")
{
  const Dtctl dtctl;
  put_study(dtctl, some_run());
  const auto alone = dtctl.run({"status", "--follow", "--timeout", "20s"});
  CHECK(alone.exit_code == 1);
  CHECK(alone.err.find("some runs were never submitted") != std::string::npos);
  const auto lock = FileLock::acquire(dtctl.home() / "submit.lock");
  CHECK(dtctl.run({"status", "--follow", "--timeout", "1s"}).exit_code == 124);
}
