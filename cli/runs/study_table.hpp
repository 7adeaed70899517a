// The table of studies, for `dtctl status --all` and the first page of `dtctl serve`.
#pragma once

#include "cli/output/cell.hpp"
#include "store/query/queries.hpp"

#include <vector>

namespace dt::cli {

// Columns: id, study, kind, succeeded runs, time of submission, description. One row per study.
Table study_table(const std::vector<store::StudyRow>& studies);

} // namespace dt::cli
