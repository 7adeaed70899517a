// Selectors: the way to name runs on the command line.
#pragma once

#include "cli/command/verb.hpp"

#include "cli/runs/results_store.hpp"
#include "store/analysis/verdict/compared_points.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// As a limit of store::runs_where: none.
inline constexpr std::int64_t all_runs = 10'000'000;

struct Selector {
  // Names mean the newest study or run of that name, and a message says so if there are others.
  std::string what =
      "last";          // last, a study's name, a point, a prefix (at least 4 digits) of an id or key, a run's name, a job's id
  bool failed = false; // only runs that ended without success
  std::string where;   // only runs that fulfil this condition
  bool filters() const { return failed || !where.empty(); }
};

// The SELECTOR is optional if `selector.what` has a default. Returns it.
Option* add_selector(Verb& verb, Selector& selector);

struct Selection {
  std::optional<store::StudyRow> study; // if the selector names a study
  std::vector<RunView> runs;            // in the study's order, with their current state
  bool whole_study = false;             // no run was excluded by an option
};

// Throws a usage error with the possible choices if the selector names nothing, or more than one thing.
Selection select(ResultsStore& results, const Selector& selector);

// Returns the same runs with their current state, even if other runs were submitted in between.
std::vector<RunView> look_again(ResultsStore& results, const Selection& selection);

// Selects one run for verbs that look at one run. If the selector names a study, chooses the run that began last among those for
// which `is_wanted` is true (among all, if there is none), and prints a message that names it.
RunView select_newest(Context& context, ResultsStore& results, const Selector& selector,
                      const std::function<bool(const RunView&)>& is_wanted);

// Returns the one selected run. Throws a usage error that lists the candidates if there are several.
RunView select_one(ResultsStore& results, const Selector& selector);

// Reads a study's record from its folder. Nothing if the folder does not exist.
std::optional<StudyRecord> record_of(const Home& home, const store::StudyRow& study);

std::vector<std::string> keys_of(const std::vector<RunView>& runs);

// The rows of the runs, with their current state.
std::vector<store::RunRow> rows_of(const std::vector<RunView>& runs);

// The recipe's own labels (StudyRecord::labels) of the study that is selected; empty if no study is.
std::map<std::string, std::string> own_labels(const Selection& selection);

// How the labels of the selected runs are shown. Runs that are no points of their study (RunSpec::control) may have labels of
// their own, which only a list of runs shows.
enum class Controls { left_out, shown };
store::PointLabels labels_of(const Selection& selection, Controls controls = Controls::left_out);

// The points of the selected runs, with their titles.
std::vector<store::ComparedPoint> compared_points(const Selection& selection);
// The same of the figures of its runs, for a caller that has them.
std::vector<store::ComparedPoint> compared_points(const Selection& selection, std::vector<store::Run> figures);

} // namespace dt::cli
