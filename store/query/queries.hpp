// The database queries that dtctl's own commands use.
#pragma once

#include "core/record/run_record.hpp"
#include "store/database/database.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

struct StudyRow {
  std::string id, name, description, kind;
  double created_unix_s = 0, submitted_unix_s = 0;
  std::int64_t runs = 0, succeeded = 0, failed = 0; // failed: any final state except succeeded
  std::map<RunState, std::int64_t> ends;            // the failed runs, counted by state
};

// A run in a study, with the columns that tables show and selectors test.
struct RunRow {
  std::string key, study, name, label; // study: its id; empty if the run belongs to no study
  std::string series;                  // the label without the size
  bool is_control = false;             // an A/A control of the study
  std::int64_t repeat = 0;
  std::int64_t position = 0; // position in the study's order
  RunState state = RunState::planned;
  std::string cause;
  std::string model, data, strategy, allreduce;
  std::int64_t nodes = 0, ranks = 0, workers = 0, threads = 0, global_batch = 0; // workers: ranks that train
  int attempt = 0;
  double target_accuracy = 0;  // 0: no target
  bool has_end = false;        // the job's end is recorded too; the result is written a moment earlier
  std::vector<double> figures; // those of result_fields() that are numbers, in its order

  // The figure with this name in result_fields(): figure("throughput"). NaN if it was not measured or there is no result.
  double figure(std::string_view figure_name) const;
};

// Most recently submitted first.
std::vector<StudyRow> list_studies(Database& database, std::int64_t limit);

// Studies with this name or id prefix, newest first. "last" is the newest study.
std::vector<StudyRow> find_studies(Database& database, const std::string& name_or_prefix);

// Runs of a study, in its order.
std::vector<RunRow> runs_of_study(Database& database, const std::string& study_id);

// Runs whose key has this prefix, or whose name in a study is exactly this text. Each run is listed in its newest study.
std::vector<RunRow> find_runs(Database& database, const std::string& key_prefix_or_name);

// Runs that fulfil all comparisons of a condition, "strategy=sync-sgd nodes>=2" (conditions.hpp; `~` means "contains"). The keys
// are columns of runs_flat, also in the recipe's notation (sync.strategy). Each run is listed in its newest study, newest study
// first. An unknown key is a usage error that names the nearest column.
std::vector<RunRow> runs_where(Database& database, const std::string& condition, std::int64_t limit);

// One point of a study: the runs that differ only in their repeat.
struct ScalingRow {
  std::string label; // the sweep's values, without the size
  std::int64_t nodes = 0, ranks = 0;
  std::int64_t workers = 0; // ranks that train; the others serve parameters
  std::int64_t size = 0;    // nodes, if the label's points vary them at a fixed number of workers per node; else workers
  std::int64_t runs = 0, succeeded = 0;
  double throughput = not_measured; // median over repeats, samples/s
  double throughput_min = not_measured, throughput_max = not_measured, throughput_geometric_mean = not_measured;
  // Relative to the baseline, the smallest measured size of the same label. NaN for a baseline that is larger than the study's
  // smallest size.
  double speedup = not_measured, efficiency = not_measured;
  // 95 % confidence interval (efficiency_interval). NaN for the baseline, and if either size has fewer than 3 runs.
  double efficiency_low = not_measured, efficiency_high = not_measured;
  std::int64_t baseline_size = 0;                                     // 0: not compared
  double communication_share = not_measured, accuracy = not_measured; // medians
  // Median; a run that missed its target counts as infinite. NaN: infinite, or no target.
  double time_to_accuracy_s = not_measured;
  std::int64_t reached = 0, target_runs = 0; // succeeded runs that reached their target, and succeeded runs that have a target
};

// Sorted by label in natural order (period=4 before period=16), then by size.
std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id);

// Throughputs of the succeeded runs: one vector per point, in the order of scaling_of_study.
std::vector<std::vector<double>> throughputs_by_point(Database& database, const std::string& study_id);

// All stored data about one run, in sections, for `dtctl show`.
struct Section {
  std::string title;
  Table table;
};
std::vector<Section> describe_run(Database& database, const std::string& key);

} // namespace dt::store
