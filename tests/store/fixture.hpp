// Run folders as the engine and the jobs leave them, in a folder that goes away with the test.
#pragma once

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/home/home.hpp"
#include "core/record/run_record.hpp"
#include "core/record/study_record.hpp"
#include "store/database/database.hpp"
#include "store/ingest/ingest.hpp"
#include "store/query/queries.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dt::store::test {

// Without a sync: hundreds of small files are written here, and no power cut is tested.
inline void put_file(const std::filesystem::path& path, const std::string& text)
{
  std::ofstream(path, std::ios::binary) << text;
}

inline RunSpec sample_spec(std::int64_t ranks = 2, std::int64_t repeat = 0)
{
  RunSpec spec;
  spec.name = "sample";
  spec.label = "ranks=" + std::to_string(ranks);
  spec.repeat = repeat;
  spec.model.name = "lenet";
  spec.data.name = "digits";
  spec.train.global_batch = 64;
  spec.train.epochs = 2;
  spec.resources.ranks_per_node = ranks;
  return spec;
}

inline RunResult sample_result(const RunSpec& spec, double throughput)
{
  RunResult result;
  result.unix_s = 1700000100;
  result.steps = 20;
  result.warmup_steps = 5;
  result.measured_samples = 960;
  result.measured_s = 960 / throughput;
  result.throughput = throughput;
  result.wall_s = 2;
  result.communication_share = 0.1;
  result.final_loss = 0.25;
  result.eval_loss = 0.3;
  result.accuracy = 0.9;
  result.best_accuracy = 0.95;
  result.parameters = 431080;
  result.weights_hash = "0123";
  for (int rank = 0; rank < spec.ranks(); ++rank) {
    RankRecord record;
    record.rank = rank;
    record.host = "node0";
    record.step = {1.5, 0.1, 0.1 + 0.01 * rank, 0.2, 0.3, 0.4};
    for (auto& phase : record.phases) phase = {0.25, 0.02, 0.02, 0.03, 0.04, 0.05};
    record.bytes_sent = 1000;
    record.messages_sent = 15;
    record.memory_peak_bytes = 1 << 20;
    result.ranks.push_back(record);
  }
  return result;
}

inline std::string step_lines(std::int64_t first, std::int64_t last)
{
  std::string text;
  for (auto step = first; step <= last; ++step) {
    const auto x = static_cast<double>(step);
    append_line(text, StepEvent{step, x / 10, x / 100, 2.5 / x, 0.01, 0.01, {0.001, 0.002, 0.003, 0.001, 0.0005, 0}});
    if (step % 10 == 0) append_line(text, EvalEvent{step, x / 10, x / 100, 2 / x, 1 - 1 / x, 1000, 0.05, 10 * x});
  }
  return text;
}

// Ends an attempt well.
inline void put_result(const AttemptFolder& attempt, const RunResult& result)
{
  put_file(attempt.result(), to_json(result));
  put_file(attempt.end(), "exit 0 1700000101\n");
}

// Long enough for a disk that many test programs sync at once.
inline constexpr double patience_s = 60;

// A home with run folders in it, and what a reconcile would say of them.
class Site {
 public:
  Site() : home(folder.path() / "home") { make_folders(home.root()); }

  Database open(Access access = Access::read_write) const { return Database(home.database(), access, patience_s); }

  // Writes spec.json; the run is planned.
  PlannedRun plan(const RunSpec& spec) const
  {
    auto planned = plan_run(spec, "build-1", "data-1");
    make_folders(home.run(planned.key));
    put_file(spec_path(home.run(planned.key)), to_json(planned));
    return planned;
  }

  AttemptFolder begin(const PlannedRun& run, int number) const
  {
    AttemptFolder attempt(home.run(run.key), number);
    make_folders(attempt.path());
    put_file(attempt.submission(), to_json(Submission{number, "token-" + std::to_string(number), "local", "", 1700000000, "17"}));
    BeginRecord record;
    record.unix_s = 1700000001;
    record.host = "node0";
    record.pid = 4711;
    record.ranks = static_cast<int>(run.spec.ranks());
    record.nodes = static_cast<int>(run.spec.resources.nodes);
    record.threads_per_rank = 1;
    for (int rank = 0; rank < record.ranks; ++rank) {
      record.rank_hosts.push_back("node0");
      record.rank_masks.push_back(std::to_string(rank));
    }
    record.environment = {{"cpu_model", "EPYC"}, {"mpi_version", "Open MPI 4.1.4"}, {"git_state", "abc123, clean"}};
    put_file(attempt.begin(), to_json(record));
    return attempt;
  }

