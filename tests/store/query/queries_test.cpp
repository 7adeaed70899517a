#include "store/database/sqlite.hpp"
#include "tests/store/fixture.hpp"

#include "core/record/fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

bool same(const Cell& cell, double value)
{
  if (std::isnan(value)) return std::holds_alternative<std::monostate>(cell);
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr && *real == Approx(value);
}

bool same(const Cell& cell, std::int64_t value) { return cell == Cell(value); }

// A row of the view against one of scaling_of_study, in the order of `view_columns`.
constexpr const char* view_columns =
    "label, nodes, ranks, workers, size, runs, succeeded, baseline_size, reached, target_runs, throughput, throughput_median, "
    "throughput_min, throughput_max, speedup, efficiency, efficiency_low, efficiency_high, efficiency_per_process, "
    "communication_share, accuracy, time_to_accuracy_s";

void check_row(const std::vector<Cell>& cells, const ScalingRow& row)
{
  CHECK(cells[0] == Cell(row.label));
  std::size_t at = 1;
  for (const auto count : {row.nodes, row.ranks, row.workers, row.size, row.runs, row.succeeded}) CHECK(same(cells[at++], count));
  CHECK(cells[at++] == (row.baseline_size == 0 ? Cell() : Cell(row.baseline_size)));
  for (const auto count : {row.reached, row.target_runs}) CHECK(same(cells[at++], count));
  for (const double value : {row.throughput, row.throughput_median, row.throughput_min, row.throughput_max, row.speedup,
                             row.efficiency, row.efficiency_low, row.efficiency_high, row.efficiency_per_process,
                             row.communication_share, row.accuracy, row.time_to_accuracy_s}) {
    CAPTURE(at);
    CHECK(same(cells[at++], value));
  }
}

// The view scaling holds the rows of scaling_of_study, in the same order.
void check_view(Database& database, const std::string& study_id, std::size_t points)
{
  const auto rows = scaling_of_study(database, study_id);
  const auto view = ask(database, "SELECT " + std::string(view_columns) + " FROM scaling WHERE study_key = '" + study_id + "'");
  REQUIRE(rows.size() == points);
  REQUIRE(view.rows.size() == points);
  for (std::size_t i = 0; i < points; ++i) {
    CAPTURE(i);
    check_row(view.rows[i], rows[i]);
  }
}

// Strong scaling over 1, 2 and 4 ranks, three repeats each; throughput 100, 190 and 340 samples/s with repeats apart by 1%.
struct StrongStudy : Site {
  StrongStudy()
  {
    const std::map<std::int64_t, double> throughput{{1, 100}, {2, 190}, {4, 340}};
    for (const auto& [ranks, samples_per_s] : throughput)
      for (std::int64_t repeat = 0; repeat < 3; ++repeat)
        runs.push_back(run_well(sample_spec(ranks, repeat), samples_per_s * (0.99 + 0.01 * static_cast<double>(repeat))));
    record = take_in(database, runs);
  }
  std::vector<PlannedRun> runs;
  StudyRecord record;
  Database database = open();
};

} // namespace

TEST_CASE("a study's runs come in its order with names, states and measurements")
{
  StrongStudy s;
  const auto rows = runs_of_study(s.database, s.record.id);
  REQUIRE(rows.size() == 9);
  CHECK(rows[3].key == s.runs[3].key);
  CHECK(rows[3].study == s.record.id);
  CHECK(rows[3].name == "sample/ranks=2/#0");
  CHECK(rows[3].label == "ranks=2");
  CHECK(rows[5].repeat == 2);
  CHECK(rows[8].position == 8);
  CHECK(rows[3].state == RunState::succeeded);
  CHECK(rows[3].model == "lenet");
  CHECK(rows[3].data == "digits");
  CHECK(rows[3].strategy == "sync-sgd");
  CHECK(rows[3].allreduce == "mpi");
  CHECK(rows[3].nodes == 1);
  CHECK(rows[3].ranks == 2);
  CHECK(rows[3].threads == 1);
  CHECK(rows[3].global_batch == 64);
  CHECK(rows[3].attempt == 1);
  CHECK(rows[4].figure("throughput") == Approx(190));
  CHECK(rows[3].figure("communication_share") == Approx(0.1));
  CHECK(rows[3].figure("accuracy") == Approx(0.9));
  CHECK(rows[3].figure("best_accuracy") == Approx(0.95));
  CHECK(rows[3].figure("wall_s") == Approx(2));
  CHECK(rows[3].figure("final_loss") == Approx(0.25));
  CHECK(rows[3].figure("step_p50_s") == Approx(0.11)); // of the slower of two ranks
  CHECK(std::isnan(rows[3].figure("time_to_accuracy_s")));
}

