// What dtctl doctor says about the site's Slurm. The judgements are pure functions of what Slurm answered.
#pragma once

#include "cli/machine.hpp"
#include "jobs/slurm/api.hpp"

#include <vector>

namespace dt::cli {

// Version, limits, accounting, MPI plugins.
std::vector<Finding> judge_site(const jobs::slurm::SlurmSite& site);
Finding judge_partitions(const std::vector<jobs::slurm::SlurmPartition>& partitions);
Finding judge_nodes(const std::vector<jobs::slurm::SlurmNode>& nodes);

// All of it, asked now; a single finding where there is no Slurm or no controller answers.
std::vector<Finding> check_slurm();

} // namespace dt::cli
