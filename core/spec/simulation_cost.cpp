#include "core/spec/simulation_cost.hpp"

#include "core/maths/hierarchical_blocks.hpp"
#include "core/spec/input_shape.hpp"
#include "core/spec/strategy_table.hpp"

#include <algorithm>
#include <cmath>

namespace dt {
namespace {

// Before the first step, one sum measures the communication alone.
constexpr double own_sums = 1;

std::int64_t largest_prime_factor(std::int64_t count)
{
  std::int64_t largest = 1;
  for (std::int64_t factor = 2; factor * factor <= count; ++factor)
    for (; count % factor == 0; count /= factor) largest = factor;
  return count > 1 ? count : largest;
}

// Messages of one sum over P ranks by halving-doubling: from each rank 2 (f - 1) for each prime factor f of P.
double few_messages(double ranks)
{
  double a_rank = 0;
  for (auto rest = std::max<std::int64_t>(1, std::llround(ranks)); rest > 1;) {
    const auto factor = largest_prime_factor(rest);
    a_rank += 2 * static_cast<double>(factor - 1);
    rest /= factor;
  }
  return ranks * std::max(2.0, a_rank);
}

// A ring sends 2 (P - 1) from each rank.
double ring_messages(double ranks) { return ranks * 2 * (ranks - 1); }

// A tree has P - 1 connections. The chunks go over each of them twice: up for the sum, down with the result.
double tree_messages(double ranks) { return simulated_chunks_of_a_vector * 2 * (ranks - 1); }

// The vector that the ranks sum. Of a network that only the engine knows, 100 MB.
std::size_t numbers_of(const RunSpec& spec)
{
  const auto* facts = spec.is_own_program() ? nullptr : find_model_facts(spec.model.name);
  return facts != nullptr ? static_cast<std::size_t>(facts->parameters) : 25'000'000;
}

std::string_view allreduce_of(const SyncSpec& sync)
{
  const auto own = strategy_row(sync.strategy).allreduce;
  return own.empty() ? std::string_view(sync.allreduce) : own;
}

bool is_hierarchical(const RunSpec& spec)
{
  return spec.ranks() > 1 && !is_coded(spec.sync.wire) && allreduce_of(spec.sync) == "hierarchical";
}

// The blocks of a hierarchical sum. With overlap each bucket is a sum of its own.
struct Blocks {
  explicit Blocks(const RunSpec& spec);
  std::size_t count = 1;        // of all buckets
  std::size_t slice_length = 0; // of a usual block: numbers that a rank sums over the nodes
};

Blocks::Blocks(const RunSpec& spec)
{
  const bool is_one_node = spec.resources.nodes == 1;
  const auto ranks_a_node = static_cast<std::size_t>(spec.resources.ranks_per_node);
  const auto length = numbers_of(spec);
  constexpr std::size_t usual_bucket_bytes = 4 << 20; // as in engine/sync/exchange/buckets.cpp
  const auto bucket_bytes = spec.sync.bucket_bytes > 0 ? static_cast<std::size_t>(spec.sync.bucket_bytes) : usual_bucket_bytes;
  const auto bucket =
      spec.sync.progress == ProgressMode::none ? length : std::clamp<std::size_t>(bucket_bytes / sizeof(float), 1, length);
  const auto usual = usual_hierarchical_block(is_one_node, ranks_a_node);
  count = (length + bucket - 1) / bucket *
          hierarchical_blocks(bucket, usual, usual * (is_one_node ? 1 : longest_simulated_block_growth));
  slice_length = std::min(bucket, usual) / ranks_a_node;
}

// Messages of one block. Beside each message ranks sleep until others of their node have written to shared memory, and up to
// three blocks cross at once: together that takes the simulator as long as four messages. On one node there are only the sleeps.
double messages_of_a_block(const RunSpec& spec, std::size_t slice_length)
{
  constexpr double of_a_message = 4, of_a_rank_on_one_node = 4;
  const auto nodes = static_cast<double>(spec.resources.nodes), ranks_a_node = static_cast<double>(spec.resources.ranks_per_node);
  if (spec.resources.nodes == 1) return ranks_a_node * of_a_rank_on_one_node;
  const bool is_flat = spec.platform.nodes_per_supernode == 0 || spec.platform.nodes_per_supernode >= spec.resources.nodes;
  const bool in_ring = is_flat && crosses_in_ring(slice_length, static_cast<std::size_t>(spec.resources.nodes));
  return of_a_message * ranks_a_node * (in_ring ? ring_messages(nodes) : few_messages(nodes));
}

// Messages that all ranks plan at once. `dynamic` counts as a ring: which algorithm it will use is known only after its timings,
// and a ring takes longest to simulate. Coded numbers have as many messages as a ring.
double planned_messages(const RunSpec& spec)
{
  const auto ranks = static_cast<double>(spec.ranks());
  if (is_coded(spec.sync.wire)) return ring_messages(ranks);
  if (is_hierarchical(spec)) return messages_of_a_block(spec, Blocks(spec).slice_length);
  const auto allreduce = allreduce_of(spec.sync);
  if (allreduce == "tree") return tree_messages(ranks);
  return allreduce == "ring" || allreduce == "dynamic" ? ring_messages(ranks) : few_messages(ranks);
}

double messages_of_a_sum(const RunSpec& spec)
{
  return planned_messages(spec) * (is_hierarchical(spec) ? static_cast<double>(Blocks(spec).count) : 1);
}

// Messages with which `dynamic` times its candidates before the first step: three algorithms at ten sizes, and the ring at the
// smallest size and at the largest ones, where it is not hopeless.
double timing_messages(std::string_view allreduce, double ranks)
{
  constexpr double sizes = 10, candidates = 3, sizes_of_a_ring = 5;
  return allreduce == "dynamic" ? sizes * candidates * few_messages(ranks) + sizes_of_a_ring * ring_messages(ranks) : 0;
}

// Sums of a run, with the one that measures the communication alone.
double sums_of(const RunSpec& spec)
{
  const auto& sync = spec.sync;
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, spec.train.steps));
  const auto period = static_cast<double>(std::max<std::int64_t>(1, sync.period));
  const auto of_a_period = static_cast<double>(sync.outer.fragments * std::max<std::int64_t>(1, sync.outer.delay));
  return of_a_period * (own_sums + std::ceil(steps / period));
}