TEST_CASE("a run's row has every figure of its result that is a number, by the name in the table of figures")
{
  StrongStudy s;
  const auto by_study = runs_of_study(s.database, s.record.id).at(3);
  const auto by_key = find_runs(s.database, by_study.key).at(0);
  for (const auto& field : result_fields()) {
    const auto value = value_of(field, RunResult{});
    const bool is_number = std::holds_alternative<double>(value) || std::holds_alternative<Reported>(value) ||
                           std::holds_alternative<std::int64_t>(value);
    if (!is_number) continue;
    INFO(field.name);
    const auto column = "SELECT coalesce(" + field.column() + ", 'NULL') FROM runs_flat WHERE key = '" + by_study.key + "'";
    for (const auto figure : {by_study.figure(field.name), by_key.figure(field.name)})
      if (std::isnan(figure))
        CHECK(ask_text(s.database, column) == "NULL");
      else
        CHECK(std::stod(ask_text(s.database, column)) == Approx(figure));
  }
  CHECK_THROWS_WITH(by_study.figure("throughputs"), "a result has no figure throughputs");
}

TEST_CASE("efficiency is relative to the smallest size, with an interval from the repeats")
{
  StrongStudy s;
  const auto rows = scaling_of_study(s.database, s.record.id);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].label.empty());
  CHECK(rows[0].ranks == 1);
  CHECK(rows[0].efficiency == Approx(1));
  CHECK(std::isnan(rows[0].efficiency_low)); // its own reference
  CHECK(rows[0].baseline_size == 1);
  CHECK(rows[1].throughput == Approx(190).epsilon(1e-4)); // the geometric mean
  CHECK(rows[1].throughput_median == Approx(190));
  CHECK(rows[1].throughput_min == Approx(190 * 0.99));
  CHECK(rows[1].throughput_max == Approx(190 * 1.01));
  CHECK(rows[1].speedup == Approx(1.9));
  CHECK(rows[2].speedup == Approx(3.4));
  CHECK(rows[2].efficiency == Approx(0.85));
  CHECK(rows[2].efficiency_low < 0.85);
  CHECK(rows[2].efficiency_high > 0.85);
  // Standard error of a mean of three logarithms: 0.01 / sqrt(3); of a difference: sqrt(2) times that; t(0.975, 4) = 2.776.
  CHECK(rows[2].efficiency_low == Approx(0.85 * std::exp(-2.776 * 0.01 * std::sqrt(2.0 / 3))).epsilon(1e-4));
  CHECK(rows[2].efficiency_high == Approx(0.85 * std::exp(2.776 * 0.01 * std::sqrt(2.0 / 3))).epsilon(1e-4));
  CHECK(rows[2].runs == 3);
  CHECK(rows[2].succeeded == 3);
  CHECK(rows[2].accuracy == Approx(0.9));
  CHECK(rows[2].target_runs == 0);
  check_view(s.database, s.record.id, 3);
}

TEST_CASE("the efficiency of a ladder on Slurm is paired within its repeats")
{
  auto [site, database] = Opened{};
  const auto interval_with = [&](const std::string& token, std::int64_t seed) {
    std::vector<PlannedRun> runs;
    for (const std::int64_t ranks : {1, 4})
      for (std::int64_t repeat = 0; repeat < 4; ++repeat) {
        auto spec = sample_spec(ranks, repeat);
        spec.train.seed = seed;
        const auto run = site.plan(spec);
        const auto attempt = site.begin(run, 1);
        put_file(attempt.submission(), to_json(Submission{1, token, "slurm", "", 1700000000, "17"}));
        // Each repeat is slower than the one before; four ranks always reach 80 %, but for a little scatter.
        const double drift = std::exp(-0.3 * static_cast<double>(repeat)), scatter = ranks == 4 && repeat % 2 == 0 ? 1.001 : 1;
        site.succeed(run, attempt, 100 * drift * scatter * (ranks == 1 ? 1 : 3.2));
        runs.push_back(run);
      }
    const auto study = site.take_in(database, runs, "with " + token);
    const auto row = scaling_of_study(database, study.id).at(1);
    CHECK(row.efficiency == Approx(0.8).epsilon(0.01));
    return row.efficiency_high - row.efficiency_low;
  };
  CHECK(interval_with("l0123456789abcdef.0", 1) < 0.01);
  CHECK(interval_with("a0123456789abcdef.0", 2) > 0.2);
}

