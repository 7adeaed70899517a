#include "store/query/doubts.hpp"

#include "core/statistics.hpp"
#include "store/analysis/scaling.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/dependences.hpp"
#include "store/query/key_list.hpp"
#include "store/query/queries.hpp"

#include <algorithm>
#include <map>
#include <set>

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

constexpr const char* probes_from =
    " FROM chosen JOIN runs ON runs.id = chosen.run_id JOIN probes ON probes.run_id = chosen.run_id AND probes.attempt = "
    "chosen.attempt "
    "LEFT JOIN environment ON environment.run_id = chosen.run_id AND environment.name = 'cpu_model'";

std::vector<RankSpeed> rank_speeds(const Chosen& chosen)
{
  std::vector<RankSpeed> ranks;
  auto s =
      chosen.ask(std::string("SELECT chosen.key, probes.host, environment.value, runs.resources_threads_per_rank, gemm_gflops") +
                 probes_from);
  while (s.next()) ranks.push_back({s.text(0), s.text(1), s.text(2), s.integer(3), s.real(4), chosen.is_asked(s.text(0))});
  return ranks;
}

std::vector<AllreduceTime> allreduce_times(const Chosen& chosen)
{
  std::vector<AllreduceTime> times;
  auto s = chosen.ask(std::string("SELECT chosen.key, environment.value, runs.resources_nodes, runs.ranks, "
                                  "runs.resources_threads_per_rank, allreduce_bytes, allreduce_s") +
                      probes_from + " WHERE probes.rank = 0");
  while (s.next())
    times.push_back(
        {s.text(0), s.text(1), s.integer(2), s.integer(3), s.integer(4), s.integer(5), s.real(6), chosen.is_asked(s.text(0))});
  return times;
}

std::vector<Outlier> outliers_of(const Chosen& chosen)
{
  auto outliers = slow_hosts(rank_speeds(chosen));
  for (auto& outlier : slow_allreduces(allreduce_times(chosen))) outliers.push_back(std::move(outlier));
  return outliers;
}

