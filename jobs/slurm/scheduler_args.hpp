// resources.scheduler_args: the options of sbatch that dtctl knows, put into a job. Pure functions.
#pragma once

#include "jobs/slurm/api.hpp"

#include <span>
#include <string>

namespace dt::jobs::slurm {

// "--gres=gpu:2", "--mem", "4G", "-x", "node3", "-xnode3": as sbatch reads them, later ones winning over earlier ones and over
// what the recipe's own keys have set. A recipe error names an option that is unknown or has no good value, and the known ones.
void apply_scheduler_args(std::span<const std::string> args, SlurmJob& job);

// Whole minutes, rounded up, of a time in Slurm's grammar: "90" (minutes), "10:00" (minutes and seconds), "1:30:00", "1-12",
// "1-12:30". A recipe error names `option`.
std::int64_t minutes_of(const std::string& text, const std::string& option);

// MiB of "500", "500M", "4G", "1T", "2048K" (rounded up). A recipe error names `option`.
std::int64_t memory_mib_of(const std::string& text, const std::string& option);

} // namespace dt::jobs::slurm