TEST_CASE("points that a killed ingest did not write are written by the next")
{
  StrongStudy s;
  // The state in the database when an ingest was killed after it had stored a run and before it stored the points: the study is
  // marked, and its points lack the run.
  s.database.impl().connection.execute("UPDATE points SET runs = 1, throughput = 7; UPDATE studies SET points_current = 0");
  s.ingest(s.database, {});
  check_view(s.database, s.record.id, 3);
  CHECK(ask_text(s.database, "SELECT points_current FROM studies") == "1");
}

TEST_CASE("a run that changes its state changes the points of every study that has it")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(1)), other = site.run_well(sample_spec(2), 200);
  const auto first = site.study({run, other}), second = site.study({other, run}, "second");
  for (const auto& study : {first, second}) ingest_study(database, study);
  site.ingest(database, {run, other});
  for (const auto& study : {first, second}) check_view(database, study.id, 2);
  site.succeed(run, site.begin(run, 1), 100);
  site.ingest(database, {run});
  for (const auto& study : {first, second}) check_view(database, study.id, 2);
  CHECK(ask_text(database, "SELECT group_concat(succeeded, ' ') FROM scaling") == "1 1 1 1");
}

TEST_CASE("a failed run has no part in its point's medians, and a failed smallest size is not the base")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs{site.plan(sample_spec(1))};
  site.fail(site.begin(runs[0], 1));
  runs.push_back(site.run_well(sample_spec(2, 0), 200));
  runs.push_back(site.plan(sample_spec(2, 1)));
  site.fail(site.begin(runs[2], 1));
  runs.push_back(site.run_well(sample_spec(4), 300));
  const auto study = site.take_in(database, runs);
  const auto rows = scaling_of_study(database, study.id);
  REQUIRE(rows.size() == 3);
  CHECK(std::isnan(rows[0].efficiency));
  CHECK(rows[1].runs == 2);
  CHECK(rows[1].succeeded == 1);
  CHECK(rows[1].throughput == Approx(200));
  CHECK(std::isnan(rows[1].speedup)); // it was compared with nothing: rank 1, the study's smallest size, has no result
  CHECK(std::isnan(rows[1].efficiency));
  CHECK(rows[1].baseline_size == 0);
  CHECK(rows[2].efficiency == Approx(0.75));
  CHECK(rows[2].baseline_size == 2);
  CHECK(std::isnan(rows[2].efficiency_low));
  check_view(database, study.id, 3);
}

TEST_CASE("a study over nodes counts nodes, and each label has its own base")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (const std::int64_t nodes : {2, 4})
    for (const auto* strategy : {"sync-sgd", "hsgd"}) {
      auto spec = sample_spec(4);
      spec.resources.nodes = nodes;
      spec.sync.strategy = strategy;
      spec.label = "sync.strategy=" + std::string(strategy) + " nodes=" + std::to_string(nodes);
      const double base = spec.sync.strategy == "hsgd" ? 500 : 400;
      runs.push_back(site.run_well(spec, nodes == 2 ? base : base * 1.6));
    }
  const auto study = site.take_in(database, runs, "weak");
  const auto rows = scaling_of_study(database, study.id);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].label == "sync.strategy=hsgd");
  CHECK(rows[0].nodes == 2);
  CHECK(rows[0].ranks == 8);
  CHECK(rows[0].speedup == 1); // of 2 nodes, the smallest size
  CHECK(rows[1].speedup == Approx(1.6));
  CHECK(rows[1].efficiency == Approx(0.8));
  CHECK(rows[3].label == "sync.strategy=sync-sgd");
  CHECK(rows[3].efficiency == Approx(0.8));
  check_view(database, study.id, 4);
}

