// The command line of sbatch for a job. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <string>
#include <vector>

namespace dt::jobs::slurm {

// sbatch and its options, without the script. Every option has its value in the same word, so no value can be taken for an
// option.
std::vector<std::string> sbatch_words(const SlurmJob& job);

} // namespace dt::jobs::slurm
