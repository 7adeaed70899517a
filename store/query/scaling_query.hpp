// Scaling of a stored study, for readers and for the table that the ingest writes.
#pragma once

#include "store/analysis/scaling.hpp"
#include "store/database/sqlite.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// What a query selects to make MeasuredRuns: the first columns, and the tables with one parameter, the study's key. A run without
// `ranks` is known only by its key, because its folder was not read yet.
inline constexpr std::string_view measured_run_columns =
    "series, resources_nodes, ranks, workers, state = 'succeeded', coalesce(train_target_accuracy, 0), throughput, "
    "communication_share, accuracy, time_to_accuracy_s, "
    "(SELECT job_id || ' ' || runs.repeat FROM attempts WHERE attempts.run_id = runs.id AND attempts.attempt = runs.attempt AND "
    "scheduler = 'slurm' AND token GLOB 'l*')"; // the block of a ladder, as in compared_runs.cpp
inline constexpr std::string_view measured_run_tables =
    " FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
    "LEFT JOIN results ON results.run_id = runs.id "
    "WHERE studies.key = ? AND ranks IS NOT NULL AND NOT control ORDER BY position";
// Number of measured_run_columns.
inline constexpr int measured_run_width = 11;
// The current row of such a query.
MeasuredRun measured_run_of(Statement& row);

// Whether the study with this key is a scaling study (strong or weak).
bool is_scaling_study(Connection& connection, const std::string& study_key);

// The points of the study with this key, from its stored runs.
std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key);

} // namespace dt::store
