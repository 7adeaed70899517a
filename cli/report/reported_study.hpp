// A study with all that its report shows, in whatever form.
#pragma once

#include "cli/answers/doubt_output.hpp"
#include "cli/answers/verdict_output.hpp"
#include "cli/report/chart/chart_source.hpp"
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

// `runs`: all runs of the study, with their current state. `record`: the study's file; nothing if it is gone.
struct ReportedStudy {
  ChartSource source;
  std::vector<RunView> runs;
  std::optional<StudyRecord> record;
  StudyPageOptions options{};
};

// "Six strategies. Study 1a2b3c4d5e (weak scaling study), submitted 2026-11-27 10:00."
std::string subtitle_of(const store::StudyRow& study);
// The conditions that may have distorted the study's figures, such as a busy machine or a drift.
store::Doubts doubts_of(const ReportedStudy& study);
// The answer of a tuned study over sizes (answers/study_answer.hpp), then the lines of the study's verdict, the headline first:
// that of its race if it is one.
std::vector<std::string> verdict_lines(const ReportedStudy& study, const store::Doubts& doubts);
// The points that a report shows: all, or of a study with more than a table shows those of the drawn labels.
std::vector<store::ScalingRow> shown_points(const ChartSource& source);
// The commands that run the study again and show its results.
std::string commands_of(const ReportedStudy& study);

} // namespace dt::cli
