// `dtjob ranks`: the launcher `dtjob`, which starts the ranks of a program on this node as its own processes, without MPI.
#pragma once

#include <string>
#include <vector>

namespace dt::jobs::agent {

// Starts `words` `count` times, each with its rank in OwnLauncher::rank_variable (jobs/launch/launcher.hpp), and waits for all.
// Like mpirun it passes SIGUSR1 to the ranks; the first rank that fails ends the others, and so do SIGTERM, SIGINT and SIGHUP.
// Returns the exit code of the first rank that failed, 128 + N after signal N, or 0. If this process is killed, the kernel kills
// the ranks.
int run_ranks(int count, const std::vector<std::string>& words);

} // namespace dt::jobs::agent
