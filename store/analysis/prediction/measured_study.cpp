#include "store/analysis/prediction/measured_study.hpp"

#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {

StudySize size_of(const SeriesTraits& traits, std::int64_t n)
{
  StudySize size{.size = n};
  size.ranks = traits.by_nodes ? n * traits.ranks_per_node : n;
  size.nodes = traits.by_nodes ? n : std::max<std::int64_t>(1, (n + traits.ranks_per_node - 1) / traits.ranks_per_node);
  size.workers = std::max<std::int64_t>(0, size.ranks - traits.servers);
  size.batch = traits.is_weak || size.workers == 0 ? traits.batch : traits.global_batch / static_cast<double>(size.workers);
  return size;
}

double throughput_of(const MeasuredSize& size)
{
  std::vector<double> throughputs;
  for (const auto& run : size.runs) throughputs.push_back(run.throughput);
  return std::exp(log_moments(throughputs).mean);
}

double step_s_of(const MeasuredSize& size) { return static_cast<double>(size.at.workers) * size.at.batch / throughput_of(size); }

} // namespace dt::store
