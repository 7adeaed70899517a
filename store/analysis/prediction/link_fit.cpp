#include "store/analysis/prediction/link_fit.hpp"

#include "core/statistics.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::store {
namespace {

double bytes_of(const std::vector<Bucket>& buckets)
{
  double bytes = 0;
  for (const auto& bucket : buckets) bytes += bucket.bytes;
  return bytes;
}

double median_of(const MeasuredSize& size, double MeasuredTimes::*figure)
{
  std::vector<double> values;
  for (const auto& run : size.runs)
    if (run.*figure > 0) values.push_back(run.*figure);
  return median(std::move(values)); // NaN without values
}

// One sample of the exchange's sums, and one of the probe before the first step, which is an allreduce of plain MPI.
void add_samples(std::vector<CostSample>& samples, const SeriesTraits& traits, const std::vector<Bucket>& buckets,
                 const MeasuredSize& size)
{
  if (size.at.workers < 2) return;
  const auto shape = shape_of(traits, size.at);
  const double seconds = median_of(size, &MeasuredTimes::isolated_s) * static_cast<double>(traits.period);
  auto terms = cost_terms(traits.allreduce, shape);
  terms.messages *= static_cast<double>(buckets.size());
  const auto bytes = static_cast<std::size_t>(bytes_of(buckets));
  if (seconds > 0) samples.push_back({terms, bytes, seconds});
  const double probe_s = median_of(size, &MeasuredTimes::probe_s);
  if (probe_s > 0 && size.runs.front().probe_bytes > 0)
    samples.push_back({cost_terms("mpi", shape), static_cast<std::size_t>(size.runs.front().probe_bytes), probe_s});
}

// The samples of all sizes. Within a node messages pass through memory, so sizes on one node tell nothing about the link if other
// sizes are on several nodes.
std::vector<CostSample> samples_of(const SeriesTraits& traits, const std::vector<Bucket>& buckets,
                                   std::span<const MeasuredSize> sizes)
{
  const auto is_on_one_node = [](const MeasuredSize& size) { return size.at.nodes == 1; };
  const bool all_on_one = std::ranges::all_of(sizes, is_on_one_node);
  std::vector<CostSample> samples;
  for (const auto& size : sizes)
    if (all_on_one || !is_on_one_node(size)) add_samples(samples, traits, buckets, size);
  return samples;
}

// Whether all sums send equally many bytes for each message, within 1 %: then one number fits them all.
bool are_alike(const std::vector<CostSample>& samples)
{
  std::vector<double> lengths;
  for (const auto& sample : samples)
    lengths.push_back(static_cast<double>(sample.bytes) * sample.terms.link / sample.terms.messages);
  return std::ranges::max(lengths) < 1.01 * std::ranges::min(lengths);
}

} // namespace

CostShape shape_of(const SeriesTraits& traits, const StudySize& size)
{
  const auto supernodes = traits.nodes_per_supernode > 0
                              ? (size.nodes + traits.nodes_per_supernode - 1) / traits.nodes_per_supernode
                              : std::int64_t{1};
  return {.ranks = static_cast<int>(size.workers),
          .nodes = static_cast<int>(size.nodes),
          .ranks_a_node = static_cast<int>(std::min(traits.ranks_per_node, size.ranks)),
          .supernodes = static_cast<int>(supernodes)};
}

std::vector<Bucket> buckets_of(const SeriesTraits& traits, std::span<const MeasuredSize> sizes)
{
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    for (const auto& run : size->runs)
      if (!run.buckets.empty() && !traits.is_beside) return run.buckets;
  return {{.bytes = traits.exchange_bytes, .ready = traits.is_beside ? 0.0 : 1.0}};
}

bool has_link_times(std::span<const MeasuredSize> sizes, const SeriesTraits& traits)
{
  return !samples_of(traits, buckets_of(traits, sizes), sizes).empty();
}

LinkFit fit_link(const SeriesTraits& traits, const std::vector<Bucket>& buckets, std::span<const MeasuredSize> sizes,
                 const LinkSource& links)
{
  if (links.network) return {*links.network, {"The network is the profile's: " + in_words(*links.network) + "."}};
  auto samples = samples_of(traits, buckets, sizes);
  if (samples.empty()) samples = samples_of(traits, buckets, links.borrowed);
  if (samples.empty()) return {{}, {"Communication takes no time, because no size with communication was measured."}};
  LinkFit fit{.link = fit_costs(samples)};
  const auto times = samples.size() == 1 ? std::string("1 measured time") : fmt::format("{} measured times", samples.size());
  fit.assumptions.push_back(fmt::format("The network is fitted to {} of communication alone: {}.", times, in_words(fit.link)));
  if (are_alike(samples))
    fit.assumptions.push_back("All these sums send equally long messages, so latency and bandwidth cannot be told apart; a "
                              "`network:` block in the machine profile would tell them.");
  return fit;
}

} // namespace dt::store
