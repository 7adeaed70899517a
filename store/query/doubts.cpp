#include "store/query/doubts.hpp"

#include "core/maths/statistics.hpp"
#include "core/record/field.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/dependences.hpp"
#include "store/query/key_list.hpp"
#include "store/query/queries.hpp"
#include "store/query/scaling_query.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace dt::store {
namespace {

using Keys = std::set<std::string>;

// SQL for the table `chosen` (run_id, key, attempt, point) of the runs that are compared. ?1 is the study's key, or a JSON list
// of run keys.
std::string chosen_runs(bool of_study)
{
  const std::string point = "printf('%s %d %d', series, resources_nodes, ranks)";
  return of_study ? "WITH chosen AS (SELECT runs.id AS run_id, runs.key, runs.attempt, " + point +
                        " AS point, position FROM studies JOIN study_runs ON study_id = studies.id JOIN runs ON runs.id = "
                        "study_runs.run_id "
                        "WHERE studies.key = ?1) "
                  : "WITH chosen AS (SELECT id AS run_id, key, attempt, printf('%s %s', name, label) AS point, id AS position "
                    "FROM runs "
                    "WHERE key IN (SELECT value FROM json_each(?1))) ";
}

// Executes statements about the chosen runs.
class Chosen {
 public:
  Chosen(Connection& connection, const std::string& study_id, const std::vector<std::string>& keys)
      : connection_(connection), runs_(chosen_runs(!study_id.empty())), which_(study_id.empty() ? json_list(keys) : study_id),
        asked_(keys.begin(), keys.end())
  {
  }
  Statement ask(const std::string& select) const
  {
    auto statement = connection_.statement(runs_ + select);
    statement.bind(which_);
    return statement;
  }
  bool is_asked(const std::string& key) const { return asked_.contains(key); }

