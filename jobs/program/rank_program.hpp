// The start of one rank of the user's own program: its environment, the address at which the ranks meet, and its report.
//
// Every rank gets, besides the values of the recipe's keys (program_variables), what torchrun would set: MASTER_ADDR,
// MASTER_PORT, RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE. With program.launch: per-node the program is a launcher, such as
// torchrun, which gets MASTER_ADDR, MASTER_PORT, DTCTL_NODE_RANK, DTCTL_NODES and DTCTL_RANKS_PER_NODE, and the same as PET_…,
// where torchrun looks for its options. It starts the ranks of its node and sets the other variables for each.
// DTCTL_LAUNCHER is its process, which is no rank.
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/launch/launcher.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// The facts that say what differs from the environment in the run's key, if something does, and which of these packages the
// program imports: `no_imports` if none.
inline constexpr std::string_view other_environment = "not_as_submitted", other_imports = "not_as_submitted_imports",
                                  no_imports = "none";

// The fact that the program is a launcher, which starts the ranks of its node (program.launch).
inline constexpr std::string_view own_launcher = "program_launch";

// The variables that all ranks get: DTCTL_OPTIMIZER_LEARNING_RATE and so on for every key of model, data, train and optimizer
// and for the numbers of resources, DTCTL_PROGRAM_PARAMETERS_NAME, DTCTL_SPEC (path of the JSON file with all keys),
// DTCTL_RUN_KEY, DTCTL_REPEAT, DTCTL_INCLUDE (folder of dtctl_report.h), DTCTL_DATA_FOLDER (if there is a data set) and
// DTCTL_KEEP_FOLDER (a folder that all attempts of the run share).
std::map<std::string, std::string> program_variables(const PlannedRun& run, const AttemptFolder& attempt);

// Prepares this process to become the program of a rank, or the launcher of all ranks of its node: sets its environment, begins
// its report, enters its working folder and, with program.metrics, sends the output of rank 0 to the files that dtjob reads.
// Returns the words to execute. SIGUSR1, the warning ahead of a time limit, is ignored until the program handles it. The first
// rank on each node reports what the program depends on there. Throws an environment error; a run error if the Python environment
// on this machine has changed since the run was submitted to it.
std::vector<std::string> prepare_rank(const AttemptFolder& attempt, const RankPosition& position);

} // namespace dt::jobs