namespace {

// A study of 1, 2 and 4 workers with perfect scaling, beside one parameter server each.
RunSpec served_spec(std::int64_t workers, std::int64_t repeat = 0)
{
  auto spec = sample_spec(workers + 1, repeat);
  spec.sync.strategy = "async-easgd";
  spec.sync.servers = 1;
  return spec;
}

} // namespace

TEST_CASE("parameter servers are no part of a size: perfect scaling of the workers is 100 %")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (const std::int64_t workers : {1, 2, 4})
    runs.push_back(site.run_well(served_spec(workers), 100 * static_cast<double>(workers)));
  const auto study = site.take_in(database, runs);
  const auto rows = scaling_of_study(database, study.id);
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) {
    CHECK(row.ranks == row.workers + 1);
    CHECK(row.size == row.workers);
    CHECK(row.efficiency == Approx(1));
    CHECK(row.speedup == Approx(row.workers));
    CHECK(row.baseline_size == 1);
  }
  check_view(database, study.id, 3);
  CHECK(runs_of_study(database, study.id).at(2).workers == 4);
  CHECK(runs_where(database, "workers>=2", 10).size() == 2);
}

TEST_CASE("nodes are no size where servers make the workers a node differ")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (const std::int64_t nodes : {1, 2}) { // 1 and 3 workers
    auto spec = served_spec(1);
    spec.resources.nodes = nodes;
    spec.label = "nodes=" + std::to_string(nodes);
    runs.push_back(site.run_well(spec, nodes == 1 ? 100 : 300));
  }
  const auto study = site.take_in(database, runs);
  CHECK(scaling_of_study(database, study.id).at(1).efficiency == Approx(1));
  check_view(database, study.id, 2);
}

TEST_CASE("labels with numbers come in numerical order, sizes too")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (const std::int64_t period : {1, 16, 2, 4, 8})
    for (const std::int64_t ranks : {1, 16, 2}) {
      auto spec = sample_spec(ranks);
      spec.sync.strategy = "local-sgd";
      spec.sync.period = period;
      spec.label = "sync.period=" + std::to_string(period) + " ranks=" + std::to_string(ranks);
      runs.push_back(site.run_well(spec, 100 * static_cast<double>(ranks)));
    }
  const auto study = site.take_in(database, runs);
  std::string order;
  for (const auto& row : scaling_of_study(database, study.id))
    order += row.label.substr(row.label.find('=') + 1) + "x" + std::to_string(row.ranks) + " ";
  CHECK(order == "1x1 1x2 1x16 2x1 2x2 2x16 4x1 4x2 4x16 8x1 8x2 8x16 16x1 16x2 16x16 ");
  check_view(database, study.id, 15);
  CHECK(ask_text(database, "SELECT group_concat(substr(series, 13), ' ') FROM (SELECT DISTINCT series FROM runs_flat ORDER BY "
                           "natural_key(series))") == "1 2 4 8 16");
}

namespace {

// A study of one point whose runs took so long to their target; NaN: it was missed.
struct TargetStudy : Site {
  explicit TargetStudy(const std::vector<double>& times)
  {
    for (std::size_t i = 0; i < times.size(); ++i) {
      auto spec = sample_spec(2, static_cast<std::int64_t>(i));
      spec.train.target_accuracy = 0.9;
      runs.push_back(plan(spec));
      auto result = sample_result(spec, 100);
      result.time_to_accuracy_s = times[i];
      const auto attempt = begin(runs.back(), 1);
      put_file(attempt.result(), to_json(result));
    }
    const auto record = take_in(database, runs);
    check_view(database, record.id, 1);
    row = scaling_of_study(database, record.id).at(0);
  }
  std::vector<PlannedRun> runs;
  Database database = open();
  ScalingRow row;
};

} // namespace