 private:
  Connection& connection_;
  std::string runs_, which_;
  Keys asked_;
};

// A rank's probe, with what must be equal for a comparison.
struct Probe {
  std::string run, host, cpu_model;
  std::int64_t threads = 1, ranks_per_node = 1, nodes = 1, ranks = 1, rank = 0, allreduce_bytes = 0;
  double gemm_gflops = 0, allreduce_s = 0;
  bool asked = true;
};

std::vector<Probe> read_probes(const Chosen& chosen)
{
  std::vector<Probe> probes;
  auto s =
      chosen.ask("SELECT chosen.key, probes.host, environment.value AS cpu_model, runs.resources_threads_per_rank, "
                 "runs.resources_ranks_per_node, runs.resources_nodes, runs.ranks, probes.rank, allreduce_bytes, gemm_gflops, "
                 "allreduce_s FROM chosen JOIN probes ON probes.run_id = chosen.run_id AND probes.attempt = chosen.attempt "
                 "JOIN runs ON runs.id = chosen.run_id "
                 "LEFT JOIN environment ON environment.run_id = chosen.run_id AND environment.name = 'cpu_model'");
  while (s.next())
    probes.push_back({.run = s.text("key"),
                      .host = s.text("host"),
                      .cpu_model = s.text("cpu_model"),
                      .threads = s.integer("resources_threads_per_rank"),
                      .ranks_per_node = s.integer("resources_ranks_per_node"),
                      .nodes = s.integer("resources_nodes"),
                      .ranks = s.integer("ranks"),
                      .rank = s.integer("rank"),
                      .allreduce_bytes = s.integer("allreduce_bytes"),
                      .gemm_gflops = s.real("gemm_gflops"),
                      .allreduce_s = s.real("allreduce_s"),
                      .asked = chosen.is_asked(s.text("key"))});
  return probes;
}

// The runs whose hosts are emulated on one machine: several hosts were probed, but their load is that of one machine.
Keys runs_on_one_machine(const Chosen& chosen)
{
  Keys keys;
  auto s = chosen.ask(
      "SELECT chosen.key FROM chosen WHERE "
      "(SELECT count(DISTINCT host) FROM probes WHERE probes.run_id = chosen.run_id AND probes.attempt = chosen.attempt) > 1 AND "
      "(SELECT count(*) FROM machine_loads AS l WHERE l.run_id = chosen.run_id AND l.attempt = chosen.attempt) = 1");
  while (s.next()) keys.insert(s.text("key"));
  return keys;
}

std::vector<Outlier> outliers_of(const std::vector<Probe>& probes, const Keys& on_one_machine)
{
  std::vector<RankSpeed> speeds;
  std::vector<AllreduceTime> times;
  for (const auto& probe : probes) {
    speeds.push_back({probe.run, probe.host, probe.cpu_model, probe.threads, probe.gemm_gflops, probe.asked});
    if (probe.rank == 0)
      times.push_back({probe.run, probe.cpu_model, probe.nodes, probe.ranks, probe.threads, probe.allreduce_bytes,
                       probe.allreduce_s, probe.asked});
  }
  auto outliers = slow_hosts(speeds);
  for (auto& outlier : slow_allreduces(times)) outliers.push_back(std::move(outlier));
  for (auto& outlier : outliers)
    outlier.is_on_one_machine =
        std::all_of(outlier.runs.begin(), outlier.runs.end(), [&](const auto& run) { return on_one_machine.contains(run); });
  return outliers;
}

// Throughputs of the succeeded controls, in the order of the runs. Only controls of one allocation count, because only they did
// the same work on the same nodes; a control that was repeated ran in another allocation. Of several allocations, uses the one
// with the most controls.
std::vector<double> controls_of_study(Connection& connection, const std::string& study_id, const Keys& asked)
{
  std::map<std::string, std::vector<double>> by_job;
  auto s = connection.statement(
      "SELECT key, coalesce(job_id, '') AS job, throughput FROM runs_flat WHERE study_key = ? AND control AND "
      "coalesce(resources_platform, '') = '' AND state = 'succeeded' AND throughput IS NOT NULL ORDER BY coalesce(begin_unix_s, "
      "0), position");
  s.bind(study_id);
  while (s.next())
    if (asked.contains(s.text("key"))) by_job[s.text("job")].push_back(s.real("throughput"));
  const auto most = std::max_element(by_job.begin(), by_job.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return most == by_job.end() ? std::vector<double>() : most->second;
}

std::optional<Drift> drift_of(Database& database, const std::string& study_id, const Keys& asked)
{
  const auto controls = controls_of_study(database.impl().connection, study_id, asked);
  if (controls.size() < 2) return std::nullopt;
  std::vector<std::vector<double>> repeats;
  for (auto& point : scaling_of_study(database, study_id)) repeats.push_back(std::move(point.throughputs));
  return drift_of_controls(controls, repeats);
}

// The chosen runs that have a result, and what their own records say about them.
struct MeasuredRuns {
  std::vector<RunConditions> conditions;
  std::vector<std::string> own_programs; // keys of the asked runs of the user's programs
};

// `length_s`: the time that was measured; of a program that reports none, the time of its job. 0 where it does not count.
void add_length(ShortRuns& found, double length_s)
{
  if (!(length_s > 0) || length_s >= least_measured_s) return;
  found.shortest_s = found.runs == 0 ? length_s : std::min(found.shortest_s, length_s);
  ++found.runs;
}

// Takes the figures of one run.
void take_words(Doubts& doubts, const RunConditions& run, const Statement& s)
{
  NotFiniteRun not_finite{run.run, s.integer("not_finite_steps"), s.text("divergence"), s.text("not_finite_accuracy")};
  if (not_finite.steps > 0 || s.integer("has_diverged") != 0 || !not_finite.accuracy.empty())
    doubts.not_finite.push_back(std::move(not_finite));
  if (s.integer("is_modelled") != 0) ++doubts.modelled_runs;
  if (const auto platform = s.text("resources_platform"); !platform.empty()) ++doubts.simulated_runs[platform];
  for (const auto& [kind, sentence] : nlohmann::json::parse(s.text("caveats")).get<TextMap>()) {
    auto& caveated = doubts.caveats[kind];
    ++caveated.runs;
    ++caveated.sentences[sentence];
  }
  add_length(doubts.too_short, s.real("length_s"));
  ++doubts.measured_runs;
}

MeasuredRuns read_measured_runs(const Chosen& chosen, Doubts& doubts)
{
  MeasuredRuns runs;
  auto s = chosen.ask(
      "SELECT chosen.key, point, (SELECT max(p95_s / nullif(p50_s, 0)) FROM rank_phases WHERE rank_phases.run_id = "
      "chosen.run_id AND phase = 'step') AS step_spread, not_finite_steps, divergence, diverged_step IS NOT NULL AS "
      "has_diverged, "
      "coalesce(json_extract(not_finite, '$.accuracy'), '') AS not_finite_accuracy, coalesce(nullif(caveats, ''), '{}') AS "
      "caveats, "
      "train_modelled_rate > 0 AND coalesce(resources_platform, '') = '' AS is_modelled, "
      "resources_platform, program_command NOT IN ('', '[]') AS is_own_program, CASE WHEN coalesce(resources_platform, '') = '' "
      "AND state = "
      "'succeeded' THEN "
      "coalesce(nullif(measured_s, 0), nullif(wall_s, 0), end_unix_s - begin_unix_s, 0) ELSE 0 END AS length_s FROM chosen JOIN "
      "results ON "
      "results.run_id = chosen.run_id JOIN runs ON runs.id = chosen.run_id LEFT JOIN attempts ON attempts.run_id = runs.id AND "
      "attempts.attempt = chosen.attempt ORDER BY position, chosen.key");
  while (s.next()) {
    runs.conditions.push_back({.run = s.text("key"),
                               .point = s.text("point"),
                               .nodes = {},
                               .probes = {},
                               .step_spread = s.real("step_spread"),
                               .asked = chosen.is_asked(s.text("key"))});
    const auto& run = runs.conditions.back();
    if (run.asked) take_words(doubts, run, s);
    if (run.asked && s.integer("is_own_program") != 0) runs.own_programs.push_back(run.run);
  }
  return runs;
}

std::map<std::string, std::vector<NodeLoad>> loads_by_run(const Chosen& chosen)
{
  std::map<std::string, std::vector<NodeLoad>> loads;
  auto s = chosen.ask(
      "SELECT chosen.key, host, cores, own_cores, seconds, load_begin, load_end, others_share, steal_share, elsewhere_share, "
      "throttled_share, quota_cores FROM chosen JOIN machine_loads ON machine_loads.run_id = chosen.run_id AND "
      "machine_loads.attempt = chosen.attempt");
  while (s.next())
    loads[s.text("key")].push_back({.host = s.text("host"),
                                    .cores = s.integer("cores"),
                                    .own_cores = s.integer("own_cores"),
                                    .seconds = s.real("seconds"),
                                    .load_begin = s.real("load_begin"),
                                    .load_end = s.real("load_end"),
                                    .others_share = s.real("others_share"),
                                    .steal_share = s.real("steal_share"),
                                    .elsewhere_share = s.real("elsewhere_share"),
                                    .throttled_share = s.real("throttled_share"),
                                    .quota_cores = s.real("quota_cores")});
  return loads;
}

// For each run, the medians of its ranks' probes per host. The key contains the host, the CPU model, the threads per rank and the
// ranks per node.
std::map<std::string, std::map<std::string, double>> medians_by_run(const std::vector<Probe>& probes)
{
  std::map<std::string, std::map<std::string, std::vector<double>>> speeds;
  for (const auto& probe : probes)
    if (probe.gemm_gflops > 0)
      speeds[probe.run][probe.host + "\n" + probe.cpu_model + "\n" + std::to_string(probe.threads) + "\n" +
                        std::to_string(probe.ranks_per_node)]
          .push_back(probe.gemm_gflops);
  std::map<std::string, std::map<std::string, double>> medians;
  for (auto& [run, hosts] : speeds)
    for (auto& [host, values] : hosts) medians[run][host] = median(std::move(values));
  return medians;
}

void add_conditions(std::vector<RunConditions>& runs, const Chosen& chosen, const std::vector<Probe>& probes)
{
  auto loads = loads_by_run(chosen);
  auto medians = medians_by_run(probes);
  for (auto& run : runs) {
    if (const auto load = loads.find(run.run); load != loads.end()) run.nodes = std::move(load->second);
    if (const auto own = medians.find(run.run); own != medians.end()) run.probes = std::move(own->second);
  }
}

std::vector<MixedDependence> mixed_dependences(Connection& connection, const std::vector<std::string>& keys)
{
  const auto dependences = dependences_of(connection, keys);
  std::vector<MixedDependence> mixed;
  for (const auto& name : dependence_names()) {
    MixedDependence one{name, {}};
    for (const auto& [key, of_run] : dependences) ++one.runs[of_run.at(name)];
    if (one.runs.size() > 1) mixed.push_back(std::move(one));
  }
  return mixed;
}

void add_not_as_submitted(Doubts& doubts, Connection& connection, const std::vector<std::string>& keys)
{
  auto s =
      connection.statement("SELECT coalesce(imports.value, '') = 'none', count(*), min(other.value) FROM json_each(?) AS wanted "
                           "JOIN runs ON runs.key = "
                           "wanted.value JOIN environment AS other ON other.run_id = runs.id AND other.name = 'not_as_submitted' "
                           "LEFT JOIN environment "
                           "AS imports ON imports.run_id = runs.id AND imports.name = 'not_as_submitted_imports' GROUP BY 1");
  s.bind(json_list(keys));
  while (s.next()) {
    const auto runs = static_cast<std::size_t>(s.integer(1));
    if (s.integer(0) == 0) {
      doubts.not_as_submitted = runs;
    } else {
      doubts.unused_changes = runs;
      doubts.unused_text = s.text(2);
    }
  }
}

// The labels whose samples follow the workers in another way than the study's kind says.
void add_doubts_of_mode(Doubts& doubts, Database& database, const std::string& study_id)
{
  const auto kind = kind_of_study(database.impl().connection, study_id);
  for (auto& [label, rule] : batch_rules_of_study(database, study_id))
    if (contradicts(rule, kind)) doubts.batches.push_back({BatchDoubt::Kind::mode, label, kind, 0, rule});
}

// The first size of each label at which the recorded samples deviate from the recipe's batch by a tenth or more.
void add_doubts_of_batch(Doubts& doubts, Connection& connection, const std::vector<std::string>& keys)
{
  auto s = connection.statement(
      "SELECT coalesce((SELECT series FROM study_runs WHERE run_id = runs.id LIMIT 1), label) AS label_of_run, workers, "
      "avg(step_samples) AS samples, global_batch, iif(coalesce(train_global_batch, 0) > 0, 'train.global_batch', "
      "'train.batch_per_rank') AS key_of_batch FROM json_each(?) AS wanted JOIN runs ON runs.key = wanted.value JOIN results ON "
      "results.run_id = runs.id WHERE state = 'succeeded' AND step_samples > 0 AND global_batch > 0 GROUP BY label_of_run, "
      "workers "
      "HAVING abs(samples / global_batch - 1) >= 0.1 ORDER BY label_of_run, workers");
  s.bind(json_list(keys));
  std::set<std::string> told;
  while (s.next()) {
    if (!told.insert(s.text("label_of_run")).second) continue;
    const StepSamples size{s.real("workers"), s.real("samples")};
    doubts.batches.push_back(
        {BatchDoubt::Kind::batch, s.text("label_of_run"), s.text("key_of_batch"), s.real("global_batch"), {.sizes = {size}}});
  }
}

} // namespace

Doubts doubts_of(Database& database, const std::string& study_id, const std::vector<std::string>& keys)
{
  const Chosen chosen(database.impl().connection, study_id, keys);
  Doubts doubts;
  auto runs = read_measured_runs(chosen, doubts);
  const auto probes = read_probes(chosen);
  add_conditions(runs.conditions, chosen, probes);
  if (!study_id.empty()) doubts.drift = drift_of(database, study_id, Keys(keys.begin(), keys.end()));
  doubts.outliers = outliers_of(probes, runs_on_one_machine(chosen));
  doubts.busy = busy_runs(runs.conditions);
  doubts.throttled = throttled_runs(runs.conditions);
  if (!study_id.empty()) add_doubts_of_mode(doubts, database, study_id);
  add_doubts_of_batch(doubts, database.impl().connection, runs.own_programs);
  doubts.mixed = mixed_dependences(database.impl().connection, runs.own_programs);
  add_not_as_submitted(doubts, database.impl().connection, runs.own_programs);
  return doubts;
}

} // namespace dt::store
