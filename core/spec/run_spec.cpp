#include "core/spec/run_spec.hpp"

#include "core/spec/strategy_table.hpp"

namespace dt {

bool has_servers(const std::string& strategy) { return strategy_row(strategy).has_servers; }

bool is_elastic(const std::string& strategy) { return strategy_row(strategy).is_elastic; }

bool exchanges_beside_computation(const SyncSpec& sync) { return reads(sync.strategy, "sync.overlap") && sync.overlap == 3; }

ResourcesSpec RunSpec::job_resources() const
{
  auto job = resources;
  if (!is_simulated()) return job;
  job.nodes = job.ranks_per_node = job.threads_per_rank = 1;
  job.oversubscribe = false;
  job.hosts.clear();
  return job;
}

} // namespace dt
