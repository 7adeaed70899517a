#include "store/query/prediction_query.hpp"

#include "core/error.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/strategy_table.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/key_list.hpp"
#include "store/query/scaling_query.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace dt::store {
namespace {

// A run of the study, with what its series needs.
struct TimedRun {
  std::string series;
  StudySize at;
  std::int64_t ranks_per_node = 1;
  SeriesTraits traits;
  MeasuredTimes times;
};
using Runs = std::map<std::int64_t, TimedRun>; // by the run's id in the database

// The runs of a study that count, as a table `chosen` (run_id, position).
std::string chosen_runs()
{
  return "WITH chosen AS (SELECT runs.id AS run_id, runs.attempt AS attempt, studies.kind AS kind, series, position FROM studies "
         "JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
         "WHERE studies.key = ?1 AND NOT control AND state = 'succeeded' AND " +
         std::string(of_these_labels) + ") ";
}

// Which runs of which study are read.
struct Choice {
  std::string study_id;
  Cell labels; // of label_list
};

Statement ask(Connection& connection, const Choice& choice, const std::string& select)
{
  auto statement = connection.statement(chosen_runs() + select);
  statement.bind(choice.study_id, choice.labels);
  return statement;
}

// Of one exchange, in bytes as they are sent.
double exchange_bytes(double parameters, const std::string& wire)
{
  return parameters * bytes_per_number(find_choice<Wire>(wire).value_or(Wire::float32));
}

// The exchanges of diloco as the model has them: equal ones at equal distances. In a period of H steps there are F fragments with
// as many pieces each as the delay has steps, but at most one exchange in a step.
void spread_fragments(const Statement& s, SeriesTraits& traits)
{
  const auto fragments = std::max<std::int64_t>(1, s.integer("sync_outer_fragments"));
  const auto pieces = std::max<std::int64_t>(1, s.integer("sync_outer_delay"));
  const auto exchanges = std::min(traits.period, fragments * pieces);
  traits.is_beside = s.integer("sync_outer_delay") > 0;
  traits.exchange_bytes /= static_cast<double>(exchanges);
  traits.period /= exchanges;
}

SeriesTraits traits_of(const Statement& s)
{
  const auto strategy = s.text("sync_strategy");
  const auto& row = strategy_row(strategy);
  SeriesTraits traits{.strategy = strategy, .allreduce = std::string(row.allreduce)};
  if (row.allreduce.empty()) traits.allreduce = s.text("sync_allreduce");
  // The sum of coded numbers has the ring's cost: 2 (P-1) messages and 2 (P-1)/P of the bytes.
  if (is_coded(find_choice<Wire>(s.text("sync_wire")).value_or(Wire::float32))) traits.allreduce = "ring";
  traits.is_own_program = strategy.empty(); // the columns of keys that only our strategies read are NULL
  // NCCL's sums of many bytes are rings, too.
  if (traits.is_own_program || !s.text("device_sums").empty()) traits.allreduce = "ring";
  traits.is_served = row.has_servers;
  traits.is_in_turn = row.serves_in_turn;
  traits.answers_first = row.has_servers && row.is_elastic && !row.is_lock_free;
  traits.service_threads = row.is_lock_free ? std::max<std::int64_t>(1, s.integer("sync_server_threads")) : 1;
  traits.is_beside = exchanges_beside_computation({.strategy = strategy, .overlap = s.integer("sync_overlap")});
  traits.period = reads(strategy, "sync.period") ? std::max<std::int64_t>(1, s.integer("sync_period")) : 1;
  traits.node_period = reads(strategy, "sync.node_period") ? std::max<std::int64_t>(1, s.integer("sync_node_period")) : 1;
  traits.servers = row.has_servers ? s.integer("sync_servers") : 0;
  traits.nodes_per_supernode = s.integer("resources_nodes_per_supernode");
  traits.exchange_bytes = exchange_bytes(s.real("parameters"), s.text("sync_wire"));
  if (row.has_outer_rule) spread_fragments(s, traits);
  traits.model = s.text("model_name");
  traits.trunk_share = s.text("resources_platform").empty()
                           ? not_measured
                           : s.real("platform_trunk_share"); // only a simulated machine's trunks are known
  return traits;
}

Runs read_runs(Connection& connection, const Choice& choice)
{
  if (sizes_of_study(connection, choice.study_id) == StudySizes::parts)
    throw Error(ErrorKind::usage, "a partition study divides the same cores, so there is no larger size to predict; study "
                                  "strong or weak scaling instead");
  Runs runs;
  auto s =
      ask(connection, choice,
          "SELECT run_id, chosen.series, resources_nodes, ranks, workers, resources_ranks_per_node, "
          "throughput, isolated_communication_s, steps, warmup_steps, sync_strategy, "
          "sync_allreduce, sync_period, sync_node_period, sync_servers, sync_server_threads, sync_overlap, "
          "resources_nodes_per_supernode, "
          "sync_outer_fragments, sync_outer_delay, parameters, sync_wire, model_name, resources_platform, platform_trunk_share, "
          "results.facts ->> '$." +
              std::string(device_sums_fact) + "' AS device_sums, " + std::string(samples_of_step) +
              " AS step_samples FROM chosen JOIN runs ON runs.id = run_id JOIN results USING (run_id) "
              "WHERE throughput > 0 AND workers > 0 ORDER BY chosen.position");
  while (s.next()) {
    TimedRun run{.series = s.text("series"),
                 .at = {},
                 .ranks_per_node = s.integer("resources_ranks_per_node"),
                 .traits = traits_of(s),
                 .times = {}};
    const auto workers = s.integer("workers");
    run.at = {.nodes = s.integer("resources_nodes"),
              .ranks = s.integer("ranks"),
              .workers = workers,
              .batch = s.real("step_samples") / static_cast<double>(workers)};
    run.times.throughput = s.real("throughput");
    run.times.isolated_s = s.real("isolated_communication_s");
    run.times.steps = s.real("steps");
    run.times.measured_steps = run.times.steps - s.real("warmup_steps");
    runs.emplace(s.integer("run_id"), std::move(run));
  }
  return runs;
}

// Adds a phase's times to a worker's. Quantiles of a sum of phases are taken as the sum of their quantiles: a step that is slow
// forward is slow backward.
void add_phase(WorkerTimes& worker, const Statement& s)
{
  const auto phase = s.text("phase");
  const double mean_s = s.real("mean_s");
  if (phase == "input") worker.input_s += mean_s;
  if (phase == "communication") worker.communication_s += mean_s;
  if (phase == "optimizer") worker.update_s += mean_s;
  if (phase != "forward" && phase != "backward") return;
  worker.compute_s += mean_s;
  worker.p50_s += s.real("p50_s");
  worker.p95_s += s.real("p95_s");
  worker.p99_s += s.real("p99_s");
  worker.max_s += s.real("max_s");
}

// Whether a program of the user has told how long this rank communicates. A lone rank does not communicate.
bool is_communication_told(const TimedRun& run, const std::set<std::int64_t>& told, std::int64_t id)
{
  return !run.traits.is_own_program || run.at.workers == 1 || told.contains(id);
}

void read_phases(Connection& connection, const Choice& choice, Runs& runs)
{
  std::map<std::pair<std::int64_t, std::int64_t>, WorkerTimes> workers; // by run and rank
  std::set<std::int64_t> told;                                          // runs with times of communication
  auto s = ask(connection, choice,
               "SELECT chosen.run_id, rank_phases.rank, phase, mean_s, p50_s, p95_s, p99_s, max_s FROM chosen "
               "JOIN rank_phases ON rank_phases.run_id = chosen.run_id "
               "JOIN ranks ON ranks.run_id = chosen.run_id AND ranks.rank = rank_phases.rank WHERE role = 'worker'");
  while (s.next()) {
    add_phase(workers[{s.integer("run_id"), s.integer("rank")}], s);
    if (s.text("phase") == "communication" && !s.is_null("mean_s")) told.insert(s.integer("run_id"));
  }
  for (auto& [which, times] : workers)
    if (const auto run = runs.find(which.first); run != runs.end() && times.compute_s > 0) {
      if (!is_communication_told(run->second, told, which.first)) times.communication_s = not_measured;
      run->second.times.workers.push_back(times);
    }
}

// `lead_s` before the end of the backward pass is a share of rank 0's computation. Call it after read_phases.
void read_buckets(Connection& connection, const Choice& choice, Runs& runs)
{
  auto s = ask(connection, choice,
               "SELECT chosen.run_id, bytes, lead_s, sync_wire FROM chosen JOIN buckets ON buckets.run_id = chosen.run_id "
               "JOIN runs ON runs.id = chosen.run_id ORDER BY chosen.run_id, bucket");
  while (s.next()) {
    const auto run = runs.find(s.integer("run_id"));
    if (run == runs.end() || run->second.times.workers.empty()) continue;
    auto& times = run->second.times;
    times.buckets.push_back({.bytes = exchange_bytes(s.real("bytes") / 4, s.text("sync_wire")),
                             .ready = std::clamp(1 - s.real("lead_s") / times.workers.front().compute_s, 0.0, 1.0)});
  }
}

// A program of the user does not measure its sums alone. What the rank that waits least is exposed to is the sums', and not
// waiting for slower ranks. Call it after read_buckets.
void derive_isolated_times(Runs& runs)
{
  for (auto& [id, run] : runs) {
    if (!run.traits.is_own_program || run.at.workers < 2 || run.times.workers.empty()) continue;
    const auto least = std::ranges::min(run.times.workers, {}, &WorkerTimes::communication_s);
    auto buckets = run.times.buckets;
    if (buckets.empty()) buckets.push_back({.bytes = run.traits.exchange_bytes, .ready = 1});
    run.times.isolated_s = isolated_from_exposed(buckets, least.compute_s, least.communication_s);
  }
}

void read_probes(Connection& connection, const Choice& choice, Runs& runs)
{
  auto s = ask(connection, choice,
               "SELECT chosen.run_id, allreduce_s, allreduce_bytes FROM chosen JOIN probes ON probes.run_id = chosen.run_id AND "
               "probes.attempt = chosen.attempt WHERE probes.rank = 0");
  while (s.next())
    if (const auto run = runs.find(s.integer("run_id")); run != runs.end()) {
      run->second.times.probe_s = s.real("allreduce_s");
      run->second.times.probe_bytes = s.real("allreduce_bytes");
    }
}

// A server's step answers every worker once in `period` steps, so its mean update is that of workers / period exchanges. Servers
// work at the same time, each on its part of the weights: the slowest one counts.
void read_servers(Connection& connection, const Choice& choice, Runs& runs)
{
  auto s = ask(connection, choice,
               "SELECT chosen.run_id, max(mean_s) AS update_s FROM chosen JOIN rank_phases ON rank_phases.run_id = chosen.run_id "
               "JOIN ranks ON ranks.run_id = chosen.run_id AND ranks.rank = rank_phases.rank "
               "WHERE role = 'server' AND phase = 'optimizer' GROUP BY chosen.run_id");
  while (s.next())
    if (const auto found = runs.find(s.integer("run_id")); found != runs.end()) {
      auto& run = found->second;
      run.times.server_update_s =
          s.real("update_s") * static_cast<double>(run.traits.period) / static_cast<double>(run.at.workers);
    }
}

template<class Figure> bool varies(const Runs& runs, Figure figure)
{
  std::set<std::int64_t> values;
  for (const auto& [id, run] : runs) values.insert(figure(run));
  return values.size() > 1;
}

SizeUnit unit_of(const Runs& runs, std::optional<SizeUnit> asked)
{
  const bool by_density = varies(runs, [](const TimedRun& run) { return run.ranks_per_node; });
  if (asked == SizeUnit::nodes && by_density)
    throw Error(ErrorKind::usage, "this study varies the number of ranks on a node, so a number of nodes does not say how many "
                                  "ranks there are. Give the sizes in ranks: --ranks 4,8");
  if (asked) return *asked;
  return !by_density && varies(runs, [](const TimedRun& run) { return run.at.nodes; }) ? SizeUnit::nodes : SizeUnit::ranks;
}

void add_run(SeriesMeasurements& series, TimedRun run)
{
  run.at.size = series.traits.by_nodes ? run.at.nodes : run.at.ranks;
  auto size =
      std::find_if(series.sizes.begin(), series.sizes.end(), [&](const auto& known) { return known.at.size == run.at.size; });
  if (size == series.sizes.end()) size = series.sizes.insert(size, {.at = run.at, .runs = {}});
  size->runs.push_back(std::move(run.times));
}

} // namespace

