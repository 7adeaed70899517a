// Scaling of a stored study, for readers and for the table that the ingest writes.
#pragma once

#include "store/analysis/scaling.hpp"
#include "store/database/sqlite.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// SQL expression over a run and its attempt: the name of the block in which the run was measured; an empty text if it belongs to
// none. A block is one repeat of a ladder on Slurm: its runs follow each other in one allocation. The name comes from the
// attempt's token "l<batch>.<index>" (jobs/slurm/batch.hpp). The job's id would not do: it is missing if the submission was
// interrupted before Slurm's answer was written.
inline constexpr std::string_view ladder_block =
    "CASE WHEN attempts.scheduler = 'slurm' AND attempts.token GLOB 'l*.*' "
    "THEN substr(attempts.token, 1, instr(attempts.token, '.') - 1) || ' ' || repeat ELSE '' END";

// What a query selects to make MeasuredRuns: the first columns, and the tables with one parameter, the study's key. A run without
// `ranks` is known only by its key, because its folder was not read yet.
std::string measured_run_columns();
// The study's id, and perhaps a label_list (key_list.hpp), are to be bound.
inline constexpr std::string_view measured_run_tables =
    " FROM studies JOIN study_runs ON study_runs.study_id = studies.id JOIN runs ON runs.id = study_runs.run_id "
    "LEFT JOIN results ON results.run_id = runs.id "
    "WHERE studies.key = ?1 AND ranks IS NOT NULL AND NOT control AND (?2 IS NULL OR series IN (SELECT value FROM "
    "json_each(?2))) "
    "ORDER BY position";
// Number of measured_run_columns.
inline constexpr int measured_run_width = 12;
// The current row of such a query.
MeasuredRun measured_run_of(Statement& row);

// What the sizes of the study with this key are.
StudySizes sizes_of_study(Connection& connection, const std::string& study_key);

// The points of the study with this key, from its stored runs.
std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key);

} // namespace dt::store
