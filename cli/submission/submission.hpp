// Submits a resolved recipe and reports the result for each run.
#pragma once

#include "cli/command/context.hpp"
#include "cli/command/verb.hpp"
#include "cli/follow/follow.hpp"
#include "cli/planning/resolve.hpp"
#include "cli/runs/results_store.hpp"
#include "jobs/submit/submit.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

struct SubmissionOptions {
  bool dry_run = false;
  bool wait = false;
  bool scripts = false; // dry run: print all scripts
  bool force = false;
  bool keep_going = false;                 // start every run, even if the first ones fail before their first step
  std::int64_t max_jobs = 0;               // maximum number of jobs at the same time; 0: no limit
  std::string patience;                    // with `wait`: how long a scheduler that does not answer is asked again
  std::string notify;                      // with `wait`: a command that runs then (cli/follow/notify.hpp)
  std::string after;                       // selector of runs that must succeed first; empty: none
  std::vector<std::string> scheduler_args; // the words after "--"
  FarBehind far_behind{};                  // with `wait`: Follow::far_behind
};

void add_submission_options(Verb& verb, SubmissionOptions& options);
void add_max_jobs_option(Verb& verb, std::int64_t& max_jobs);

// Says why the Python environment is no part of the runs' keys, if that is not intended.
void tell_unasked(Context& context, const Resolved& resolved);

// Writes the study's record, submits missing and failed runs, stores the study in the database, prints the reports, and waits if
// requested. Used by submit and sweep; a dry run only prints.
ExitCode submit(Context& context, Resolved resolved, const SubmissionOptions& options);

// Submits the missing and failed runs of a study whose record is complete but for its times, and waits until all have ended.
// Prints progress and refusals, but no table. Returns how the runs have ended, or that not all could be submitted.
ExitCode submit_and_wait(Context& context, ResultsStore& results, Resolved& resolved, const SubmissionOptions& options);

// Prints each distinct reason once, with its number of runs. Empty reasons are ignored. `name` is the member of the JSON value,
// and `label` what people read.
void print_reasons(Context& context, const std::string& name, const std::string& label, const std::vector<std::string>& reasons);
void print_refusals(Context& context, const std::vector<std::string>& reasons);

// Prints the reports as a table, and "6 runs: 4 already done, 2 submitted".
void print_reports(Context& context, const std::vector<jobs::SubmitReport>& reports, const std::vector<std::string>& names);

// Appends "goes on from step 120" to the reason of every submitted run whose earlier attempts left a checkpoint.
void tell_checkpoints(const Home& home, std::vector<jobs::SubmitReport>& reports);

// Returns ok, partly_submitted (also if the remaining runs are deferred), or scheduler_unreachable if every run that had to be
// submitted was refused or got no answer.
ExitCode exit_code_of(const std::vector<jobs::SubmitReport>& reports);

std::string_view name_of(jobs::SubmitReport::Action action);

} // namespace dt::cli
