#include "engine/train/step/network_options.hpp"

#include "core/error.hpp"
#include "core/machine/memory.hpp"
#include "core/spec/optimizer_table.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/units.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::train {
namespace {

std::string in_words(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

// Number of buffers as large as the weights that the run needs besides weights and gradients.
std::int64_t buffers_beside(const RunSpec& spec)
{
  const std::int64_t of_rule = optimizer_row(spec.optimizer.name).buffers;
  const auto& strategy = strategy_row(spec.sync.strategy);
  std::int64_t of_strategy = strategy.is_elastic || strategy.has_outer_rule ? 2 : 0; // centre and differences
  if (strategy.has_outer_rule) of_strategy += outer_buffers(spec.sync.outer.rule);
  return of_rule + of_strategy + (spec.train.accumulation > 1 ? 1 : 0);
}

} // namespace

nn::NetworkOptions network_options(const RunSpec& spec, const data::Source& source, std::int64_t micro_batch, int rank)
{
  const auto seed = static_cast<std::uint64_t>(spec.train.seed);
  constexpr int rank_bits = 24;
  return {.model = spec.model.name,
          .layers = spec.model.layers,
          .image = {source.channels(), source.height(), source.width()},
          .classes = source.classes(),
          .batch = micro_batch,
          .threads = static_cast<int>(spec.resources.threads_per_rank),
          .seed = seed,
          .precision = spec.train.precision,
          .winograd = spec.train.winograd,
          .reference = spec.engine == Engine::reference,
          .dropout = spec.model.dropout,
          .dropout_seed = (seed << rank_bits) + static_cast<std::uint64_t>(rank),
          .label_smoothing = spec.train.label_smoothing};
}

std::int64_t memory_share(comm::Communicator& comm, const comm::Topology& topology)
{
  const auto own = topology.node[static_cast<std::size_t>(comm.rank())];
  const auto ranks = std::count(topology.node.begin(), topology.node.end(), own);
  const auto share = machine_memory().available / ranks;
  comm.barrier();
  return share;
}

void require_memory_beside(const RunSpec& spec, const nn::Network& network)
{
  const auto& options = network.options();
  const auto& need = network.memory();
  const auto beside = buffers_beside(spec) * need.parameters / 2;
  if (options.memory_limit_bytes == 0 || need.total() + beside <= options.memory_limit_bytes) return;
  throw Error(
      ErrorKind::recipe,
      fmt::format("Model {} with batches of {} needs {} on each rank, and optimizer {} with strategy {} {} more, but {} are "
                  "free for it. Take a smaller train.batch_per_rank (train.accumulation splits it), or an optimizer that "
                  "keeps less.",
                  options.model, options.batch, in_words(need.total()), spec.optimizer.name, spec.sync.strategy, in_words(beside),
                  in_words(options.memory_limit_bytes)));
}

std::string describe(const nn::Network& network)
{
  const auto& need = network.memory();
  return fmt::format("{} reorders a step; {} for weights and gradients, {} for activations ({} if none shared memory)",
                     network.reorders(), in_words(need.parameters), in_words(need.activations), in_words(need.unshared));
}

} // namespace dt::train
