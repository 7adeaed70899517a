// resources.scheduler_args: the options of sbatch that dtctl knows. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <span>
#include <string>

namespace dt::jobs::slurm {

// Reads "--gres=gpu:2", "--mem", "4G", "-x", "node3", "-xnode3", "--part=debug" like sbatch does. Later options override earlier
// ones and the recipe's own keys. Values are sbatch's to judge, except those that dtctl reads itself. Throws a recipe error that
// names a bad value, an unknown option (with the known ones), or the key of the recipe that takes the place of an option.
void apply_scheduler_args(std::span<const std::string> args, SlurmJob& job);

} // namespace dt::jobs::slurm
