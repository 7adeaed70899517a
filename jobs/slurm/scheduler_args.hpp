// resources.scheduler_args: applies the options of sbatch that dtctl knows to a job. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <span>
#include <string>

namespace dt::jobs::slurm {

// Reads "--gres=gpu:2", "--mem", "4G", "-x", "node3", "-xnode3", "--part=debug" like sbatch does. Later options override earlier
// ones and the recipe's own keys. Throws a recipe error that names a bad value, an unknown option (with the known ones), or the
// key of the recipe that takes the place of an option.
void apply_scheduler_args(std::span<const std::string> args, SlurmJob& job);

// Minutes, rounded up, of a time in Slurm's notation: "90" (minutes), "10:00" (minutes and seconds), "1:30:00", "1-12",
// "1-12:30". The recipe error names `option`.
std::int64_t minutes_of(const std::string& text, const std::string& option);

// MiB, rounded up, of "500" (MiB), "500M", "4G", "4GB", "1t", "2048K". The recipe error names `option`.
std::int64_t memory_mib_of(const std::string& text, const std::string& option);

} // namespace dt::jobs::slurm
