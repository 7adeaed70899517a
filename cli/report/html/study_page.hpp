// The page about a study: its verdict, charts, tables, provenance and recipe.
#pragma once

#include "cli/report/html/page.hpp"
#include "cli/report/reported_study.hpp"

#include <vector>

namespace dt::cli {

Page study_page(const ReportedStudy& study);

// One page about several studies, one after the other.
Page studies_report(const std::vector<ReportedStudy>& studies);

} // namespace dt::cli