TEST_CASE("a run that missed its target counts as infinite in the time to it, and without a miss that time is a geometric mean")
{
  const auto missed = std::nan("");
  const TargetStudy one_of_three({3.5, missed, missed}), two_of_three({missed, 3.5, 2.5});
  CHECK(one_of_three.row.reached == 1);
  CHECK(one_of_three.row.target_runs == 3);
  CHECK(std::isnan(one_of_three.row.time_to_accuracy_s));
  CHECK(two_of_three.row.reached == 2);
  CHECK(two_of_three.row.time_to_accuracy_s == Approx(3.5));
  CHECK(std::isnan(TargetStudy({1, missed, 2, missed}).row.time_to_accuracy_s)); // the mean of the two middle ones
  CHECK(TargetStudy({1, 4, 2, missed}).row.time_to_accuracy_s == Approx(3));
  CHECK(TargetStudy({1, 9, 8}).row.time_to_accuracy_s == Approx(std::cbrt(72)));
}

TEST_CASE("studies are listed newest submission first with their runs counted")
{
  auto [site, database] = Opened{};
  const auto good = site.run_well(sample_spec(1), 100);
  const auto bad = site.plan(sample_spec(2));
  site.fail(site.begin(bad, 1));
  const auto open_run = site.plan(sample_spec(4));
  ingest_study(database, site.study({good, bad, open_run}, "strong", 100, "old"));
  ingest_study(database, site.study({good}, "single", 200, "new"));
  site.ingest(database, {good, bad, open_run});
  const auto studies = list_studies(database, 10);
  REQUIRE(studies.size() == 2);
  CHECK(studies[0].name == "new");
  CHECK(studies[1].name == "old");
  CHECK(studies[1].kind == "strong");
  CHECK(studies[1].runs == 3);
  CHECK(studies[1].succeeded == 1);
  CHECK(studies[1].failed == 1);
  CHECK(studies[1].created_unix_s == 1600000000);
  CHECK(list_studies(database, 1).size() == 1);
}

TEST_CASE("a study is found by name, by id prefix and as last")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(1)), other = site.plan(sample_spec(2));
  const auto first = site.study({run}, "single", 100, "quick"), again = site.study({other}, "single", 300, "quick"),
             last = site.study({run, other}, "strong", 400, "slow");
  for (const auto& study : {first, again, last}) ingest_study(database, study);
  const auto named = find_studies(database, "quick");
  REQUIRE(named.size() == 2);
  CHECK(named[0].id == again.id);
  CHECK(named[1].id == first.id);
  CHECK(find_studies(database, "last").at(0).id == last.id);
  CHECK(find_studies(database, first.id.substr(0, 12)).at(0).id == first.id);
  CHECK(find_studies(database, "nothing").empty());
  CHECK(find_studies(database, "").empty());
}

TEST_CASE("a study shows its runs before their folders were read, and a run that no study has is found all the same")
{
  auto [site, database] = Opened{};
  const auto run = site.plan(sample_spec(2)), alone = site.run_well(sample_spec(1, 3), 100);
  const auto study = site.study({run});
  ingest_study(database, study);
  site.ingest(database, {alone});
  const auto rows = runs_of_study(database, study.id);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].key == run.key);
  CHECK(rows[0].state == RunState::planned);
  CHECK(rows[0].name == "sample/ranks=2/#0");
  const auto found = find_runs(database, alone.key);
  REQUIRE(found.size() == 1);
  CHECK(found[0].study.empty());
  CHECK(found[0].name == "sample/ranks=1/#4");
  CHECK(runs_where(database, "ranks=1", 10).size() == 1);
}

TEST_CASE("a run is found by key prefix and by name, in its newest study only")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(1), 100), other = site.run_well(sample_spec(2), 190);
  const auto newer = site.study({other, run}, "strong", 500, "newer"), older = site.study({run, other}, "strong", 100, "older");
  ingest_study(database, newer);
  ingest_study(database, older);
  site.ingest(database, {run, other});
  const auto found = find_runs(database, run.key.substr(0, 8));
  REQUIRE(found.size() == 1);
  CHECK(found[0].study == newer.id);
  CHECK(found[0].position == 1);
  CHECK(find_runs(database, "newer/ranks=2/#0").at(0).key == other.key);
  CHECK(find_runs(database, "zz").empty());
  CHECK(find_runs(database, "").empty());
}

