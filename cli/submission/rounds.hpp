// A study that grows round by round: a rule looks at the runs that are there and says which further ones the study needs. It has
// no state but its runs, so a call that was interrupted is continued by the same call.
#pragma once

#include "cli/answers/verdict_output.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/submission/submission.hpp"
#include "store/query/queries.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dt::cli {

class StudyInRounds {
 public:
  // `study`: its record but for the runs, with the id that it keeps while runs are added.
  StudyInRounds(Context& context, Resolved study, SubmissionOptions options);

  ResultsStore& results() { return results_; }
  const std::string& id() const { return study_.study.id; }
  // The stored runs of the study so far, by key. Empty before the first round.
  std::map<std::string, store::RunRow> rows();
  // Whether this call has submitted or waited for the run. A run that ended without success before is tried once more.
  bool has_tried(const std::string& key) const { return tried_.contains(key); }
  // Whether a run of a search ended without success as it would again: it failed by itself (failed_by_itself), after a step at
  // least. What fails before says something of the program and its environment, and nothing of the setting.
  bool failed_by_setting(const store::RunRow& row) const;
  // Submits those of the runs that are missing, and waits for all. `runs` are all that the study has from now on. A run that
  // ended without success is submitted once in a call; never again one of a search that failed by its setting or was ended early
  // by `far_behind`. Throws an environment error if the round before, of the same runs, has changed nothing.
  ExitCode run(std::vector<PlannedRun> runs, FarBehind far_behind = {});
  // How many of the runs were cancelled, by the user or because they were held back.
  std::int64_t count_cancelled(const std::vector<std::string>& keys);
  // All runs of the study, and what is to be said of them.
  struct Outcome {
    Selection selection;
    std::vector<std::string> facts; // deciding_facts
    StudyVerdict verdict;
  };
  Outcome outcome();
  // Prints the verdict and how the runs have ended, but for those of a search, notifies, and returns the exit code that belongs
  // to it.
  ExitCode finish(const Outcome& outcome);

 private:
  Context& context_;
  Resolved study_;
  SubmissionOptions options_;
  ResultsStore results_;
  std::set<std::string> tried_;
  std::string states_; // of the runs before the last round
};

} // namespace dt::cli
