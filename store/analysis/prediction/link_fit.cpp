#include "store/analysis/prediction/link_fit.hpp"

#include "core/counted.hpp"
#include "core/maths/statistics.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::store {
namespace {

// Relative error of a cost formula on an idle network: sums of 1 MiB and more were simulated and measured to within a few percent
// (docs/benchmarks.md, Simulation).
constexpr double formula_error = 0.03;

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
                 const MeasuredSize& size, double trunk_share)
{
  if (size.at.workers < 2) return;
  const auto shape = shape_of(traits, size.at);
  const double seconds = median_of(size, &MeasuredTimes::isolated_s) * static_cast<double>(traits.period);
  auto terms = cost_terms(traits.allreduce, shape);
  terms.messages *= static_cast<double>(buckets.size());
  terms.link *= trunk_stretch(traits.allreduce, shape, trunk_share);
  const auto bytes = static_cast<std::size_t>(bytes_of(buckets));
  if (seconds > 0) samples.push_back({terms, bytes, seconds});
  const double probe_s = median_of(size, &MeasuredTimes::probe_s);
  if (!(probe_s > 0) || !(size.runs.front().probe_bytes > 0)) return;
  auto of_probe = cost_terms("mpi", shape);
  of_probe.link *= trunk_stretch("mpi", shape, trunk_share);
  samples.push_back({of_probe, static_cast<std::size_t>(size.runs.front().probe_bytes), probe_s});
}

// The samples of all sizes. Within a node messages pass through memory, so sizes on one node tell nothing about the link if other
// sizes are on several nodes.
std::vector<CostSample> samples_of(const SeriesTraits& traits, const std::vector<Bucket>& buckets,
                                   std::span<const MeasuredSize> sizes, double trunk_share = 1)
{
  const auto is_on_one_node = [](const MeasuredSize& size) { return size.at.nodes == 1; };
  const bool all_on_one = std::ranges::all_of(sizes, is_on_one_node);
  std::vector<CostSample> samples;
  for (const auto& size : sizes)
    if (all_on_one || !is_on_one_node(size)) add_samples(samples, traits, buckets, size, trunk_share);
  return samples;
}

// Squares of the samples' relative errors.
double squared_errors(std::span<const CostSample> samples, const CostModel& link)
{
  double squares = 0;
  for (const auto& sample : samples) {
    const double error = cost_s(link, sample.terms, sample.bytes) / sample.seconds - 1;
    squares += error * error;
  }
  return squares;
}

// Variance of the logarithm of the median over a size's runs: that of one run's time, pooled over the sizes, by the runs.
double variance_of_times(std::span<const MeasuredSize> sizes)
{
  double squares = 0, freedom = 0, runs = 0, measured = 0;
  for (const auto& size : sizes) {
    std::vector<double> times;
    for (const auto& run : size.runs)
      if (run.isolated_s > 0) times.push_back(run.isolated_s);
    if (times.empty()) continue;
    runs += static_cast<double>(times.size());
    ++measured;
    if (times.size() < 2) continue;
    const auto moments = log_moments(times);
    squares += (moments.count - 1) * moments.variance;
    freedom += moments.count - 1;
  }
  return freedom > 0 ? squares / freedom * measured / runs : 0;
}

// The larger one of what the repeats and the formulas' exactness let expect and of what the fit left.
double deviation_of(const LinkFit& fit, std::span<const MeasuredSize> sizes)
{
  const double expected = formula_error * formula_error + variance_of_times(sizes);
  constexpr double fitted = 2; // latency and bandwidth
  const double freedom = static_cast<double>(fit.samples.size()) - fitted;
  const double left = freedom > 0 ? squared_errors(fit.samples, fit.link) / freedom : 0;
  return std::sqrt(std::max(expected, left));
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

double trunk_stretch(std::string_view allreduce, const CostShape& shape, double trunk_share)
{
  if (shape.supernodes < 2 || !(trunk_share < 1)) return 1;
  const double ranks = shape.ranks, supernodes = shape.supernodes, in_one = ranks / supernodes;
  const double nodes_in_one = std::max(1.0, shape.nodes / supernodes);
  if (allreduce == "ring" || allreduce == "gloo" || allreduce == "tree" || allreduce == "hierarchical")
    return std::max(1.0, 1 / (trunk_share * nodes_in_one));
  const double crossing = (allreduce == "topology-aware" ? 1 / in_one - 1 / ranks : 1 - 1 / supernodes) / (1 - 1 / ranks);
  return 1 - crossing + crossing / trunk_share;
}

std::vector<double> possible_trunk_shares(const SeriesTraits& traits)
{
  std::vector<double> shares{1};
  constexpr int steps = 6;
  for (int step = 1; step <= steps && traits.nodes_per_supernode > 1; ++step)
    shares.push_back(std::pow(static_cast<double>(traits.nodes_per_supernode), -static_cast<double>(step) / steps));
  return shares;
}

double misfit(const LinkFit& fit, const CostModel& link)
{
  return squared_errors(fit.samples, link) / (fit.deviation * fit.deviation);
}

LinkFit fit_link(const SeriesTraits& traits, const std::vector<Bucket>& buckets, std::span<const MeasuredSize> sizes,
                 const LinkSource& links, double trunk_share)
{
  if (links.network) return {*links.network, {"The network is the profile's: " + in_words(*links.network) + "."}};
  auto samples = samples_of(traits, buckets, sizes, trunk_share);
  const auto measured = samples.empty() ? links.borrowed : sizes;
  if (samples.empty()) samples = samples_of(traits, buckets, links.borrowed, trunk_share);
  if (samples.empty()) return {{}, {"Communication takes no time, because no size with communication was measured."}};
  LinkFit fit{.link = fit_costs(samples), .samples = samples};
  fit.deviation = deviation_of(fit, measured);
  const auto times = counted(samples.size(), "measured time");
  fit.assumptions.push_back(fmt::format("The network is fitted to {} of communication alone: {}.", times, in_words(fit.link)));
  if (are_alike(samples))
    fit.assumptions.push_back("All these sums send equally long messages, so latency and bandwidth cannot be told apart; a "
                              "`network:` block in the machine profile would tell them.");
  return fit;
}

} // namespace dt::store
