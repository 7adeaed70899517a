#include "core/spec/simulation_cost.hpp"

#include <algorithm>
#include <cmath>

namespace dt {
namespace {

// Before the first step, one sum measures the communication alone.
constexpr double own_sums = 1;

// Messages of one sum over P ranks by an algorithm with few rounds: 2 log2 P from each rank.
double few_messages(double ranks) { return ranks * 2 * std::ceil(std::log2(std::max(2.0, ranks))); }

// A ring sends 2 (P - 1) from each rank.
double ring_messages(double ranks) { return ranks * 2 * (ranks - 1); }

// A tree has P - 1 connections. The chunks go over each of them twice: up for the sum, down with the result.
double tree_messages(double ranks) { return chunks_of_whole_vector * 2 * (ranks - 1); }

// Messages of one sum. `dynamic` counts as a ring: which algorithm it will use is known only after its timings, and a ring takes
// longest to simulate. Coded numbers have as many messages as a ring.
double messages_of_a_sum(const SyncSpec& sync, double ranks)
{
  const auto& allreduce = sync.allreduce;
  if (is_coded(sync.wire)) return ring_messages(ranks);
  if (allreduce == "tree") return tree_messages(ranks);
  return allreduce == "ring" || allreduce == "dynamic" ? ring_messages(ranks) : few_messages(ranks);
}

// Messages with which `dynamic` times its candidates before the first step: three algorithms at ten sizes, and the ring at the
// smallest size and at the largest ones, where it is not hopeless.
double timing_messages(const std::string& allreduce, double ranks)
{
  constexpr double sizes = 10, candidates = 3, sizes_of_a_ring = 5;
  return allreduce == "dynamic" ? sizes * candidates * few_messages(ranks) + sizes_of_a_ring * ring_messages(ranks) : 0;
}

} // namespace

SimulationCost simulation_cost(const RunSpec& spec)
{
  // Fitted to dtsim allreduce with 64 to 4,096 ranks and to dtsim run with 8 to 512 (docs/design/simulation.md). A message's
  // time grows with the root of the number of ranks, because their memory fits less and less into the processor's caches.
  constexpr double start_s = 0.1, a_rank_s = 2e-3, a_message_s = 1.2e-6;
  constexpr double start_bytes = 66e6, a_rank_bytes = 60e3, a_pair_bytes = 55;
  constexpr double a_planned_message_bytes = 200, planned_lengths = 5; // the latter where `dynamic` times a ring
  const auto ranks = static_cast<double>(spec.ranks());
  const double period = static_cast<double>(std::max<std::int64_t>(1, spec.sync.period));
  const double of_a_period = static_cast<double>(spec.sync.outer.fragments * std::max<std::int64_t>(1, spec.sync.outer.delay));
  const double sums =
      of_a_period * (own_sums + std::ceil(static_cast<double>(std::max<std::int64_t>(1, spec.train.steps)) / period));
  const double messages = sums * messages_of_a_sum(spec.sync, ranks) + timing_messages(spec.sync.allreduce, ranks);
  const double lengths = spec.sync.allreduce == "dynamic" ? planned_lengths : 1;
  return {start_s + ranks * a_rank_s + messages * a_message_s * std::sqrt(ranks),
          start_bytes + ranks * (a_rank_bytes + ranks * a_pair_bytes) +
              lengths * a_planned_message_bytes * messages_of_a_sum(spec.sync, ranks)};
}

} // namespace dt