  void succeed(const PlannedRun& run, const AttemptFolder& attempt, double throughput) const
  {
    put_file(attempt.events(), step_lines(1, 20));
    put_result(attempt, sample_result(run.spec, throughput));
  }

  void fail(const AttemptFolder& attempt) const
  {
    put_file(attempt.events(), step_lines(1, 7));
    put_file(attempt.error(), to_json(RankError{1, "node0", "out of memory", 7, 1700000050}));
    put_file(attempt.end(), "exit 1 1700000051\n");
  }

  // Plans, runs and ends a run well.
  PlannedRun run_well(const RunSpec& spec, double throughput) const
  {
    const auto planned = plan(spec);
    succeed(planned, begin(planned, 1), throughput);
    return planned;
  }

  StudyRecord study(const std::vector<PlannedRun>& runs, const std::string& kind = "strong", double submitted_unix_s = 1700000000,
                    const std::string& name = "sample") const
  {
    StudyRecord record;
    record.name = name;
    record.kind = kind;
    record.recipe_path = "sample.yaml";
    record.recipe_text = "version: 1\n";
    record.created_unix_s = 1600000000;
    record.submitted_unix_s = submitted_unix_s;
    for (const auto& run : runs) {
      record.run_keys.push_back(run.key);
      record.run_names.push_back(name + (run.spec.label.empty() ? "" : "/" + run.spec.label) + "/#" +
                                 std::to_string(run.spec.repeat));
    }
    record.id = study_id(record.name, record.run_keys);
    make_folders(home.study(record.id));
    put_file(home.study(record.id) / "study.json", to_json(record));
    return record;
  }

  // The study of these runs, after it and they were taken in.
  StudyRecord take_in(Database& database, const std::vector<PlannedRun>& runs, const std::string& kind = "strong",
                      double submitted_unix_s = 1700000000, const std::string& name = "sample") const
  {
    auto record = study(runs, kind, submitted_unix_s, name);
    ingest_study(database, record);
    ingest(database, runs);
    return record;
  }

  // As jobs would judge: by the newest attempt's files.
  std::vector<RunVerdict> judge(std::span<const std::string> keys) const
  {
    std::vector<RunVerdict> verdicts;
    for (const auto& key : keys) verdicts.push_back(judge(key));
    return verdicts;
  }

  RunVerdict judge(const std::string& key) const
  {
    const auto attempts = attempt_numbers(home.run(key));
    if (attempts.empty()) return {key, RunState::planned, "", "no attempt", 0};
    const AttemptFolder attempt(home.run(key), attempts.back());
    if (read_result(attempt)) return {key, RunState::succeeded, "", "result.json", attempt.number()};
    if (const auto end = read_end(attempt))
      return {key, RunState::failed, "rank 1: out of memory", "end: exit 1", attempt.number()};
    return {key, RunState::running, "", "heartbeat", attempt.number()};
  }

  IngestReport ingest(Database& database, const std::vector<PlannedRun>& runs) const
  {
    std::vector<std::string> keys;
    for (const auto& run : runs) keys.push_back(run.key);
    return ingest_runs(database, home, judge(keys));
  }

  IngestReport rebuild() const
  {
    return store::rebuild(LockedHome(home), [this](std::span<const std::string> keys) { return judge(keys); });
  }

  dt::test::TemporaryFolder folder;
  Home home;
};

// auto [site, database] = Opened{};
struct Opened {
  Site site;
  Database database = site.open();
};

inline Table ask(Database& database, const std::string& sql) { return query(database, sql, {}); }

// The first cell of the answer, as text.
inline std::string ask_text(Database& database, const std::string& sql)
{
  const auto table = ask(database, "SELECT CAST((" + sql + ") AS TEXT)");
  const auto* text = std::get_if<std::string>(&table.rows.at(0).at(0));
  return text == nullptr ? "NULL" : *text;
}

// "usage: …": kind and text of the dt::Error that `act` throws.
inline std::string error_of(const std::function<void()>& act)
{
  try {
    act();
  } catch (const Error& error) {
    return std::string(name_of(error.kind())) + ": " + error.what();
  }
  return "no error";
}

} // namespace dt::store::test
