#include "store/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dt::store {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine, which std's distributions do not promise.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // 0 … n-1, n below 2^32: the upper half of the state scaled down; its bias is below n / 2^32.
  std::size_t below(std::size_t n)
  {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>((((z ^ (z >> 31)) >> 32) * n) >> 32);
  }

 private:
  std::uint64_t state_;
};

// Of a sorted sample that is not empty.
double quantile_of_sorted(std::span<const double> sorted, double q)
{
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double median_of_redraw(std::span<const double> sample, std::vector<double>& drawn, Random& random)
{
  drawn.resize(sample.size());
  for (auto& value : drawn) value = sample[random.below(sample.size())];
  std::sort(drawn.begin(), drawn.end());
  return quantile_of_sorted(drawn, 0.5);
}

} // namespace

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double quantile(std::vector<double> values, double q)
{
  if (values.empty()) return nan_value;
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, q);
}

double speedup(double throughput, double base_throughput, double base_size) { return throughput / base_throughput * base_size; }

double efficiency(double throughput, double size, double base_throughput, double base_size)
{
  return speedup(throughput, base_throughput, base_size) / size;
}

Interval bootstrap_efficiency(std::span<const double> base, double base_size, std::span<const double> sample, double size)
{
  constexpr std::size_t least = 3;
  constexpr std::size_t draws = 2000;
  if (base.size() < least || sample.size() < least) return {nan_value, nan_value};
  Random random(0);
  std::vector<double> drawn, efficiencies(draws);
  for (auto& value : efficiencies) {
    const double base_median = median_of_redraw(base, drawn, random);
    value = efficiency(median_of_redraw(sample, drawn, random), size, base_median, base_size);
  }
  std::sort(efficiencies.begin(), efficiencies.end());
  return {quantile_of_sorted(efficiencies, 0.025), quantile_of_sorted(efficiencies, 0.975)};
}

} // namespace dt::store
