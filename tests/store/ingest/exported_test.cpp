// Runs read from the home's database and from their own export are the same runs.
#include "store/ingest/exported.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/separation_query.hpp"
#include "tests/store/fixture.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

Json json_of(const Table& table)
{
  Json rows = Json::array();
  for (const auto& cells : table.rows) {
    auto& row = rows.emplace_back(Json::object());
    for (std::size_t i = 0; i < cells.size(); ++i)
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
              row[table.columns[i]] = nullptr;
            else
              row[table.columns[i]] = value;
          },
          cells[i]);
  }
  return rows;
}

std::vector<std::string> keys_of(const std::vector<RunRow>& rows)
{
  std::vector<std::string> keys;
  for (const auto& row : rows) keys.push_back(row.key);
  return keys;
}

// Everything that sample_of, the verdicts and the rankings read of these runs, as text to compare.
std::string words_of(const std::vector<Run>& runs)
{
  std::string text;
  for (const auto& metric : metric_rows()) {
    for (const auto& run : runs) {
      const auto candidate = sample_of(run.key, {&run, 1}, metric.metric).candidate;
      for (const double value : candidate.values) text += std::to_string(value) + " ";
      for (const auto& block : candidate.blocks) text += block + " ";
      for (const auto& nodes : candidate.nodes)
        for (const auto& node : nodes) text += node + " ";
      for (const double begin : candidate.begins_unix_s) text += std::to_string(begin) + " ";
      text += candidate.is_exact ? "exact\n" : "\n";
    }
    const auto sample = sample_of("", runs, metric.metric);
    for (const auto count : {sample.reached, sample.with_target, sample.diverged}) text += std::to_string(count) + " ";
    text += "\n";
  }
  for (const auto& run : runs) {
    text += run.key + run.series + run.value + run.model + run.data_id + run.engine_build + run.platform + run.copies;
    for (const auto number : {run.nodes, run.ranks, run.repeat, run.seed, run.global_batch}) text += " " + std::to_string(number);
    for (const bool fact : {run.is_control, run.succeeded, run.has_diverged, run.knows_target, run.is_outlying, run.is_exact})
      text += fact ? " 1" : " 0";
    for (const auto& [name, value] : run.depends_on) text += " " + name + "=" + value;
    text += "\n";
  }
  return text;
}

std::string words_of(const std::vector<Measured>& runs)
{
  std::string text;
  for (const auto& run : runs) {
    text += run.run + " " + run.study + " " + std::to_string(run.begin_unix_s) + " " + std::to_string(run.end_unix_s) + " " +
            std::to_string(run.busy_share);
    for (const auto& host : run.hosts) text += " " + host;
    for (const auto& [name, value] : run.facts) text += " " + name + "=" + value;
    text += "\n";
  }
  return text;
}

// Repeats on two and four ranks in rounds, one of them an outlier, one failed, one without a known target.
struct Exported : Site {
  Exported()
  {
    for (std::int64_t repeat = 0; repeat < 4; ++repeat)
      for (const std::int64_t ranks : {2, 4}) add(ranks, repeat);
    const auto record = take_in(database, runs);
    rows = runs_of_study(database, record.id);
  }

  void add(std::int64_t ranks, std::int64_t repeat)
  {
    auto spec = sample_spec(ranks, repeat);
    spec.train.target_accuracy = 0.9;
    spec.resources.nodes = ranks / 2;
    spec.resources.ranks_per_node = 2;
    runs.push_back(plan(spec));
    const auto attempt = begin(runs.back(), 1);
    auto submission = read_submission(attempt).value();
    submission.study = "one";
    put_file(attempt.submission(), to_json(submission));
    auto record = read_begin(attempt).value();
    record.unix_s += 100 * static_cast<double>(repeat) + static_cast<double>(ranks);
    record.environment = {{"cpu_model", "EPYC"}, {"kernel", "Linux 6.1"}, {"python_environment", "0123"}};
    put_file(attempt.begin(), to_json(record));
    if (ranks == 4 && repeat == 3) return put_file(attempt.end(), "exit 1 1700000101\n");
    auto result = sample_result(spec, ranks == 2 && repeat == 2 ? 20 : 100 + static_cast<double>(ranks * 40 + repeat));
    if (repeat != 1) result.time_to_accuracy_s = 1.5, result.samples_to_accuracy = 640;
    if (repeat == 0) result.caveats["copies"] = "the ranks exchange nothing";
    put_result(attempt, result);
  }

  Json document()
  {
    Json file{{"runs", json_of(query(database, "SELECT * FROM runs_flat ORDER BY position", {}))}};
    for (const auto& [name, table] : rows_beside_runs(database, keys_of(rows))) file[name] = json_of(table);
    return file;
  }

  std::vector<PlannedRun> runs;
  std::vector<RunRow> rows;
  Database database = open();
};

} // namespace

TEST_CASE("a run has the same figures, conditions and facts from the home's database and from its export")
{
  Exported site;
  auto other = database_of_export(site.document(), "ref.json");
  CHECK(other.is_in_memory());
  const auto rows = runs_where(other, "repeat>=0", 1000);
  const auto here = compared_runs(site.database, site.rows, "sync.strategy");
  CHECK(std::count_if(here.begin(), here.end(), [](const auto& run) { return !run.block.empty(); }) == 8); // in rounds
  CHECK(words_of(compared_runs(other, rows, "sync.strategy")) == words_of(here));
  CHECK(words_of(measured_of(other, keys_of(rows))) == words_of(measured_of(site.database, keys_of(site.rows))));
  CHECK(python_environments(other, keys_of(rows)) == std::set<std::string>{"0123"});
  CHECK(other.check().empty());
}

TEST_CASE("an export of only the rows of runs_flat says what they say")
{
  Exported site;
  const Json file{{"runs", site.document().at("runs")}};
  auto other = database_of_export(file, "ref.json");
  const auto rows = runs_where(other, "ranks=2", 1000);
  REQUIRE(rows.size() == 4);
  const auto runs = compared_runs(other, rows, "");
  CHECK(runs[0].throughput == 180);
  CHECK(runs[0].hosts == std::set<std::string>{"node0"});
  CHECK(measured_of(other, keys_of(rows)).at(0).facts.count("processors") == 0);
}

TEST_CASE("an export that cannot be taken in is refused with the row and the reason")
{
  Exported site;
  const auto refused = [](const Json& file) { return error_of([&] { database_of_export(file, "ref.json"); }); };
  auto file = site.document();
  file["runs"][1].erase("key");
  CHECK_THAT(refused(file), Contains("usage: ref.json: row 2 of \"runs\" has no text \"key\""));
  file = site.document();
  file["runs"][0]["throughput"] = "fast";
  CHECK_THAT(refused(file), Contains("ref.json: row 1 of \"runs\"") && Contains("throughput"));
  file = site.document();
  file["ranks"][0]["key"] = "0000";
  CHECK_THAT(refused(file), Contains("ref.json: row 1 of \"ranks\" is of a run that is not in \"runs\""));
  CHECK_THAT(refused(Json{{"runs", {1}}}), Contains("row 1 of \"runs\" has no text"));
}
