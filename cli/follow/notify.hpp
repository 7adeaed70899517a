// --notify: a command of the user that runs when dtctl has waited for runs.
#pragma once

#include "cli/command/context.hpp"
#include "cli/command/verb.hpp"
#include "cli/runs/results_store.hpp"
#include "core/error.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Adds --notify, which takes a command.
Option* add_notify_option(Verb& verb, std::string& command);

// The study of the runs. Both are empty if the selector names no study.
struct NotifiedStudy {
  std::string name, id;
};

// Runs the command with /bin/sh, and waits for it. It learns how the runs ended from its environment only (DTCTL_STUDY,
// DTCTL_STUDY_ID, DTCTL_STATE, DTCTL_RUNS, DTCTL_SUCCEEDED, DTCTL_FAILED, DTCTL_UNFINISHED, DTCTL_EXIT_CODE), so that a name
// cannot become a part of a command line. Its output goes to standard error. If it fails, there is a warning. Does nothing
// without a command. `code`: with which dtctl will end.
void notify(Context& context, const std::string& command, const NotifiedStudy& study, const std::vector<RunView>& runs,
            ExitCode code);

} // namespace dt::cli