std::vector<SeriesMeasurements> measurements_of_study(Database& database, const std::string& study_id,
                                                      std::optional<SizeUnit> unit, const std::vector<std::string>& labels)
{
  auto& connection = database.impl().connection;
  const Choice choice{study_id, label_list(labels)};
  auto runs = read_runs(connection, choice);
  read_phases(connection, choice, runs);
  read_buckets(connection, choice, runs);
  derive_isolated_times(runs);
  read_probes(connection, choice, runs);
  read_servers(connection, choice, runs);
  // The forecast says what is missing of a program of the user.
  std::erase_if(runs,
                [](const auto& entry) { return entry.second.times.workers.empty() && !entry.second.traits.is_own_program; });
  const bool by_nodes = unit_of(runs, unit) == SizeUnit::nodes;
  const bool one_node =
      !by_nodes && std::all_of(runs.begin(), runs.end(), [](const auto& entry) { return entry.second.at.nodes == 1; });
  const auto kind = kind_of_study(connection, study_id);
  std::vector<SeriesMeasurements> all;
  std::unordered_map<std::string, std::size_t> place; // of a series in `all`
  for (auto& [id, run] : runs) {
    const auto [at, is_new] = place.try_emplace(run.series, all.size());
    if (is_new) {
      auto& series = all.emplace_back(SeriesMeasurements{.series = run.series, .traits = run.traits, .sizes = {}});
      series.traits.by_nodes = by_nodes;
      series.traits.ranks_per_node = one_node ? any_number_of_ranks : run.ranks_per_node;
    }
    add_run(all[at->second], std::move(run));
  }
  for (auto& series : all) {
    std::sort(series.sizes.begin(), series.sizes.end(), [](const auto& a, const auto& b) { return a.at.size < b.at.size; });
    std::vector<StepSamples> samples;
    for (const auto& size : series.sizes) {
      const auto workers = static_cast<double>(size.at.workers);
      samples.push_back({workers, workers * size.at.batch});
    }
    series.traits.batches = batch_rule(kind, samples);
  }
  return all;
}

} // namespace dt::store
