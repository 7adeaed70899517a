#include "store/analysis/prediction/baselines.hpp"

#include "core/maths/nonnegative_fit.hpp"

#include <cmath>

namespace dt::store {
namespace {

// N/X is linear in 1/λ, σ/λ and κ/λ.
ScalingLaw fit_contention(std::span<const MeasuredSize> sizes, const std::string& name, bool has_coherency)
{
  std::vector<FitSample> samples;
  for (const auto& size : sizes) {
    const auto n = static_cast<double>(size.at.workers);
    samples.push_back({{1, n - 1, has_coherency ? n * (n - 1) : 0}, n / throughput_of(size)});
  }
  const auto x = fit_nonnegative(samples).unknowns;
  return {.name = name, .a = 1 / x[0], .b = x[1] / x[0], .c = x[2] / x[0]};
}

ScalingLaw fit_power(std::span<const MeasuredSize> sizes)
{
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& size : sizes) {
    const double log_n = std::log(static_cast<double>(size.at.workers)), log_x = std::log(throughput_of(size));
    n += 1;
    x += log_n;
    y += log_x;
    xx += log_n * log_n;
    xy += log_n * log_x;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {.name = "power", .a = std::exp((y - slope * x) / n), .b = slope};
}

} // namespace

double ScalingLaw::throughput(double workers) const
{
  if (name == "power") return a * std::pow(workers, b);
  return a * workers / (1 + b * (workers - 1) + c * workers * (workers - 1));
}

std::vector<ScalingLaw> fit_laws(std::span<const MeasuredSize> sizes)
{
  if (sizes.size() < least_sizes_for_laws) return {};
  return {fit_contention(sizes, "amdahl", false), fit_contention(sizes, "scalability", true), fit_power(sizes)};
}

} // namespace dt::store
