// Selectors: how runs are named on the command line.
#pragma once

#include "cli/results_store.hpp"

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace dt::cli {

struct Selector {
  std::string what = "last"; // last, a study's name, an id or key prefix of at least 4 digits, a run's name
  bool failed = false;       // only runs that ended without success
  std::string where;         // only runs that meet this condition
  bool filters() const { return failed || !where.empty(); }
};

void add_selector(CLI::App& verb, Selector& selector);

struct Selection {
  std::optional<store::StudyRow> study; // when the selector names one
  std::vector<RunView> runs;            // in the study's order, up to date
  bool whole_study = false;             // no run was filtered out by request
};

// A usage error that says what there is when the selector names nothing or more than one thing.
Selection select(ResultsStore& results, const Selector& selector);

// The same runs as they stand now, whatever was submitted meanwhile.
std::vector<RunView> look_again(ResultsStore& results, const Selection& selection);

// The one run that is selected. A usage error that lists the candidates when there are more.
// The same for verbs that look at one run: of a study's runs for which `is_wanted` is true, the one that began last, and a message that
// says which it is. Where none is, any run, about which the verb then says what is missing.
RunView select_newest(Context& context, ResultsStore& results, const Selector& selector, const std::function<bool(const RunView&)>& is_wanted);

RunView select_one(ResultsStore& results, const Selector& selector);

// A study's record from its folder; nothing when the folder is gone.
std::optional<StudyRecord> record_of(const Home& home, const store::StudyRow& study);

std::vector<std::string> keys_of(const std::vector<RunView>& runs);

} // namespace dt::cli
