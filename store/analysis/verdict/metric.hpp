// How the metrics of core/spec/metrics.hpp are computed of a run and what they depend on: one table.
#pragma once

#include "core/record/field.hpp"
#include "core/spec/metrics.hpp"
#include "store/analysis/statistics/candidate.hpp"
#include "store/analysis/statistics/run.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

using dt::Metric;

struct MetricRow {
  Metric metric;
  std::string_view title;  // of a table's column: "to target"
  std::string_view words;  // in a sentence: "time to target"
  std::string_view column; // SQL over `other`, a row of runs, and `results`, its result
  Scale scale;
  bool is_speed;       // a better value is a faster one
  bool needs_target;   // only runs with train.target_accuracy have it
  bool is_of_training; // it depends on the training: a diverged run has no value, and runs of one seed decide nothing
  bool is_of_machine;  // it depends on the machine, so studies of the same work may differ in it
  double (*value)(const Run&);
  std::string_view name = metric_word(metric).name.name; // on the command line: "time-to-target"
  Better better = metric_word(metric).is_larger_better ? Better::larger : Better::smaller;
};

// All metrics, in the order of the help.
std::span<const MetricRow> metric_rows();
const MetricRow& metric_row(Metric metric);
std::vector<std::string> metric_names();
// The metric of this name. Throws Error (usage) that names the known ones.
Metric metric_of(std::string_view name);

// The runs of one point, as a comparison by one metric sees them.
struct Sample {
  // The values of the succeeded runs that have the metric, with their blocks; infinite: the run missed its target.
  Candidate candidate;
  std::size_t runs = 0, succeeded = 0;
  // Succeeded runs that diverged; of the others, those that reached their target accuracy, and those that have one.
  std::size_t diverged = 0, reached = 0, with_target = 0;
  std::size_t copies = 0;           // succeeded runs whose ranks do not train together, so they have no throughput
  std::size_t outlying = 0;         // succeeded runs that do not count, because they are outliers
  std::size_t seeds = 0;            // different train.seed of the runs that have a value
  double node_hours = not_measured; // mean of nodes times wall_s of the runs that have a time
  std::string title{};              // of the point, as it is shown; empty: the candidate's name
};

// A run counts once, even if two studies have it. A succeeded run with a target that it did not reach counts with an infinite
// time. Runs that did not succeed and values that the metric cannot have (a throughput of 0) are left out. Controls of a ladder
// are no part of a sample.
Sample sample_of(std::string name, std::span<const Run> runs, Metric metric);

} // namespace dt::store