// Throughputs of the succeeded controls, in the order of the runs. Only controls of one allocation count, because only they did
// the same work on the same nodes; a control that was repeated ran in another allocation. Of several allocations, uses the one
// with the most controls.
std::vector<double> controls_of_study(Connection& connection, const std::string& study_id, const Keys& asked)
{
  std::map<std::string, std::vector<double>> by_job;
  auto s = connection.statement("SELECT key, coalesce(job_id, ''), throughput FROM runs_flat WHERE study_key = ? AND control AND "
                                "state = 'succeeded' AND throughput IS NOT NULL ORDER BY coalesce(begin_unix_s, 0), position");
  s.bind(study_id);
  while (s.next())
    if (asked.contains(s.text(0))) by_job[s.text(1)].push_back(s.real(2));
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

// Conditions of the chosen runs that have a result.
std::vector<RunConditions> measured_runs(const Chosen& chosen)
{
  std::vector<RunConditions> runs;
  auto s =
      chosen.ask("SELECT chosen.key, point, (SELECT max(p95_s / nullif(p50_s, 0)) FROM rank_phases WHERE rank_phases.run_id = "
                 "chosen.run_id AND phase = 'step') FROM chosen JOIN results ON results.run_id = chosen.run_id ORDER BY "
                 "position, chosen.key");
  while (s.next())
    runs.push_back({.run = s.text(0),
                    .point = s.text(1),
                    .nodes = {},
                    .probes = {},
                    .step_spread = s.real(2),
                    .asked = chosen.is_asked(s.text(0))});
  return runs;
}

std::vector<NotFiniteRun> not_finite_runs(const Chosen& chosen)
{
  std::vector<NotFiniteRun> runs;
  auto s = chosen.ask("SELECT chosen.key, not_finite_steps, divergence, coalesce(json_extract(not_finite, '$.accuracy'), '') "
                      "FROM chosen JOIN results ON results.run_id = chosen.run_id WHERE not_finite_steps > 0 OR diverged_step IS "
                      "NOT NULL OR json_extract(not_finite, '$.accuracy') IS NOT NULL ORDER BY position, chosen.key");
  while (s.next())
    if (chosen.is_asked(s.text(0))) runs.push_back({s.text(0), s.integer(1), s.text(2), s.text(3)});
  return runs;
}

// The time that was measured; of a program that reports none, the time of its job.
ShortRuns short_runs(const Chosen& chosen)
{
  ShortRuns found;
  auto s = chosen.ask(
      "SELECT chosen.key, coalesce(nullif(measured_s, 0), nullif(wall_s, 0), end_unix_s - begin_unix_s) AS length FROM chosen JOIN "
      "runs ON runs.id = chosen.run_id JOIN results ON results.run_id = runs.id LEFT JOIN attempts ON attempts.run_id = runs.id "
      "AND attempts.attempt = chosen.attempt WHERE coalesce(resources_platform, '') = '' AND state = 'succeeded' AND length > 0 "
      "AND length < " +
      std::to_string(least_measured_s));
  while (s.next()) {
    if (!chosen.is_asked(s.text(0))) continue;
    found.shortest_s = found.runs == 0 ? s.real(1) : std::min(found.shortest_s, s.real(1));
    ++found.runs;
  }
  return found;
}

std::size_t count_modelled_runs(const Chosen& chosen)
{
  std::size_t count = 0;
  auto s =
      chosen.ask("SELECT chosen.key FROM chosen JOIN runs ON runs.id = chosen.run_id JOIN results ON results.run_id = runs.id "
                 "WHERE train_modelled_rate > 0 AND resources_platform = ''");
  while (s.next())
    if (chosen.is_asked(s.text(0))) ++count;
  return count;
}

std::map<std::string, std::size_t> count_simulated_runs(const Chosen& chosen)
{
  std::map<std::string, std::size_t> count;
  auto s = chosen.ask("SELECT chosen.key, resources_platform FROM chosen JOIN runs ON runs.id = chosen.run_id JOIN results ON "
                      "results.run_id = runs.id WHERE resources_platform <> ''");
  while (s.next())
    if (chosen.is_asked(s.text(0))) ++count[s.text(1)];
  return count;
}

std::map<std::string, std::vector<NodeLoad>> loads_by_run(const Chosen& chosen)
{
  std::map<std::string, std::vector<NodeLoad>> loads;
  auto s = chosen.ask(
      "SELECT chosen.key, host, cores, own_cores, seconds, load_begin, load_end, others_share, steal_share, elsewhere_share, "
      "throttled_share, quota_cores FROM chosen JOIN machine_loads ON machine_loads.run_id = chosen.run_id AND "
      "machine_loads.attempt = chosen.attempt");
  while (s.next())
    loads[s.text(0)].push_back({s.text(1), s.integer(2), s.integer(3), s.real(4), s.real(5), s.real(6), s.real(7), s.real(8),
                                s.real(9), s.real(10), s.real(11)});
  return loads;
}

// For each run, the medians of its ranks' probes per host. The key contains the host, the CPU model, the threads per rank and the
// ranks per node.
std::map<std::string, std::map<std::string, double>> probes_by_run(const Chosen& chosen)
{
  std::map<std::string, std::map<std::string, std::vector<double>>> speeds;
  auto s = chosen.ask(std::string("SELECT chosen.key, probes.host, environment.value, runs.resources_threads_per_rank, "
                                  "runs.resources_ranks_per_node, gemm_gflops") +
                      probes_from + " WHERE gemm_gflops > 0");
  while (s.next()) speeds[s.text(0)][s.text(1) + "\n" + s.text(2) + "\n" + s.text(3) + "\n" + s.text(4)].push_back(s.real(5));
  std::map<std::string, std::map<std::string, double>> medians;
  for (auto& [run, hosts] : speeds)
    for (auto& [host, values] : hosts) medians[run][host] = median(std::move(values));
  return medians;
}

std::vector<RunConditions> conditions_of(const Chosen& chosen)
{
  auto runs = measured_runs(chosen);
  auto loads = loads_by_run(chosen);
  auto probes = probes_by_run(chosen);
  for (auto& run : runs) {
    run.nodes = std::move(loads[run.run]);
    run.probes = std::move(probes[run.run]);
  }
  return runs;
}

std::vector<std::string> asked_keys(const std::vector<RunConditions>& runs)
{
  std::vector<std::string> keys;
  for (const auto& run : runs)
    if (run.asked) keys.push_back(run.run);
  return keys;
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

std::size_t count_not_as_submitted(Connection& connection, const std::vector<std::string>& keys)
{
  auto s =
      connection.statement("SELECT count(*) FROM json_each(?) AS wanted JOIN runs ON runs.key = wanted.value JOIN environment ON "
                           "environment.run_id = runs.id WHERE environment.name = 'not_as_submitted'");
  s.bind(json_list(keys));
  return s.next() ? static_cast<std::size_t>(s.integer(0)) : 0;
}

} // namespace

Doubts doubts_of(Database& database, const std::string& study_id, const std::vector<std::string>& keys)
{
  const Chosen chosen(database.impl().connection, study_id, keys);
  const auto runs = conditions_of(chosen);
  Doubts doubts;
  if (!study_id.empty()) doubts.drift = drift_of(database, study_id, Keys(keys.begin(), keys.end()));
  doubts.outliers = outliers_of(chosen);
  doubts.busy = busy_runs(runs);
  doubts.throttled = throttled_runs(runs);
  doubts.measured_runs =
      static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const RunConditions& run) { return run.asked; }));
  doubts.not_finite = not_finite_runs(chosen);
  doubts.too_short = short_runs(chosen);
  doubts.modelled_runs = count_modelled_runs(chosen);
  doubts.simulated_runs = count_simulated_runs(chosen);
  const auto measured = asked_keys(runs);
  doubts.mixed = mixed_dependences(database.impl().connection, measured);
  doubts.not_as_submitted = count_not_as_submitted(database.impl().connection, measured);
  return doubts;
}

} // namespace dt::store
