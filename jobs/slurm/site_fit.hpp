// Whether a job can ever start at a site: compares what it asks for with partitions, nodes and accounts. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

// What a site has.
struct SiteOffer {
  std::vector<SlurmPartition> partitions;
  std::vector<SlurmNode> nodes;                       // empty: Slurm shows none, and cores and memory are not compared
  std::optional<std::vector<std::string>> accounts{}; // that this user may charge; nothing: the site does not demand one
};

// Why Slurm would refuse the job or let it wait for ever, with the recipe's keys to change. Empty if nothing speaks against it.
// Nodes that are down or drained count: they can come back.
std::string misfit(const SlurmJob& job, const SiteOffer& site);

} // namespace dt::jobs::slurm