TEST_CASE("runs are selected by conditions on any column, and a value stays a value, whatever it holds")
{
  StrongStudy s;
  CHECK(runs_where(s.database, "strategy=sync-sgd ranks>=2", 100).size() == 6);
  CHECK(runs_where(s.database, "ranks!=1 throughput<200", 100).size() == 3);
  CHECK(runs_where(s.database, "sync.strategy ~ SGD", 100).size() == 9);
  CHECK(runs_where(s.database, "state=failed", 100).empty());
  CHECK(runs_where(s.database, "cause='' repeat = 1", 100).size() == 3);
  CHECK(runs_where(s.database, "study=sample data.shuffle=true", 100).size() == 9);
  CHECK(runs_where(s.database, "time_to_accuracy_s=''", 100).size() == 9);
  CHECK(runs_where(s.database, "ranks>0", 4).size() == 4);
  CHECK(runs_where(s.database, "name='sample/ranks=2/#1'", 100).at(0).key == s.runs[4].key);
  CHECK(runs_where(s.database, "name=\"x' OR 1=1 --\"", 100).empty());
  CHECK(ask_text(s.database, "SELECT count(*) FROM runs") == "9");
}

TEST_CASE("a reused run counts once among selected runs")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(1), 100);
  ingest_study(database, site.study({run}, "single", 100, "one"));
  site.take_in(database, {run}, "single", 200, "two");
  const auto found = runs_where(database, "model=lenet", 10);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "two/ranks=1/#0");
  CHECK(ask_text(database, "SELECT count(*) FROM runs_flat") == "2");
  CHECK(ask_text(database, "SELECT count(*) FROM runs_flat WHERE newest") == "1");
}

TEST_CASE("show has a section for everything kept about a run")
{
  auto [site, database] = Opened{};
  auto spec = sample_spec(2);
  spec.optimizer.linear_scaling = true;
  spec.resources.env = {{"A", "1"}};
  const auto run = site.plan(spec);
  site.fail(site.begin(run, 1));
  site.succeed(run, site.begin(run, 2), 190);
  site.take_in(database, {run});
  const auto sections = describe_run(database, run.key);
  std::vector<std::string> titles;
  for (const auto& section : sections) titles.push_back(section.title);
  CHECK(titles == std::vector<std::string>{"run", "parameters", "studies", "attempts", "result", "evaluations", "phases by rank",
                                           "ranks", "probe", "machine load", "environment"});
  const auto& parameters = sections[1].table;
  CHECK(parameters.columns == std::vector<std::string>{"parameter", "value", "default", "unit"});
  const auto has = [](const Table& table, std::vector<Cell> row) {
    return std::find(table.rows.begin(), table.rows.end(), row) != table.rows.end();
  };
  CHECK(has(parameters, {"optimizer.linear_scaling", "true", "false", ""}));
  CHECK(has(parameters, {"train.global_batch", std::int64_t{64}, std::int64_t{0}, "samples"}));
  CHECK(has(parameters, {"resources.env", "{\"A\":\"1\"}", "{}", ""}));
  CHECK(
      std::none_of(parameters.rows.begin(), parameters.rows.end(), [](const auto& row) { return row[0] == Cell("train.seed"); }));
  const auto& attempts = sections[3].table;
  REQUIRE(attempts.rows.size() == 2);
  CHECK(attempts.rows[0][17] == Cell("out of memory"));
  CHECK(attempts.rows[0][18] == Cell(std::int64_t{7}));
  CHECK(attempts.rows[1][18] == Cell(std::int64_t{20}));
  CHECK(has(sections[4].table, {"throughput", 190.0}));
  CHECK(sections[5].table.rows.size() == 2);
  CHECK(sections[6].table.rows.size() == 14);
  CHECK(sections[6].table.rows[1][1] == Cell("forward"));
  CHECK(sections[7].table.rows.size() == 2);
  CHECK(has(sections[10].table, {"cpu_model", "EPYC"}));
  CHECK(error_of([&] { describe_run(database, "abc"); }) ==
        "usage: the results database has no run abc. List them with: dtctl status --all");
}

