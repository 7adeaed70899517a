#include "core/spec/simulation_cost.hpp"

#include <algorithm>
#include <cmath>

namespace dt {
namespace {

// Sums before the first step, which measure the communication alone: one to warm up and five to measure.
constexpr double own_sums = 6;

// Messages of one sum over P ranks. A ring sends 2 (P - 1) from each rank; the other algorithms 2 log2 P.
double messages_of_a_sum(const std::string& allreduce, double ranks)
{
  return ranks * 2 * (allreduce == "ring" ? ranks - 1 : std::ceil(std::log2(std::max(2.0, ranks))));
}

} // namespace

SimulationCost simulation_cost(const RunSpec& spec)
{
  // Fitted to dtsim allreduce with 64 to 4,096 ranks (docs/benchmarks.md).
  constexpr double start_s = 0.1, a_message_s = 1.3e-6; // the latter grows with the root of the number of ranks
  constexpr double start_bytes = 36e6, a_rank_bytes = 60e3, a_pair_bytes = 55;
  const auto ranks = static_cast<double>(spec.ranks());
  const double periods = static_cast<double>(std::max<std::int64_t>(1, spec.sync.period));
  const double sums = own_sums + std::ceil(static_cast<double>(std::max<std::int64_t>(1, spec.train.steps)) / periods);
  return {start_s + sums * messages_of_a_sum(spec.sync.allreduce, ranks) * a_message_s * std::sqrt(ranks),
          start_bytes + ranks * (a_rank_bytes + ranks * a_pair_bytes)};
}

} // namespace dt
