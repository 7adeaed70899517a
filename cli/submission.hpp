// Submitting a resolved recipe, and saying what became of each run.
#pragma once

#include "cli/context.hpp"
#include "cli/resolve.hpp"
#include "cli/results_store.hpp"
#include "jobs/submit.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

struct SubmissionOptions {
  bool dry_run = false;
  bool wait = false;
  bool scripts = false; // of a dry run: print them all
  bool force = false;
  std::int64_t max_jobs = 0;               // at the same time; 0: as many as the scheduler starts
  std::string after;                       // selector of runs that must have succeeded first; empty: none
  std::vector<std::string> scheduler_args; // words behind "--"
};

void add_submission_options(CLI::App& verb, SubmissionOptions& options);
void add_max_jobs_option(CLI::App& verb, std::int64_t& max_jobs);

// Keeps the study's record, submits what is missing or failed, takes the study into the database, prints, and waits when
// asked to. The common part of submit, sweep and retry's sibling verbs.
ExitCode submit(Context& context, Resolved resolved, const SubmissionOptions& options);

// Each distinct reason once, with the number of runs that would be or were refused for it; empty ones count for nothing.
void print_refusals(Context& context, const std::vector<std::string>& reasons);

// The reports as a table, and "6 runs: 4 already done, 2 submitted".
void print_reports(Context& context, const std::vector<jobs::SubmitReport>& reports, const std::vector<std::string>& names);

// Adds to the reason of every submitted run whose earlier attempts left a checkpoint: "goes on from step 120".
void tell_checkpoints(const Home& home, std::vector<jobs::SubmitReport>& reports);

// ok, partly_submitted (also when all that is missing waits for room), or scheduler_unreachable when every run that was needed
// was refused or got no answer.
ExitCode exit_code_of(const std::vector<jobs::SubmitReport>& reports);

std::string_view name_of(jobs::SubmitReport::Action action);

} // namespace dt::cli
