#include "tests/store/fixture.hpp"

#include "core/record/energy_record.hpp"
#include "tests/support/opened_files.hpp"

#include <fstream>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

void append(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

} // namespace

TEST_CASE("a finished run is taken in whole")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  const auto report = site.ingest(database, {run});
  CHECK(report.runs_added == 1);
  CHECK(report.runs_updated == 0);
  CHECK(report.step_rows == 20);
  CHECK(report.problems.empty());
  const auto counts =
      "SELECT (SELECT count(*) FROM steps) || ' ' || (SELECT count(*) FROM evals) || ' ' || (SELECT count(*) FROM ranks) || "
      "' ' || (SELECT count(*) FROM rank_phases) || ' ' || (SELECT count(*) FROM environment)";
  CHECK(ask_text(database, counts) == "20 2 2 14 3");
  CHECK(ask_text(database, "SELECT state || ' ' || evidence || ' ' || attempt FROM runs") == "succeeded result.json 1");
  CHECK(ask_text(database, "SELECT job_id || ' ' || host || ' ' || exit_code FROM attempts") == "17 node0 0");
  CHECK(ask_text(database, "SELECT host || ' ' || mask || ' ' || bytes_sent FROM ranks WHERE rank = 1") == "node0 1 1000");
  CHECK(ask_text(database, "SELECT bytes_sent || ' ' || messages_sent || ' ' || memory_peak_bytes FROM results") ==
        "2000 30 1048576");
  CHECK(ask_text(database, "SELECT backward_s || ' ' || loss FROM steps WHERE step = 10") == "0.003 0.25");
  CHECK(ask_text(database, "SELECT printf('%.4f', share) FROM phases_flat WHERE rank = 0 AND phase = 'communication'") ==
        "0.1667");
  CHECK(database.check().empty());
}

TEST_CASE("energy, which dtjob writes after the result, is taken in with the job's end")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  const AttemptFolder attempt(site.home.run(run.key), 1);
  auto result = read_result(attempt).value();
  result.flops = {.per_sample = 1e9, .precision = "fp32", .device = "cpu"};
  replace_file(attempt.result(), to_json(result));
  auto verdicts = site.judge(std::vector{run.key});
  const auto columns = "SELECT coalesce(energy_joules, 'none') || ' ' || coalesce(gpu_busy, 'none') FROM runs_flat";
  ingest_runs(database, site.home, verdicts);
  CHECK(ask_text(database, columns) == "none none");
  EnergyRecord energy;
  energy.run.joules = 7.5;
  energy.run.gpu_busy = 0.25;
  energy.run.peak_flops = 190e9 / 0.5;
  energy.run.facts["host energy"] = "none";
  replace_file(energy_path(attempt), to_json(energy));
  verdicts[0].evidence += "; end: exit 0"; // as the judge says then
  CHECK(ingest_runs(database, site.home, verdicts).runs_updated == 1);
  CHECK(ask_text(database, columns) == "7.5 0.25");
  CHECK(ask_text(database, "SELECT (model_flops / 1e9) || ' ' || mfu || ' ' || flops_precision FROM runs_flat") ==
        "190.0 0.5 fp32");
  CHECK(ask_text(database, "SELECT json_extract(energy_facts, '$.\"host energy\"') FROM results") == "none");
}

TEST_CASE("an ingest opens each record of an attempt once, for its rows and for the fingerprint")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  const auto verdicts = site.judge(std::vector{run.key});
  dt::test::OpenedFiles opened(AttemptFolder(site.home.run(run.key), 1).path());
  CHECK(ingest_runs(database, site.home, verdicts).runs_added == 1);
  auto counts = opened.counts();
  for (const auto* name : {"", "submission.json", "begin.json", "result.json", "end"}) {
    INFO(name);
    CHECK(counts[name] == 1);
  }
}

TEST_CASE("a run taken in again changes nothing, a final one is not even looked at on disk, and a folder that is not there yet "
          "is no problem")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  site.ingest(database, {run});
  const auto changes = ask_text(database, "SELECT total_changes()");
  auto verdict = site.judge(run.key);
  std::filesystem::remove_all(site.home.run(run.key));
  for (const auto& known : {verdict, RunVerdict{"0123", RunState::planned, "", "", 0}}) {
    const auto report = ingest_runs(database, site.home, std::vector{known});
    CHECK(report.runs_unchanged == 1);
    CHECK(report.runs_added + report.runs_updated + report.step_rows == 0);
    CHECK(report.problems.empty());
    CHECK(ask_text(database, "SELECT total_changes()") == changes);
  }
}

