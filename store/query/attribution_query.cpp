#include "store/query/attribution_query.hpp"

#include "core/error.hpp"
#include "store/analysis/prediction/link_fit.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/key_list.hpp"
#include "store/query/prediction_query.hpp"
#include "store/query/scaling_query.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace dt::store {
namespace {

// The phases of a run's ranks are those of its last attempt, so they count as means per step.
constexpr const char* attributed_columns = R"sql(,
  measured_samples, measured_s, work_useful_s, work_useful_max_s, work_useful_step_max_s, work_busy_step_max_s,
  work_useful_fast_s, work_useful_step_fast_s, work_paused_step_max_s,
  work_occupied_step_max_s, work_common_pauses_s, work_pauses_s, lone_compute_s,
  between_loader_s, between_checkpoint_s, between_other_s,
  isolated_communication_s, samples_to_accuracy,
  (SELECT sum(mean_s) FROM rank_phases JOIN ranks USING (run_id, rank)
   WHERE run_id = runs.id AND phase = 'optimizer' AND role = 'worker') AS update_s,
  (SELECT avg(mean_s) FROM rank_phases JOIN ranks USING (run_id, rank)
   WHERE run_id = runs.id AND phase = 'communication' AND role = 'worker') AS exposed_s,
  (SELECT max(mean_s / nullif(total_s, 0)) FROM rank_phases WHERE run_id = runs.id AND phase = 'step') AS per_step,
  (SELECT max(bytes_sent) FROM ranks WHERE run_id = runs.id) AS bytes_sent,
  (SELECT max(messages_sent) FROM ranks WHERE run_id = runs.id) AS messages_sent,
  sync_strategy IS NULL AS is_own_program,
  (SELECT group_concat(DISTINCT phase) FROM rank_phases JOIN ranks USING (run_id, rank)
   WHERE run_id = runs.id AND role = 'worker' AND mean_s IS NULL) AS missing,
  (SELECT host FROM ranks WHERE run_id = runs.id AND late_s > 0 GROUP BY host ORDER BY sum(late_s) DESC LIMIT 1)
    AS latest_host,
  (SELECT max(throttled_share) FROM machine_loads WHERE run_id = runs.id AND attempt = runs.attempt) AS throttled_share)sql";

AttributedRun attributed_run_of(Run measured, const Statement& row)
{
  AttributedRun run{.measured = std::move(measured)};
  run.samples = row.integer("measured_samples");
  run.measured_s = row.real("measured_s");
  run.work = {.useful_s = row.real("work_useful_s"),
              .useful_max_s = row.real("work_useful_max_s"),
              .useful_step_max_s = row.real("work_useful_step_max_s"),
              .busy_step_max_s = row.real("work_busy_step_max_s"),
              .useful_fast_s = row.real("work_useful_fast_s"),
              .useful_step_fast_s = row.real("work_useful_step_fast_s"),
              .paused_step_max_s = row.real("work_paused_step_max_s"),
              .occupied_step_max_s = row.real("work_occupied_step_max_s"),
              .common_pauses_s = row.real("work_common_pauses_s"),
              .pauses_s = row.real("work_pauses_s")};
  run.between = {row.real("between_loader_s"), row.real("between_checkpoint_s"), row.real("between_other_s")};
  run.lone_compute_s = row.real("lone_compute_s");
  const double step_samples = row.real("step_samples");
  const double per_step = row.real("per_step"); // 1 / steps of the last attempt
  const auto steps = per_step > 0 ? std::llround(1 / per_step) : 0;
  run.batch_per_rank = step_samples > 0 ? step_samples / static_cast<double>(run.measured.workers) : 0;
  run.measured_steps = step_samples > 0 ? std::llround(static_cast<double>(run.samples) / step_samples) : steps;
  run.isolated_s = row.real("isolated_communication_s");
  run.samples_to_accuracy = row.integer("samples_to_accuracy");
  run.update_s = row.real("update_s") * static_cast<double>(run.measured_steps);
  run.exposed_s = row.real("exposed_s");
  run.bytes = row.real("bytes_sent") * per_step;
  run.messages = row.real("messages_sent") * per_step;
  run.is_own_program = row.integer("is_own_program") != 0; // the columns of keys that only dtengine reads are NULL
  const auto missing = row.text("missing");
  const auto lacks = [&](std::string_view phase) { return missing.find(phase) != std::string::npos; };
  if (run.is_own_program)
    run.missing = {.input = lacks("input"),
                   .communication = run.measured.ranks > 1 && lacks("communication"),
                   .work = lacks("forward") || lacks("backward") || lacks("optimizer")};
  run.latest_host = row.text("latest_host");
  run.throttled_share = row.real("throttled_share");
  return run;
}

// Whether bytes take a part of the measured times that the fit could see. Otherwise its bandwidth may be any large number.
bool tells_bandwidth(const LinkFit& fit)
{
  constexpr double least_share = 0.01;
  return std::ranges::any_of(fit.samples, [&](const CostSample& sample) {
    return fit.link.beta_s * sample.terms.link * static_cast<double>(sample.bytes) > least_share * sample.seconds;
  });
}

// The bandwidth of the link that the communication times of each label's sizes fit, in bytes/s. A label whose sizes tell nothing
// about the link is missing.
std::map<std::string, double> fitted_links(Database& database, const std::string& study_id,
                                           const std::vector<std::string>& labels)
{
  std::map<std::string, double> links;
  try {
    for (const auto& [series, traits, sizes] : measurements_of_study(database, study_id, std::nullopt, labels)) {
      if (traits.is_own_program || !has_link_times(sizes, traits)) continue;
      const auto fit = fit_link(traits, buckets_of(traits, sizes), sizes, {});
      if (tells_bandwidth(fit)) links[series] = fit.link.link_bytes_per_s();
    }
  } catch (const Error& error) { // sizes that cannot be counted in nodes have no formula
    if (error.kind() != ErrorKind::usage) throw;
  }
  return links;
}

} // namespace

std::vector<Attribution> attributions_of_study(Database& database, const std::string& study_id,
                                               const std::vector<std::string>& labels)
{
  auto& connection = database.impl().connection;
  std::map<std::string, Run> figures;
  for (auto& run : figures_of(runs_of_study(connection, study_id))) figures.emplace(run.key, std::move(run));
  std::vector<AttributedRun> runs;
  auto s = connection.statement(
      "SELECT runs.key AS key, " + std::string(samples_of_step) + " AS step_samples" + attributed_columns +
      " FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
      "LEFT JOIN results ON results.run_id = runs.id WHERE studies.key = ?1 AND ranks IS NOT NULL AND NOT control AND " +
      std::string(of_these_labels) + " ORDER BY position");
  s.bind(study_id, label_list(labels));
  while (s.next()) runs.push_back(attributed_run_of(figures.at(s.text("key")), s));
  auto attributions = attributions_of(runs, sizes_of_study(connection, study_id));
  const auto links = fitted_links(database, study_id, labels);
  for (auto& point : attributions)
    if (const auto link = links.find(point.label); link != links.end() && point.ranks > 1)
      point.communication.link = link->second;
  return attributions;
}

} // namespace dt::store