// Bytes of copies that a rank has sent and nobody has received: the simulator copies messages below 64 KiB. Such messages are the
// last ones of a sum that halves its slices.
double copied_bytes(const RunSpec& spec)
{
  constexpr double of_a_sum = 160e3;
  const bool in_blocks = is_hierarchical(spec);
  if (in_blocks && spec.resources.nodes == 1) return 0;
  const double bytes = static_cast<double>((in_blocks ? Blocks(spec).slice_length : numbers_of(spec)) * sizeof(float));
  const auto parts = static_cast<double>(in_blocks ? spec.resources.nodes : spec.ranks());
  return bytes / parts < simulated_eager_bytes ? std::min(bytes, of_a_sum) * (in_blocks ? hierarchical_blocks_at_once : 1) : 0;
}

// Processor time that a sum by halving-doubling takes beside that of its messages. A rank has a message for each of f - 1 others
// under way at once, where f is the largest prime factor of the ranks. SimGrid searches a rank's long messages one by one, and
// all ranks' short ones in one list (docs/design/simulation.md).
double searched_s(double ranks, double length)
{
  constexpr double a_long_message_s = 0.25e-6, a_short_message_s = 12e-9;
  const double others = static_cast<double>(largest_prime_factor(std::llround(ranks)) - 1), under_way = ranks * others;
  if (others < 2) return 0;
  const bool is_short = length * sizeof(float) / ranks < simulated_eager_bytes;
  return is_short ? 2 * under_way * under_way * a_short_message_s : 2 * under_way * others * a_long_message_s;
}

// The same time for all sums of a run.
double searched_s(const RunSpec& spec)
{
  const auto allreduce = allreduce_of(spec.sync);
  if (is_coded(spec.sync.wire)) return 0;
  if (!is_hierarchical(spec))
    return allreduce == "halving-doubling" || allreduce == "topology-aware"
               ? sums_of(spec) * searched_s(static_cast<double>(spec.ranks()), static_cast<double>(numbers_of(spec)))
               : 0;
  const Blocks blocks(spec);
  const auto nodes = spec.resources.nodes;
  if (nodes == 1 || crosses_in_ring(blocks.slice_length, static_cast<std::size_t>(nodes))) return 0;
  return sums_of(spec) * static_cast<double>(blocks.count) * static_cast<double>(spec.resources.ranks_per_node) *
         searched_s(static_cast<double>(nodes), static_cast<double>(blocks.slice_length));
}

} // namespace

SimulationCost simulation_cost(const RunSpec& spec)
{
  // Fitted to dtsim allreduce with 64 to 4,096 ranks and to dtsim run with 8 to 16,384 (docs/design/simulation.md). A message's
  // time grows with the root of the number of ranks, because their memory fits less and less into the processor's caches.
  constexpr double start_s = 0.1, a_rank_s = 2e-3, a_message_s = 1.2e-6;
  constexpr double start_bytes = 66e6, a_rank_bytes = 60e3, a_pair_bytes = 12;
  constexpr double a_planned_message_bytes = 200, planned_lengths = 5; // the latter where `dynamic` times a ring
  const auto ranks = static_cast<double>(spec.ranks());
  const double messages = sums_of(spec) * messages_of_a_sum(spec) + timing_messages(allreduce_of(spec.sync), ranks);
  const double lengths = allreduce_of(spec.sync) == "dynamic" ? planned_lengths : 1;
  return {start_s + ranks * a_rank_s + messages * a_message_s * std::sqrt(ranks) + searched_s(spec),
          start_bytes + ranks * (a_rank_bytes + copied_bytes(spec) + ranks * a_pair_bytes) +
              lengths * a_planned_message_bytes * planned_messages(spec)};
}

} // namespace dt