TEST_CASE("a running run gains the steps that were added, a torn last line waits, and a log that shrank is taken in anew")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(2));
  const auto attempt = site.begin(run, 1);
  append(attempt.events(), step_lines(1, 5) + "step 6 0.6 0.06");
  CHECK(site.ingest(database, {run}).step_rows == 5);
  CHECK(site.ingest(database, {run}).runs_unchanged == 1);
  append(attempt.events(), " 0.4 0.01 0.01 0.001 0.002 0.003 0.001 0.0005\n" + step_lines(7, 10));
  const auto report = site.ingest(database, {run});
  CHECK(report.runs_updated == 1);
  CHECK(report.step_rows == 5);
  CHECK(ask_text(database, "SELECT group_concat(step, ' ') FROM steps") == "1 2 3 4 5 6 7 8 9 10");
  CHECK(ask_text(database, "SELECT state FROM runs") == "running");
  put_file(attempt.events(), step_lines(1, 3));
  site.ingest(database, {run});
  CHECK(ask_text(database, "SELECT (SELECT count(*) FROM steps) || ' ' || (SELECT count(*) FROM evals)") == "3 0");
}

TEST_CASE("a result of an older attempt is not the result of a newer one")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  site.ingest(database, {run});
  site.fail(site.begin(run, 2));
  const auto report = site.ingest(database, {run});
  CHECK(report.runs_updated == 1);
  CHECK(ask_text(database, "SELECT state || ' ' || attempt || ' ' || cause FROM runs") == "failed 2 rank 1: out of memory");
  CHECK(ask_text(database, "SELECT (SELECT count(*) FROM results) + (SELECT count(*) FROM rank_phases)") == "0");
  CHECK(ask_text(database, "SELECT count(bytes_sent) || ' of ' || count(*) FROM ranks") == "0 of 2");
  CHECK(ask_text(database, "SELECT throughput FROM runs_flat") == "NULL");
  CHECK(ask_text(database, "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n FROM steps GROUP BY attempt)") == "20 7");
  CHECK(ask_text(database, "SELECT error_cause FROM attempts WHERE attempt = 2") == "out of memory");
  CHECK(database.check().empty());
}

TEST_CASE("a retried run shows the new attempt's result, and a verdict about an older attempt does not undo it")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(2));
  site.fail(site.begin(run, 1));
  const auto old = site.judge(run.key);
  site.ingest(database, {run});
  site.succeed(run, site.begin(run, 2), 210);
  site.ingest(database, {run});
  CHECK(ask_text(database, "SELECT state || ' ' || cause || attempt || ' ' || throughput FROM runs_flat") == "succeeded 2 210.0");
  CHECK(ingest_runs(database, site.home, std::vector{old}).runs_unchanged == 1);
  CHECK(ask_text(database, "SELECT state || attempt FROM runs") == "succeeded2");
}

TEST_CASE("a run folder that was removed and made again replaces what was known")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(2));
  site.fail(site.begin(run, 1));
  site.succeed(run, site.begin(run, 2), 210);
  site.ingest(database, {run});
  std::filesystem::remove_all(site.home.run(run.key));
  site.plan(sample_spec(2));
  const auto attempt = site.begin(run, 1);
  put_file(attempt.submission(), to_json(Submission{1, "another token", "local", "", 1700000000, "18"}));
  put_file(attempt.events(), step_lines(1, 4));
  site.ingest(database, {run});
  CHECK(ask_text(database, "SELECT state || attempt FROM runs") == "running1");
  CHECK(ask_text(database, "SELECT count(*) FROM attempts") == "1");
  CHECK(ask_text(database, "SELECT count(*) FROM steps") == "4");
  CHECK(ask_text(database, "SELECT count(*) FROM results") == "0");
}

TEST_CASE("a damaged folder is a problem of its own, and the others are taken in")
{
  auto [site, database] = Opened{};
  const auto torn = site.run_well(sample_spec(1), 100), wrong = site.run_well(sample_spec(2), 190),
             gone = site.run_well(sample_spec(3), 260), senseless = site.run_well(sample_spec(5), 1),
             good = site.run_well(sample_spec(4), 340);
  std::vector<RunVerdict> verdicts;
  for (const auto& run : {torn, wrong, gone, senseless, good}) verdicts.push_back(site.judge(run.key));
  const auto spec_of = [&site = site](const PlannedRun& run) { return spec_path(site.home.run(run.key)); };
  put_file(spec_of(torn), "{\"schema\": 1, ");
  put_file(spec_of(wrong), to_json(good));
  std::filesystem::remove_all(site.home.run(gone.key));
  auto zero = senseless;
  zero.spec.resources.ranks_per_node = 0;
  put_file(spec_of(senseless), to_json(zero));
  const auto report = ingest_runs(database, site.home, verdicts);
  CHECK(report.runs_added == 1);
  CHECK(ask_text(database, "SELECT key FROM runs") == good.key);
  REQUIRE(report.problems.size() == 4);
  CHECK(report.problems[0] == spec_of(torn).string() + " is not a run's spec of format 1");
  CHECK(report.problems[1] == spec_of(wrong).string() + " belongs to another run, " + good.key);
  CHECK_THAT(report.problems[2], Catch::Contains(spec_of(gone).string() + ": No such file"));
  CHECK_THAT(report.problems[3], Catch::StartsWith(spec_of(senseless).string() + " is damaged: nodes, ranks per node"));
}

