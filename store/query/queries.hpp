// The database queries that dtctl's own commands use.
#pragma once

#include "core/record/run_state.hpp"
#include "core/spec/point_label.hpp"
#include "store/analysis/statistics/batch_rule.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/analysis/verdict/metric.hpp"
#include "store/database/database.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

struct StudyRow {
  std::string id, name, description, kind;
  double created_unix_s = 0, submitted_unix_s = 0;
  std::int64_t runs = 0, succeeded = 0, failed = 0; // failed: any final state except succeeded
  std::int64_t diverged = 0;                        // of those that succeeded
  std::map<RunState, std::int64_t> ends;            // the failed runs, counted by state
  std::map<std::string, std::string> labels{};      // StudyRecord::labels
  std::string tags{}, note{};                       // its own; tags are separated by blanks
};

// A run in a study, with the columns that tables show and selectors test.
struct RunRow {
  std::string key, study, name, label; // study: its id; empty if the run belongs to no study
  std::string series;                  // the label without the size
  bool is_control = false;             // no point of the study (RunSpec::control)
  std::int64_t repeat = 0;
  std::int64_t position = 0; // position in the study's order
  RunState state = RunState::planned;
  std::string cause;
  std::string cause_kind; // as in cause.json, held_back or ended_early; empty: it neither failed nor was cancelled by dtctl
  std::string model, data, strategy, allreduce;
  std::string platform; // machine on which it is simulated; empty: it is measured
  std::int64_t nodes = 0, ranks = 0, workers = 0, threads = 0, global_batch = 0; // workers: ranks that train
  int attempt = 0;
  std::string job_id;                 // the scheduler's id of that attempt's job: "82", "82_3", "local-4"; empty: none
  std::string block;                  // Run::block
  double begin_unix_s = not_measured; // of that attempt's ranks
  std::string hosts;                  // on which it ran, divided by commas; empty: not known
  double target_accuracy = 0;         // 0: no target
  double modelled_rate = 0;           // train.modelled_rate; 0 or NaN: the computation was not modelled
  std::int64_t seed = 0;              // train.seed
  bool is_exact = false;              // Run::is_exact
  bool records_trace = false;         // train.trace of its last submission
  std::string tags, note;             // its own; tags are separated by blanks
  double end_unix_s = not_measured;   // of that attempt's job; NaN: not recorded. The result is written a moment earlier
  // Those of result_fields() that are numbers, in its order; copies of the row share them.
  std::shared_ptr<const std::vector<double>> figures;

  std::string copies;     // Run::copies
  std::string not_finite; // of the table `results`

  // The figure with this name in result_fields(): figure("throughput"). NaN if it was not measured or there is no result, and for
  // a figure that has a word.
  double figure(std::string_view figure_name) const;
  bool has_end() const { return !std::isnan(end_unix_s); }
  // "NaN", "inf" or "-inf" for a figure that was reported so; else empty.
  std::string word(std::string_view figure_name) const;
  // Whether the run has a result and its loss was NaN or infinite to its end. Its accuracy, its losses and its time to the target
  // are left out of all statistics.
  bool has_diverged() const;
  // Samples of all workers in one step: as a program of the user reports them, else as the recipe says. NaN: nobody says them.
  double samples_of_step() const;
  // False if the run has a result and a target, but not when the target was reached or whether it was: a program of the user that
  // does not report begin() or an accuracy, or an attempt that went on from an earlier one.
  bool knows_target() const;
};

// Most recently submitted first.
std::vector<StudyRow> list_studies(Database& database, std::int64_t limit);

// Ids of the studies with a run that fulfils the condition (as for runs_where).
std::set<std::string> studies_where(Database& database, const std::string& condition);

// Studies with this name or id prefix, newest first. "last" is the newest study.
std::vector<StudyRow> find_studies(Database& database, const std::string& name_or_prefix);

// Runs of a study, in its order.
std::vector<RunRow> runs_of_study(Database& database, const std::string& study_id);

// Runs whose key has this prefix, or whose name in a study is exactly this text. Each run is listed in its newest study.
std::vector<RunRow> find_runs(Database& database, const std::string& key_prefix_or_name);

// Runs of which any attempt had this job: "82" (a job, or all tasks of an array), "82_3" (a task), "local-4". Each run is listed
// in its newest study.
std::vector<RunRow> runs_of_job(Database& database, const std::string& job_id);

// Runs that fulfil all comparisons of a condition, "strategy=sync-sgd nodes>=2" (conditions.hpp; `~` means "contains"). The keys
// are columns of runs_flat, also in the recipe's notation (sync.strategy). Each run is listed in its newest study, newest study
// first. An unknown key is a usage error that names the nearest column.
std::vector<RunRow> runs_where(Database& database, const std::string& condition, std::int64_t limit);

// Speed-up and efficiency of a study's points, as scaling_of computes them from the stored runs.
std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id);
// The points of those of a study's runs that vary an assumed figure (study.sensitivity), for sensitivities_of(); they are no
// points of the study itself. `kind`: of the study.
std::vector<ScalingRow> varied_of_runs(std::vector<Run> runs, std::string_view kind);

// What its runs vary that have not succeeded.
std::vector<VariedFigure> varied_without_result(const std::vector<Run>& figures);

// How the samples of a step follow the workers, for each label of the study without its size.
std::map<std::string, BatchRule> batch_rules_of_study(Database& database, const std::string& study_id);

// All stored data about one run, in sections, for `dtctl show`.
struct Section {
  std::string title;
  Table table;
};
std::vector<Section> describe_run(Database& database, const std::string& key);

} // namespace dt::store
