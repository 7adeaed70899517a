// What a cluster's runs leave behind beside a result: restarts, launches, checkpoints, fences, probes, controls.
#include "store/ingest/rows.hpp"
#include "store/query/doubts.hpp"
#include "tests/store/fixture.hpp"

#include <cmath>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

ProbeRecord sample_probe()
{
  ProbeRecord probe;
  probe.unix_s = 1700000002;
  probe.allreduce_s = 0.002;
  probe.allreduce_bytes = 4194304;
  probe.ranks = {{0, "node1", 2400, 55.5}, {1, "node2", not_measured, 44.25}};
  return probe;
}

NodeLoad machine(const std::string& host, double others_share = 0, double throttled_share = 0)
{
  NodeLoad load{.host = host, .cores = 4, .own_cores = 2, .seconds = 9, .load_begin = 1, .load_end = 2};
  load.others_share = others_share, load.throttled_share = throttled_share;
  load.steal_share = 0, load.quota_cores = 0.5;
  return load;
}

} // namespace

TEST_CASE("a preempted attempt keeps its step, its signal and its checkpoint, and the next its restart")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec());
  const auto first = site.begin(run, 1);
  put_file(first.preempted(), to_json(Preemption{1700000050, 7, 20, "step-7.safetensors", "SIGUSR1"}));
  put_file(first.launches(), "launch 1 1700000002 1\nlaunch 2 1700000050 0\nlaunch 3 17000");
  REQUIRE(fence(first, 2));
  const auto second = site.begin(run, 2);
  auto submission = *read_submission(second);
  submission.restart = 1;
  put_file(second.submission(), to_json(submission));
  auto result = sample_result(run.spec, 100);
  result.resumed_step = 7;
  REQUIRE(commit_result(second, result));
  CHECK(site.ingest(database, {run}).problems.empty());

  CHECK(ask_text(database, "SELECT preempted_step || ' ' || preempted_signal || ' ' || checkpoint || ' ' || fenced_by || ' ' || "
                           "launches || ' ' || restart FROM attempts WHERE attempt = 1") == "7 SIGUSR1 step-7.safetensors 2 2 0");
  CHECK(ask_text(database, "SELECT restart || ' ' || launches || iif(fenced_by IS NULL, ' not fenced', '') FROM attempts WHERE "
                           "attempt = 2") == "1 0 not fenced");
  CHECK(ask_text(database, "SELECT state || ' ' || resumed_step || ' ' || restarts FROM runs_flat") == "succeeded 7 1");
}

TEST_CASE("a fence is no damaged result, and no result either")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec());
  REQUIRE(fence(site.begin(run, 1), 2));
  CHECK(site.ingest(database, {run}).problems.empty());
  CHECK(ask_text(database, "SELECT count(*) FROM results") == "0");
}

TEST_CASE("the probe of every attempt is kept, a rank a row, what was not measured is NULL, and one that comes after the first "
          "look is taken in")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec());
  const auto first = site.begin(run, 1), second = site.begin(run, 2);
  site.ingest(database, {run});
  for (const auto& attempt : {first, second}) put_file(attempt.probe(), to_json(sample_probe()));
  CHECK(site.ingest(database, {run}).runs_updated == 1);
  CHECK(ask_text(database, "SELECT count(*) FROM probes") == "4");
  CHECK(ask_text(database, "SELECT host || ' ' || gemm_gflops || ' ' || allreduce_s || ' ' || allreduce_bytes || "
                           "iif(clock_mhz IS NULL, ' no clock', '') FROM probes WHERE attempt = 2 AND rank = 1") ==
        "node2 44.25 0.002 4194304 no clock");
}

TEST_CASE("controls of a study are marked, and are no part of its scaling")
{
  auto [site, database] = Opened{};
  const std::vector<PlannedRun> runs{site.run_well(sample_spec(1), 100), site.run_well(sample_spec(2), 180),
                                     site.run_well(sample_spec(1, 1), 50)};
  auto study = site.study(runs);
  study.control_keys = {runs[2].key};
  ingest_study(database, study);
  site.ingest(database, runs);
  CHECK(ask_text(database, "SELECT group_concat(control, ' ') FROM (SELECT control FROM runs_flat ORDER BY position)") ==
        "0 0 1");
  CHECK(ask_text(database, "SELECT runs || ' ' || throughput FROM scaling WHERE ranks = 1") == "1 100.0");
  const auto rows = scaling_of_study(database, study.id);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].runs == 1);
  CHECK(rows[0].throughput == Approx(100));
}

TEST_CASE("the drift of a study is its controls' in the order in which they ran, with its repeats as the yardstick")
{
  auto [site, database] = Opened{};
  const auto early = site.run_well(sample_spec(1, 8), 100), late = site.run_well(sample_spec(1, 9), 80);
  auto begin = *read_begin(AttemptFolder(site.home.run(late.key), 1));
  begin.unix_s += 3600;
  put_file(AttemptFolder(site.home.run(late.key), 1).begin(), to_json(begin));
  const std::vector<PlannedRun> runs{late, site.run_well(sample_spec(1, 0), 99), site.run_well(sample_spec(1, 1), 101), early};
  auto study = site.study(runs);
  study.control_keys = {early.key, late.key};
  ingest_study(database, study);
  site.ingest(database, runs);
  const auto drift = doubts_of(database, study.id, study.run_keys).drift;
  REQUIRE(drift);
  CHECK(drift->first == 100);
  CHECK(drift->change == Approx(-0.2));
  CHECK(drift->noise == Approx(0.01 * std::sqrt(2.0)));
  CHECK(drift->beyond_noise);
}