TEST_CASE("a record that the database does not accept is named with its line, and the other runs are taken in")
{
  auto [site, database] = Opened{};
  const auto bad = site.run_well(sample_spec(1), 100), twice = site.run_well(sample_spec(2), 100),
             good = site.run_well(sample_spec(4), 340);
  const AttemptFolder attempt(site.home.run(bad.key), 1);
  put_file(attempt.events(), step_lines(1, 2) + "step -9223372036854775808 0 0 1 0.1 0.1 0 0 0 0 0\n" + step_lines(3, 4));
  auto result = sample_result(twice.spec, 100);
  result.ranks.push_back(result.ranks.back());
  const AttemptFolder of_twice(site.home.run(twice.key), 1);
  put_file(of_twice.result(), to_json(result));
  const auto report = site.ingest(database, {bad, twice, good});
  REQUIRE(report.problems.size() == 2);
  CHECK_THAT(report.problems[0], Catch::StartsWith(attempt.events().string() + ":3 is damaged: "));
  CHECK_THAT(report.problems[1], Catch::StartsWith(of_twice.result().string() + " is damaged: "));
  CHECK(report.damaged == std::map<std::string, std::string>{{bad.key, report.problems[0]}, {twice.key, report.problems[1]}});
  CHECK(report.runs_added == 1);
  CHECK(ask_text(database, "SELECT key FROM runs WHERE state = 'succeeded'") == good.key);
  put_file(attempt.events(), step_lines(1, 4));
  CHECK(ask_text(database, "SELECT group_concat(state || ' ' || attempt) FROM runs WHERE cause LIKE '% is damaged: %'") ==
        "unknown 0,unknown 0");
  CHECK(database.check().empty());
  CHECK(site.ingest(database, {bad}).runs_updated == 1);
  CHECK(ask_text(database, "SELECT count(*) FROM runs WHERE state = 'succeeded'") == "2");
}

TEST_CASE("a damaged record is reported and the rest of its run is taken in")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  const AttemptFolder attempt(site.home.run(run.key), 1);
  put_file(attempt.begin(), "{}");
  const auto report = site.ingest(database, {run});
  REQUIRE(report.problems.size() == 1);
  CHECK_THAT(report.problems[0], Catch::StartsWith(attempt.begin().string() + " is damaged"));
  CHECK(report.runs_added == 1);
  CHECK(ask_text(database, "SELECT throughput FROM results") == "190.0");
}

TEST_CASE("lines of an event log that are not ours are left out")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(2));
  const auto attempt = site.begin(run, 1);
  append(attempt.events(), "step one two\n" + step_lines(1, 2) + "\x01\x02\n\nstep 3 nan nan nan nan nan 0 0 0 0 0\nnews 1\n");
  CHECK(site.ingest(database, {run}).step_rows == 3);
  CHECK(ask_text(database, "SELECT loss FROM steps WHERE step = 3") == "NULL");
}

TEST_CASE("an event log larger than one piece of reading is taken in whole")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(2));
  constexpr std::int64_t steps = 100000; // about 9 MB
  put_file(site.begin(run, 1).events(), step_lines(1, steps));
  CHECK(site.ingest(database, {run}).step_rows == steps);
  CHECK(ask_text(database, "SELECT count(*) || ' ' || sum(step) FROM steps") == "100000 5000050000");
  CHECK(ask_text(database, "SELECT events_bytes FROM attempts") == std::to_string(step_lines(1, steps).size()));
}

TEST_CASE("a study submitted again keeps one row with its newest time and names")
{
  auto [site, database] = Opened{};
  const auto a = site.plan(sample_spec(1)), b = site.plan(sample_spec(2));
  auto study = site.study({a, b}, "strong", 100);
  ingest_study(database, study);
  study.submitted_unix_s = 200;
  study.run_names[1] = "sample/renamed/#0";
  ingest_study(database, study);
  CHECK(ask_text(database, "SELECT count(*) || ' ' || submitted_unix_s FROM studies") == "1 200.0");
  CHECK(ask_text(database, "SELECT group_concat(name, ' ') FROM study_runs") == "sample/ranks=1/#0 sample/renamed/#0");
  CHECK(ask_text(database, "SELECT count(*) FROM runs") == "2");
}

TEST_CASE("a label is the study's, not that of the study that planned the run first")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  auto study = site.study({run}, "sweep", 100, "lr");
  study.run_names = {"lr/optimizer.learning_rate=0.01 ranks=2/#0"};
  ingest_study(database, study);
  site.ingest(database, {run});
  CHECK(runs_of_study(database, study.id).at(0).label == "optimizer.learning_rate=0.01 ranks=2");
  CHECK(scaling_of_study(database, study.id).at(0).label == "optimizer.learning_rate=0.01");
}