TEST_CASE("finding a study's runs, a study and a run walks through no table")
{
  StrongStudy s;
  auto* handle = s.database.impl().connection.handle();
  // Rows that statements stepped over without an index, as SQLite counts them for each statement that ends.
  int walked = 0;
  const auto count = [](unsigned, void* sum, void* statement, void*) {
    *static_cast<int*>(sum) += sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_FULLSCAN_STEP, 1);
    return 0;
  };
  sqlite3_trace_v2(handle, SQLITE_TRACE_PROFILE, count, &walked);
  const auto rows_walked = [&](const auto& act) {
    walked = 0;
    act();
    return walked;
  };
  const auto asking = [&](const std::string& sql) { return rows_walked([&] { ask(s.database, sql); }); };
  const auto id = s.record.id, key = s.runs[0].key;
  CHECK(rows_walked([&] { CHECK(runs_of_study(s.database, id).size() == 9); }) == 0);
  CHECK(rows_walked([&] { CHECK(scaling_of_study(s.database, id).size() == 3); }) == 0);
  CHECK(rows_walked([&] { CHECK(find_runs(s.database, key.substr(0, 9)).size() == 1); }) == 0);
  CHECK(rows_walked([&] { CHECK(find_runs(s.database, "sample/ranks=2/#1").size() == 1); }) == 0);
  CHECK(rows_walked([&] { CHECK(find_studies(s.database, id.substr(0, 9)).size() == 1); }) == 0);
  CHECK(rows_walked([&] { CHECK(find_studies(s.database, "sample").size() == 1); }) == 0);
  CHECK(rows_walked([&] { CHECK(describe_run(s.database, key).size() == 11); }) == 0);
  CHECK(asking("SELECT * FROM runs_flat WHERE study = 'sample'") == 0);
  CHECK(asking("SELECT * FROM phases_flat WHERE key = '" + key + "'") == 0);
  CHECK(asking("SELECT * FROM scaling WHERE study = 'sample'") == 0);
  CHECK(asking("SELECT count(key) FROM runs_flat") > 0); // the count counts
}

TEST_CASE("a run that diverged succeeded, keeps its throughput, and is in no statistic of accuracy and time to target")
{
  Site site;
  std::vector<PlannedRun> runs;
  for (std::int64_t repeat = 0; repeat < 3; ++repeat) {
    auto spec = sample_spec(2, repeat);
    spec.train.target_accuracy = 0.8;
    const auto planned = site.plan(spec);
    const auto attempt = site.begin(planned, 1);
    auto result = sample_result(spec, 100);
    result.time_to_accuracy_s = 1;
    if (repeat == 2) {
      result.accuracy = 0.1;
      result.time_to_accuracy_s = 0.25;
      result.final_loss = std::nan("");
      result.eval_loss = -std::numeric_limits<double>::infinity();
      result.diverged_step = 16;
      result.divergence = "the loss is NaN from step 16 on";
    }
    put_result(attempt, result);
    runs.push_back(planned);
  }
  auto database = site.open();
  const auto record = site.take_in(database, runs);

  const auto points = scaling_of_study(database, record.id);
  REQUIRE(points.size() == 1);
  CHECK(points[0].succeeded == 3);
  CHECK(points[0].diverged == 1);
  CHECK(points[0].throughputs.size() == 3);
  CHECK(points[0].accuracy == Approx(0.9));
  CHECK(points[0].time_to_accuracy_s == 1);
  CHECK(points[0].reached == 2);
  CHECK(points[0].target_runs == 2);

  const auto rows = runs_of_study(database, record.id);
  CHECK_FALSE(rows[0].has_diverged());
  CHECK(rows[2].has_diverged());
  CHECK(rows[2].word("final_loss") == "NaN");
  CHECK(rows[2].word("eval_loss") == "-inf");
  CHECK(rows[2].word("accuracy").empty());
  CHECK(rows[0].word("final_loss").empty());
  CHECK(list_studies(database, 1).at(0).diverged == 1);
  CHECK(ask_text(database, "SELECT not_finite FROM runs_flat WHERE diverged_step = 16") ==
        R"({"eval_loss":"-inf","final_loss":"NaN"})");
  CHECK(ask_text(database, "SELECT count(*) FROM runs_flat WHERE final_loss IS NULL AND not_finite IS NULL") == "0");
}
