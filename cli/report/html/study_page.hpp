// The page about a study: its verdict, charts, tables, provenance and recipe.
#pragma once

#include "cli/report/chart/chart_source.hpp"
#include "cli/report/html/page.hpp"
#include "cli/runs/results_store.hpp"
#include "core/record/study_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct StudyPageOptions {
  // More runs than this are not in the page's table of runs, which then names the file `runs_file` that has them.
  std::size_t most_run_rows = 1000;
  std::string runs_file{};
  std::string points_file{}; // the same of a study with more than most_table_rows points
  // Returns the address of the page about a run, given its key; null: runs have no pages.
  std::string (*run_address)(const std::string& key) = nullptr;
};

// A study and all that its page shows. `runs`: all runs of the study, with their current state. `record`: the study's file;
// nothing if it is gone.
struct ReportedStudy {
  ChartSource source;
  std::vector<RunView> runs;
  std::optional<StudyRecord> record;
  StudyPageOptions options{};
};

Page study_page(const ReportedStudy& study);

// One page about several studies, one after the other.
Page studies_report(const std::vector<ReportedStudy>& studies);

} // namespace dt::cli
