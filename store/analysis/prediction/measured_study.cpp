#include "store/analysis/prediction/measured_study.hpp"

#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dt::store {

StudySize size_of(const SeriesTraits& traits, std::int64_t n)
{
  StudySize size{.size = n};
  size.ranks = traits.by_nodes ? n * traits.ranks_per_node : n;
  size.nodes = traits.by_nodes ? n : std::max<std::int64_t>(1, (n + traits.ranks_per_node - 1) / traits.ranks_per_node);
  size.workers = std::max<std::int64_t>(0, size.ranks - traits.servers);
  const auto workers = static_cast<double>(size.workers);
  size.batch = size.workers == 0 ? 0 : traits.batches.samples_at(workers) / workers;
  return size;
}

double isolated_from_exposed(const std::vector<Bucket>& buckets, double compute_s, double exposed_s)
{
  // The sums end with the latest of: a bucket's readiness and from there on the sums of it and of all later ones.
  double least = std::numeric_limits<double>::infinity(), bytes = 0; // seconds a byte; bytes from this bucket on
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    bytes += bucket->bytes;
    if (bytes > 0) least = std::min(least, (compute_s + exposed_s - bucket->ready * compute_s) / bytes);
  }
  return bytes > 0 ? least * bytes : not_measured;
}

double throughput_of(const MeasuredSize& size)
{
  std::vector<double> throughputs;
  for (const auto& run : size.runs) throughputs.push_back(run.throughput);
  return std::exp(log_moments(throughputs).mean);
}

double step_s_of(const MeasuredSize& size) { return static_cast<double>(size.at.workers) * size.at.batch / throughput_of(size); }

} // namespace dt::store
