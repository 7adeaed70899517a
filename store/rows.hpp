// Records -> rows: the side of ingest that sees the database. Everything here runs inside the caller's transaction.
#pragma once

#include "core/spec_schema.hpp"
#include "core/study_record.hpp"
#include "store/folder.hpp"
#include "store/ingest.hpp"
#include "store/sqlite.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// "train.global_batch" -> "train_global_batch", the column of runs.
std::string column_of(const Key& key);

// The keys with a column in runs: all that have a field, but for the study's own.
const std::vector<const Key*>& column_keys();

// As it is stored: booleans as 0 and 1, lists and maps as JSON.
Cell cell_of(const FieldValue& value);

// A label without its size: "sync.strategy=hsgd ranks=2" -> "sync.strategy=hsgd", "ranks_per_node=4 nodes=2" ->
// "ranks_per_node=4", "ranks_per_node=4" -> "".
std::string series_of(std::string_view label);

// The label inside a run's name in a study, "name/label/#2", "name/label/control #1" or "name/label"; empty when there is none.
std::string label_in_name(std::string_view run_name, std::string_view study_name);

void write_study(Connection& connection, const StudyRecord& study);

// Adds or updates the run's own row; its id. `fingerprint` stands for the files that the rows were made from.
std::int64_t write_run(Connection& connection, const PlannedRun& planned, const RunVerdict& verdict,
                       const std::string& fingerprint);

// Adds or updates an attempt. Of an attempt whose token is another one, as after a removed folder, nothing old is kept.
void write_attempt(Connection& connection, std::int64_t run_id, const AttemptFacts& facts);

// Removes the attempts of a run that are not in `numbers`, with their steps and evaluations.
void keep_attempts(Connection& connection, std::int64_t run_id, const std::vector<AttemptFacts>& attempts);

// Replaces result, ranks, phases and environment of a run by those of its current attempt; by nothing when that is null.
void write_current(Connection& connection, std::int64_t run_id, const AttemptFacts* current);

// Adds the step and evaluation lines; the number of steps.
std::size_t write_events(Connection& connection, std::int64_t run_id, int attempt, std::string_view lines);

} // namespace dt::store
