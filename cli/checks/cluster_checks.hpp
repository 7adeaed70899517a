// The checks of dtctl doctor for the site's Slurm. The judge functions are pure functions of Slurm's answers.
#pragma once

#include "cli/checks/machine.hpp"
#include "jobs/slurm/api.hpp"

#include <vector>

namespace dt::cli {

// Checks version, limits, accounting and MPI plugins. `accounting_trouble`: why slurmdbd does not answer; empty: it does, or the
// site has none.
std::vector<Finding> judge_site(const jobs::slurm::SlurmSite& site, const std::string& accounting_trouble = {});
Finding judge_partitions(const std::vector<jobs::slurm::SlurmPartition>& partitions);
Finding judge_nodes(const std::vector<jobs::slurm::SlurmNode>& nodes);

// Asks Slurm and makes all checks; the one of the home may run a short job. Returns a single finding if there is no Slurm or no
// controller answers.
std::vector<Finding> check_slurm(const Home& home);

} // namespace dt::cli
