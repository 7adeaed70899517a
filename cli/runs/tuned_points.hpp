// Computes what the search of study.tune has found from the stored runs of a study. `dtctl sweep` calls it to learn which runs
// come next, `dtctl results` and reports to show the tuned values.
#pragma once

#include "cli/runs/results_store.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/tuned_key.hpp"
#include "store/analysis/statistics/tuning.hpp"
#include "store/query/queries.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dt::cli {

// A point of the study and the search for its best setting.
struct TunedPoint {
  std::string series;  // its label without the size
  std::string label{}; // with the size, as sized_label has it; empty for points made from rows
  std::int64_t nodes = 0, ranks = 0, global_batch = 0;
  std::vector<TunedKey> keys{}; // empty: nothing is tuned, and its runs have the recipe's values
  // False: the search of the next smaller size, at whose optimum this one begins, is not over.
  bool has_begun = false;
  store::Search search{};
  std::int64_t ended = 0; // runs of its search that have ended, those of them without a cost, and their node-hours
  std::int64_t in_vain = 0;
  double node_hours = 0;
  double search_s = 0;               // the sum of their wall times; NaN if they are simulated
  double result_cost = not_measured; // mean of the runs with the tuned values, as store::centre_of; NaN: there are none

  // Whether its runs with the tuned values may be made.
  bool is_tuned() const { return keys.empty() || (search.is_over && search.best && search.is_bracketed); }
  bool is_over() const { return keys.empty() || search.is_over; }
  // At the tuned values: of the results, and before there are any what the search expects. NaN: not known.
  double cost() const;
  // The values of its keys as a recipe has them.
  std::map<std::string, std::string> texts(const store::Setting& setting) const;
};

// Seconds, and node-hours, for which the run's attempt held its nodes, also if it failed. NaN: its begin or its end is not known.
double held_s(const store::RunRow& row);
double held_node_hours(const store::RunRow& row);

Metric metric_of(const StudyTune& tune);

// The rule that study.json keeps. No metric if the study tunes nothing.
StudyTune tune_of_recipe(const StudySpec& study);

// Whether the search has ended the run early, because its setting was far behind.
bool was_ended_early(const store::RunRow& row);
// Whether a run of a search ended without success for a reason that its setting may have: its program failed, or its time was
// over. If it made a step, it would end so again (StudyInRounds::failed_by_setting).
bool failed_by_itself(const store::RunRow& row);

// The points of a study that have a search, from its rows, smallest size first.
std::vector<TunedPoint> tuned_points(const std::vector<store::RunRow>& rows, const StudyTune& tune);

// Replays the searches of the points, which are sorted by size. `counts`: whether any other end of a run without success is taken
// as it is; otherwise the run is still to be made.
void replay_searches(std::vector<TunedPoint>& points, const std::vector<store::RunRow>& rows, const StudyTune& tune,
                     const std::function<bool(const store::RunRow&)>& counts);

// The points of a study with what their searches have found. None if the study tunes nothing.
std::vector<TunedPoint> tuned_points_of(const std::optional<StudyRecord>& study, const std::vector<store::RunRow>& rows);

// Keys of the runs of searches that ended without success though their search goes on with others: settings that diverge, and
// such that were ended early. If no run of a point's search has succeeded, its program may be at fault, and they are not among
// these.
std::set<std::string> ordinary_outcomes(const std::vector<RunView>& runs);

} // namespace dt::cli
