#include "core/spec/run_spec.hpp"

#include "core/spec/strategy_table.hpp"

namespace dt {

bool is_coded(Wire wire) { return wire == Wire::int8 || wire == Wire::int4; }

double bytes_per_number(Wire wire)
{
  constexpr double scale = sizeof(float) / static_cast<double>(coded_block);
  switch (wire) {
  case Wire::float32:
    return 4;
  case Wire::bfloat16:
    return 2;
  case Wire::int8:
    return 1 + scale;
  case Wire::int4:
    return 0.5 + scale;
  }
  return 4;
}

std::int64_t outer_buffers(OuterRule rule)
{
  if (rule == OuterRule::sgd) return 0;
  return rule == OuterRule::adam ? 2 : 1;
}

bool has_servers(const std::string& strategy) { return strategy_row(strategy).has_servers; }

bool is_elastic(const std::string& strategy) { return strategy_row(strategy).is_elastic; }

bool exchanges_beside_computation(const SyncSpec& sync)
{
  return (reads(sync.strategy, "sync.overlap") && sync.overlap == 3) ||
         (strategy_row(sync.strategy).has_outer_rule && sync.outer.delay > 0);
}

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
