// The questions dtctl itself asks of the database.
#pragma once

#include "core/run_record.hpp"
#include "store/database.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt::store {

struct StudyRow {
  std::string id, name, description, kind;
  double created_unix_s = 0, submitted_unix_s = 0;
  std::int64_t runs = 0, succeeded = 0, failed = 0; // failed: any final state that is not succeeded
  std::map<RunState, std::int64_t> ends;            // the runs of `failed` by their state
};

// A run in a study: what tables show and selectors test.
struct RunRow {
  std::string key, study, name, label; // study: its id; empty when no study has the run
  std::int64_t repeat = 0;
  std::int64_t position = 0; // in the study's order
  RunState state = RunState::planned;
  std::string cause;
  std::string model, data, strategy, allreduce;
  std::int64_t nodes = 0, ranks = 0, workers = 0, threads = 0, global_batch = 0; // workers: ranks that train
  int attempt = 0;
  double throughput = not_measured, communication_share = not_measured, accuracy = not_measured, best_accuracy = not_measured;
  double target_accuracy = 0; // 0: the run has none
  double time_to_accuracy_s = not_measured, wall_s = not_measured, final_loss = not_measured, step_p50_s = not_measured;
  bool has_end = false; // the job's own end is recorded too: a result comes a moment before it
};

// Newest submission first.
std::vector<StudyRow> list_studies(Database& database, std::int64_t limit);

// Studies whose name or id prefix this is, newest first; "last" is the newest of all.
std::vector<StudyRow> find_studies(Database& database, const std::string& name_or_prefix);

// Runs of a study in its order.
std::vector<RunRow> runs_of_study(Database& database, const std::string& study_id);

// Runs whose key starts so, or whose name in a study is exactly this (each in its newest study).
std::vector<RunRow> find_runs(Database& database, const std::string& key_prefix_or_name);

// "strategy=sync-sgd nodes>=2": keys with = != < <= > >= (and ~ for "contains"), joined by blanks, all must hold.
// Any column of runs_flat may be named, also as a recipe does (sync.strategy); values with blanks stand in quotes.
// Each run in its newest study, newest study first. A usage error names the nearest column.
std::vector<RunRow> runs_where(Database& database, const std::string& condition, std::int64_t limit);

// One point of a study: the runs that differ only in their repeat.
struct ScalingRow {
  std::string label; // what the sweep varies, without the size
  std::int64_t nodes = 0, ranks = 0;
  std::int64_t workers = 0; // ranks that train; the others serve parameters
  std::int64_t size = 0;    // nodes where the label's points vary them at a fixed number of workers a node, else workers
  std::int64_t runs = 0, succeeded = 0;
  double throughput = not_measured; // median over repeats, samples/s
  double throughput_min = not_measured, throughput_max = not_measured, throughput_geometric_mean = not_measured;
  // Against the smallest size of the same label that was measured, the baseline. NaN for a baseline above the study's smallest size.
  double speedup = not_measured, efficiency = not_measured;
  // 95 % interval (efficiency_interval). NaN for the baseline, and with fewer than 3 runs of either size.
  double efficiency_low = not_measured, efficiency_high = not_measured;
  std::int64_t baseline_size = 0; // 0: compared with nothing
  double communication_share = not_measured, accuracy = not_measured; // medians
  double time_to_accuracy_s = not_measured; // median, where a run that missed its target counts as infinite; NaN: infinite, or no target
  std::int64_t reached = 0, target_runs = 0; // of so many succeeded runs with a target, so many reached it
};

// In the natural order of labels (period=4 before period=16), then by size.
std::vector<ScalingRow> scaling_of_study(Database& database, const std::string& study_id);

// Of the succeeded runs, a vector a point, in the same order.
std::vector<std::vector<double>> throughputs_by_point(Database& database, const std::string& study_id);

// Everything kept about one run, section by section, for `dtctl show`.
struct Section {
  std::string title;
  Table table;
};
std::vector<Section> describe_run(Database& database, const std::string& key);

} // namespace dt::store
