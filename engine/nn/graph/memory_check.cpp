#include "engine/nn/graph/memory_check.hpp"

#include "core/error.hpp"
#include "core/units.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::nn {
namespace {

std::string in_words(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

// Activations grow with the batch; parameters do not.
std::string advice(const NetworkOptions& options, const MemoryNeed& need)
{
  const auto left = options.memory_limit_bytes - need.parameters;
  const auto fits = left <= 0 ? 0
                              : static_cast<std::int64_t>(static_cast<double>(left) / static_cast<double>(need.activations) *
                                                          static_cast<double>(options.batch));
  if (fits < 1) return "Not even one sample fits: run on a machine with more memory, or with fewer ranks on it.";
  return fmt::format(
      "A batch of at most about {} samples a rank fits (train.batch_per_rank; train.accumulation splits a batch without "
      "changing the training).",
      fits);
}

} // namespace

MemoryNeed least_need(const LayerGraph& graph, const NetworkOptions& options)
{
  const std::int64_t bytes = options.precision == Precision::bf16 ? 2 : 4;
  MemoryNeed need;
  for (const auto& layer : graph.layers) {
    need.activations =
        std::max(need.activations, bytes * options.batch * (layer->input().shape.size() + layer->output().shape.size()));
    need.parameters += layer->description().parameters() * static_cast<std::int64_t>(2 * sizeof(float));
  }
  return need;
}

void require_memory(const NetworkOptions& options, const MemoryNeed& need)
{
  if (options.memory_limit_bytes == 0 || need.total() <= options.memory_limit_bytes) return;
  throw Error(
      ErrorKind::recipe,
      fmt::format("Model {} with batches of {} needs {} on each rank ({} for weights and gradients, {} for activations), but "
                  "{} are free for it. {}",
                  options.model, options.batch, in_words(need.total()), in_words(need.parameters), in_words(need.activations),
                  in_words(options.memory_limit_bytes), advice(options, need)));
}

} // namespace dt::nn