TEST_CASE("a control that was tried again in another allocation tells nothing of the first one's drift")
{
  auto [site, database] = Opened{};
  const std::vector<PlannedRun> runs{site.run_well(sample_spec(1, 7), 100), site.run_well(sample_spec(1, 8), 99),
                                     site.run_well(sample_spec(1, 9), 50)};
  const AttemptFolder elsewhere(site.home.run(runs[2].key), 1);
  auto submission = *read_submission(elsewhere);
  submission.job_id = "18";
  put_file(elsewhere.submission(), to_json(submission));
  auto study = site.study(runs);
  study.control_keys = study.run_keys;
  ingest_study(database, study);
  site.ingest(database, runs);
  const auto drift = doubts_of(database, study.id, study.run_keys).drift;
  REQUIRE(drift);
  CHECK(drift->controls == 2);
  CHECK(drift->spread == Approx(1 / 99.5));
}

TEST_CASE("one control that succeeded tells no drift")
{
  auto [site, database] = Opened{};
  const std::vector<PlannedRun> runs{site.run_well(sample_spec(1), 100), site.plan(sample_spec(1, 1))};
  auto study = site.study(runs);
  study.control_keys = study.run_keys;
  ingest_study(database, study);
  site.ingest(database, runs);
  CHECK_FALSE(doubts_of(database, study.id, study.run_keys).drift);
}

TEST_CASE("a slow node of a study is found in its current probes, earlier attempts' are not looked at")
{
  // Two hosts whose load is that of one machine are emulated on it.
  const bool is_emulated = GENERATE(false, true);
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (std::int64_t repeat = 0; repeat < 3; ++repeat) {
    auto spec = sample_spec(1, repeat);
    spec.resources.nodes = 2;
    runs.push_back(site.run_well(spec, 100));
    auto probe = sample_probe();
    probe.ranks[0].gemm_gflops = probe.ranks[1].gemm_gflops = 50;
    put_file(AttemptFolder(site.home.run(runs.back().key), 1).probe(), to_json(probe));
  }
  auto slow = sample_probe();
  slow.ranks[1].gemm_gflops = 10;
  put_file(site.begin(runs[0], 2).probe(), to_json(sample_probe()));
  put_file(AttemptFolder(site.home.run(runs[0].key), 1).probe(), to_json(slow)); // of the first attempt, which was tried again
  slow.ranks = {{0, "node1", 2400, 50}, {1, "node3", 2400, 30}};
  slow.allreduce_s = 0.005;
  put_file(AttemptFolder(site.home.run(runs[1].key), 1).probe(), to_json(slow));
  if (is_emulated)
    put_file(load_path(AttemptFolder(site.home.run(runs[1].key), 1)),
             to_json(LoadRecord{.unix_s = 1700000100, .nodes = {machine("node1")}}));
  const auto study = site.take_in(database, runs);
  const auto outliers = doubts_of(database, study.id, study.run_keys).outliers;
  REQUIRE(outliers.size() == 2);
  CHECK(outliers[0].host == "node3");
  CHECK(outliers[0].slower_by == Approx(0.4));
  CHECK(outliers[0].ranks == 1);
  CHECK(outliers[1].runs == std::vector{runs[1].key});
  CHECK(outliers[1].slower_by == Approx(1.5));
  for (const auto& outlier : outliers) CHECK(outlier.is_on_one_machine == is_emulated);
  CHECK(doubts_of(database, study.id, {runs[0].key, runs[2].key}).outliers.empty()); // which were not slow
}

TEST_CASE("machines that others used are found in the loads of current attempts, for the runs that were asked about")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (std::int64_t repeat = 0; repeat < 3; ++repeat) {
    runs.push_back(site.run_well(sample_spec(1, repeat), 100));
    const LoadRecord load{.unix_s = 1700000100, .nodes = {machine("vm", repeat == 1 ? 0.5 : 0, repeat == 2 ? 0.4 : 0)}};
    put_file(load_path(AttemptFolder(site.home.run(runs.back().key), 1)), to_json(load));
  }
  const auto study = site.study(runs);
  ingest_study(database, study);
  CHECK(site.ingest(database, runs).problems.empty());
  const auto doubts = doubts_of(database, study.id, study.run_keys);
  CHECK(doubts.measured_runs == 3);
  REQUIRE(doubts.busy.size() == 1);
  CHECK(doubts.busy[0].run == runs[1].key);
  CHECK(doubts.busy[0].others_share == 0.5);
  CHECK(doubts_of(database, study.id, {runs[0].key}).busy.empty());
  CHECK(doubts_of(database, "", {runs[1].key}).busy.size() == 1); // without a study
  REQUIRE(doubts.throttled.size() == 1);
  CHECK(doubts.throttled[0].run == runs[2].key);
  CHECK(doubts.throttled[0].share == 0.4);
  CHECK(doubts.throttled[0].quota_cores == 0.5);
  CHECK(ask_text(database, "SELECT host || ' ' || cores || ' ' || own_cores || ' ' || others_share || "
                           "iif(elsewhere_share IS NULL, ' no other cores', '') FROM machine_loads WHERE others_share > 0") ==
        "vm 4 2 0.5 no other cores");
  for (const auto& section : describe_run(database, runs[1].key))
    if (section.title == "machine load") CHECK(section.table.rows.size() == 1);
}
