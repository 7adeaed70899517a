// Scaling of a stored study, for readers and for the table that the ingest writes.
#pragma once

#include "store/analysis/statistics/scaling.hpp"
#include "store/database/sqlite.hpp"
#include "store/query/queries.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// SQL expression over a run and its attempt: the name of the block in which the run was measured; an empty text if it belongs to
// none. A block is one repeat of a ladder: its runs follow each other in one allocation. The name comes from the attempt's token
// "l<batch>.<index>" (core/record/attempt/batch_token.hpp). The job's id would not do: it is missing if the submission was
// interrupted before the scheduler's answer was written.
inline constexpr std::string_view ladder_block =
    "CASE WHEN attempts.token GLOB 'l*.*' "
    "THEN substr(attempts.token, 1, instr(attempts.token, '.') - 1) || ' ' || repeat ELSE '' END";

// As runs_of_study of a database.
std::vector<RunRow> runs_of_study(Connection& connection, const std::string& study_key);

// SQL expression over a run and its result: the samples of all workers in one step. A program of the user reports them, whatever
// its recipe says. NULL: nobody says them.
inline constexpr std::string_view samples_of_step = "coalesce(results.step_samples, runs.global_batch)";

// StudyRecord::kind; empty: there is no such study.
std::string kind_of_study(Connection& connection, const std::string& study_key);
// What the sizes of the study with this key are.
StudySizes sizes_of_study(Connection& connection, const std::string& study_key);

// The points of the study with this key, from its stored runs.
std::vector<ScalingRow> scaling_of_study(Connection& connection, const std::string& study_key);

} // namespace dt::store
