// How fast the store is. Each form prints one JSON object:
//
//   bench_store --ingest [--runs 200] [--steps 5000]     step rows a second from run folders into a new database
//   bench_store --make FILE [--runs 1000000]             makes a large database through the store's own SQL; --rates, --repeats
//                                                        and --ranks set the shape of its studies
//   bench_store --study FILE [--times 20]                opens FILE and answers `results` of one study in the middle, with its
//                                                        verdict and the attribution of --why
#include "core/files/file.hpp"
#include "core/maths/statistics.hpp"
#include "core/record/study_record.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/analysis/verdict/standing.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/ingest.hpp"
#include "store/ingest/rows.hpp"
#include "store/query/attribution_query.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/queries.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <CLI/CLI.hpp>

namespace {

using namespace dt;
using namespace dt::store;
namespace fs = std::filesystem;

double seconds_of(const auto& work)
{
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

RunSpec spec_of(std::int64_t study, std::int64_t learning_rate, std::int64_t size, std::int64_t repeat)
{
  RunSpec spec;
  spec.name = "study-" + std::to_string(study);
  spec.model.name = "lenet";
  spec.data.name = "digits";
  spec.train.global_batch = 256;
  spec.train.epochs = 3;
  spec.train.seed = study + 1;
  spec.optimizer.learning_rate = 0.001 * static_cast<double>(learning_rate + 1);
  spec.resources.ranks_per_node = std::int64_t{1} << size;
  spec.label =
      "optimizer.learning_rate=" + std::to_string(spec.optimizer.learning_rate) + " ranks=" + std::to_string(spec.ranks());
  spec.repeat = repeat;
  return spec;
}

// A throughput with some spread that is the same every time.
RunResult result_of(const RunSpec& spec)
{
  RunResult result;
  const auto ranks = static_cast<double>(spec.ranks());
  result.steps = 500;
  result.warmup_steps = 5;
  result.throughput =
      20000 * ranks / (1 + 0.05 * ranks) * (1 + 0.01 * static_cast<double>((spec.repeat * 7 + spec.train.seed) % 5));
  result.measured_samples = 500 * 256;
  result.measured_s = static_cast<double>(result.measured_samples) / result.throughput;
  result.work = {.useful_s = 0.8 * result.measured_s * ranks,
                 .useful_max_s = 0.82 * result.measured_s,
                 .useful_step_max_s = 0.85 * result.measured_s,
                 .busy_step_max_s = 0.9 * result.measured_s,
                 .useful_fast_s = 0.79 * result.measured_s,
                 .useful_step_fast_s = 0.78 * result.measured_s};
  result.lone_compute_s = 0.75 * result.measured_s / 500;
  result.wall_s = result.measured_s * 1.1;
  result.communication_share = 0.02 * ranks;
  result.final_loss = 0.1;
  result.accuracy = result.best_accuracy = 0.985;
  result.parameters = 431080;
  return result;
}

// A study has so many labels, each at five sizes.
struct Shape {
  std::int64_t rates = 10, repeats = 5;
  bool with_ranks = false; // each run has its ranks and their phases
  std::int64_t runs() const { return rates * 5 * repeats; }
};

std::vector<PlannedRun> runs_of(std::int64_t study, const Shape& shape)
{
  std::vector<PlannedRun> runs;
  for (std::int64_t learning_rate = 0; learning_rate < shape.rates; ++learning_rate)
    for (std::int64_t size = 0; size < 5; ++size)
      for (std::int64_t repeat = 0; repeat < shape.repeats; ++repeat)
        runs.push_back(plan_run(spec_of(study, learning_rate, size, repeat), "build", "data"));
  return runs;
}

StudyRecord study_of(std::int64_t number, const std::vector<PlannedRun>& runs)
{
  StudyRecord study;
  study.name = "study-" + std::to_string(number);
  study.kind = "strong";
  study.created_unix_s = study.submitted_unix_s = 1700000000 + static_cast<double>(number);
  for (const auto& run : runs) {
    study.run_keys.push_back(run.key);
    study.run_names.push_back(study.name + "/" + run.spec.label + "/#" + std::to_string(run.spec.repeat));
  }
  study.id = study_id(study.name, study.run_keys);
  return study;
}

std::vector<RankRecord> ranks_of(const RunSpec& spec, const RunResult& result)
{
  std::vector<RankRecord> ranks;
  for (int rank = 0; rank < static_cast<int>(spec.ranks()); ++rank) {
    auto& record = ranks.emplace_back();
    record.rank = rank;
    record.host = "node" + std::to_string(rank / 4);
    for (auto& phase : record.phases) phase = {.total_s = result.measured_s / 6, .mean_s = result.measured_s / 3000};
    record.step = {.total_s = result.measured_s, .mean_s = result.measured_s / 500};
    record.bytes_sent = 1 << 20;
    record.late_s = 0.01 * rank;
  }
  return ranks;
}

// Rows of finished runs, without steps.
void write_study_whole(Connection& connection, std::int64_t number, const Shape& shape)
{
  const auto runs = runs_of(number, shape);
  const auto study = study_of(number, runs);
  write_study(connection, study);
  for (const auto& run : runs) {
    const auto id = write_run(connection, run, {run.key, RunState::succeeded, "", "result.json", 1}, "made by bench_store");
    AttemptRecord attempt;
    attempt.number = 1;
    attempt.submission = Submission{1, "token", "local", study.id, study.submitted_unix_s, "1"};
    attempt.end = JobEnd{};
    attempt.result = result_of(run.spec);
    if (shape.with_ranks) attempt.result->ranks = ranks_of(run.spec, *attempt.result);
    write_attempt(connection, id, attempt);
    write_current(connection, id, &attempt);
  }
}

void make(const fs::path& file, std::int64_t runs, const Shape& shape)
{
  constexpr std::int64_t studies_a_transaction = 40;
  const auto runs_a_study = shape.runs();
  const auto studies = (runs + runs_a_study - 1) / runs_a_study;
  const double seconds = seconds_of([&] {
    Database database(file, Access::read_write);
    database.impl().connection.execute("PRAGMA synchronous = OFF");
    for (std::int64_t first = 0; first < studies; first += studies_a_transaction)
      database.impl().write([&](Connection& connection) {
        for (auto study = first; study < std::min(studies, first + studies_a_transaction); ++study)
          write_study_whole(connection, study, shape);
        write_points(connection);
      });
  });
  std::printf("{\"benchmark\": \"make\", \"runs\": %lld, \"studies\": %lld, \"seconds\": %.3f, \"bytes\": %lld}\n",
              static_cast<long long>(studies * runs_a_study), static_cast<long long>(studies), seconds,
              static_cast<long long>(fs::file_size(file)));
}

std::string event_lines(std::int64_t steps)
{
  std::string text;
  for (std::int64_t step = 1; step <= steps; ++step) {
    const auto x = static_cast<double>(step);
    append_line(text, StepEvent{step,
                                x / 937.5,
                                x * 0.00213456,
                                2.3 / (1 + x / 100),
                                0.0123456789,
                                0.002134567,
                                {0.0000123, 0.000734567, 0.001034567, 0.000203456, 0.000123456, 0}});
  }
  return text;
}

void write_folder(const Home& home, const PlannedRun& run, const std::string& events)
{
  const AttemptFolder attempt(home.run(run.key), 1);
  make_folders(attempt.path());
  const auto put = [](const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  put(spec_path(home.run(run.key)), to_json(run));
  put(attempt.submission(), to_json(Submission{1, "token", "local", "", 1700000000, "1"}));
  put(attempt.events(), events);
  put(attempt.result(), to_json(result_of(run.spec)));
  put(attempt.end(), "exit 0 1700000100\n");
}

void ingest(std::int64_t runs, std::int64_t steps)
{
  std::string pattern = (fs::temp_directory_path() / "bench-store-XXXXXX").string();
  const Home home(::mkdtemp(pattern.data()));
  const auto events = event_lines(steps);
  std::vector<RunVerdict> verdicts;
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto run = plan_run(spec_of(0, 0, 1, i), "build", "data");
    write_folder(home, run, events);
    verdicts.push_back({run.key, RunState::succeeded, "", "result.json", 1});
  }
  IngestReport first, second;
  Database database(home.database(), Access::read_write);
  const auto cpu_begin = std::clock(); // on a busy machine the rate an idle one would have
  const double seconds = seconds_of([&] { first = ingest_runs(database, home, verdicts); });
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  const double again_seconds = seconds_of([&] { second = ingest_runs(database, home, verdicts); });
  std::printf("{\"benchmark\": \"ingest\", \"runs\": %lld, \"steps_a_run\": %lld, \"step_rows\": %zu, \"seconds\": %.3f, "
              "\"step_rows_per_s\": %.0f, \"step_rows_per_cpu_s\": %.0f, \"again_unchanged\": %zu, \"again_us_per_run\": %.2f}\n",
              static_cast<long long>(runs), static_cast<long long>(steps), first.step_rows, seconds,
              static_cast<double>(first.step_rows) / seconds, static_cast<double>(first.step_rows) / cpu_seconds,
              second.runs_unchanged, again_seconds * 1e6 / static_cast<double>(runs));
  fs::remove_all(home.root());
}

// Ranks the labels at each size, as the verdict of `results` and `dtctl compare` do.
void rank_study(Database& database, const std::vector<RunRow>& rows)
{
  for (const auto& contest : contests_of(points_of(compared_runs(database, rows, ""))))
    standings_of({&contest, 1}, std::array{Metric::throughput}, {});
}

void time_study(const fs::path& file, int times)
{
  std::vector<double> results_ms, rank_ms, why_ms, find_ms;
  std::size_t rows = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<StudyRow> studies;
    Database(file, Access::read_only); // the file exists and is of this format, or this ends here
    results_ms.push_back(1e3 * seconds_of([&] {
                           Database database(file, Access::read_only);
                           studies = find_studies(database, "study-" + std::to_string(1 + 97 * i % 1000));
                           if (studies.empty()) studies = find_studies(database, "last");
                           rows = runs_of_study(database, studies.at(0).id).size();
                           scaling_of_study(database, studies.at(0).id);
                         }));
    Database ranked(file, Access::read_only);
    const auto study_rows = runs_of_study(ranked, studies.at(0).id);
    rank_ms.push_back(1e3 * seconds_of([&] { rank_study(ranked, study_rows); }));
    why_ms.push_back(1e3 * seconds_of([&] { attributions_of_study(ranked, studies.at(0).id); }));
    find_ms.push_back(1e3 * seconds_of([&] {
                        Database database(file, Access::read_only);
                        find_runs(database, "abcdef");
                      }));
  }
  std::printf("{\"benchmark\": \"study\", \"rows\": %zu, \"results_median_ms\": %.3f, \"results_max_ms\": %.3f, "
              "\"rank_median_ms\": %.3f, \"why_median_ms\": %.3f, \"find_run_median_ms\": %.3f}\n",
              rows, median(results_ms), quantile(results_ms, 1), median(rank_ms), median(why_ms), median(find_ms));
}

} // namespace

int main(int argc, char** argv)
{
  CLI::App app("Benchmarks of the results database");
  bool take_in = false;
  std::string made, asked;
  std::int64_t runs = 0, steps = 5000;
  int times = 20;
  Shape shape;
  app.add_flag("--ingest", take_in, "time the ingest of run folders");
  app.add_option("--make", made, "make a large database in this file");
  app.add_option("--study", asked, "time the results of a study in this file");
  app.add_option("--runs", runs, "runs to make; default 200 for --ingest, 1000000 for --make");
  app.add_option("--steps", steps, "step lines of each run");
  app.add_option("--rates", shape.rates, "labels of each study that --make makes");
  app.add_option("--repeats", shape.repeats, "repeats of each of its points");
  app.add_flag("--ranks", shape.with_ranks, "also make the ranks of each run, and their phases");
  app.add_option("--times", times, "repetitions of --study");
  app.require_option(1, 0);
  CLI11_PARSE(app, argc, argv);
  try {
    if (take_in) ingest(runs > 0 ? runs : 200, steps);
    if (!made.empty()) make(made, runs > 0 ? runs : 1000000, shape);
    if (!asked.empty()) time_study(asked, times);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_store: %s\n", error.what());
    return 1;
  }
}
