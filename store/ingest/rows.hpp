// Writes records as rows for the ingest. All functions run inside the caller's transaction. folder.hpp is the part that reads
// files.
#pragma once

#include "core/record/prediction_record.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/spec_schema.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/database/schema.hpp"
#include "store/database/sqlite.hpp"
#include "store/ingest/folder.hpp"
#include "store/ingest/ingest.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// "INSERT INTO runs (key, state) VALUES (?, ?)".
std::string insert_into(const std::string& table, const std::vector<std::string>& columns);

// The label in a run's name ("name/label/#2", "name/label/control #1" or "name/label"); empty if there is none.
std::string label_in_name(std::string_view run_name, std::string_view study_name);

void write_study(Connection& connection, const StudyRecord& study);

// Adds or updates the run's row and returns its id. `fingerprint` identifies the state of the files that the rows come from.
std::int64_t write_run(Connection& connection, const PlannedRun& planned, const RunVerdict& verdict,
                       const std::string& fingerprint);

// Adds or updates an attempt. If the stored attempt has a different token (the folder was removed in between), its rows are
// deleted.
void write_attempt(Connection& connection, std::int64_t run_id, const AttemptRecord& attempt);

// Deletes the attempts of a run that are not in `attempts`, with their steps and evaluations.
void keep_attempts(Connection& connection, std::int64_t run_id, const std::vector<AttemptRecord>& attempts);

// Replaces result, ranks, phases and environment of a run by those of its current attempt; deletes them if `current` is null.
void write_current(Connection& connection, std::int64_t run_id, const AttemptRecord* current);

// Adds a point of a study; `position` is its place in the order of scaling_of.
void write_point(Connection& connection, std::int64_t study_id, std::int64_t position, const ScalingRow& point);

// write_study and write_run mark the studies whose points may have changed. write_points computes the points of these studies
// anew.
bool has_stale_points(Connection& connection);
void write_points(Connection& connection);

// Adds step and evaluation lines. Returns the number of steps.
std::size_t write_events(Connection& connection, std::int64_t run_id, int attempt, std::string_view lines);

// Overwrites the row with the same id.
void write_prediction_row(Connection& connection, const PredictionRecord& prediction);

} // namespace dt::store
