// The table of studies, for `dtctl status --all` and the first page of `dtctl serve`.
#pragma once

#include "cli/output/cell.hpp"
#include "store/query/queries.hpp"

#include <vector>

namespace dt::cli {

// Columns: id, study, kind, succeeded runs, time of submission, description. One row per study.
Table study_table(const std::vector<store::StudyRow>& studies);

// The newest studies, at most `limit`; with a condition those that have a run which meets it.
std::vector<store::StudyRow> listed_studies(store::Database& database, const std::string& where, std::int64_t limit);

} // namespace dt::cli
