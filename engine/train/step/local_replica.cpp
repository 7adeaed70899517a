#include "engine/train/step/local_replica.hpp"

#include "core/error.hpp"
#include "core/maths/random.hpp"
#include "core/maths/statistics.hpp"
#include "core/record/field.hpp"
#include "core/spec/optimizer_table.hpp"
#include "core/spec/strategy_table.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/sync/exchange/node_step.hpp"
#include "engine/train/step/modelled_pass.hpp"
#include "engine/train/step/network_options.hpp"

#include <algorithm>

namespace dt::train {
namespace {

data::BatchLoader::Options loader_options(const LocalReplica::Parts& parts, std::int64_t steps_done)
{
  // A server has no batches: it never requests one, so nothing is read ahead.
  const auto& roles = parts.sync.roles;
  const bool serves = roles.is_server;
  return {.batch_per_rank = parts.plan.batch_per_rank,
          .rank = serves ? 0 : roles.index,
          .ranks = static_cast<int>(roles.workers.size()),
          .shuffle = parts.spec.data.shuffle,
          .order = parts.spec.data.order,
          .block_bytes = parts.spec.data.block_bytes,
          .seed = parts.spec.train.seed,
          .prefetch = serves ? 0 : parts.spec.data.prefetch_batches,
          .threads = std::max<std::int64_t>(1, parts.spec.data.decode_threads),
          .first_step = steps_done};
}

} // namespace

LocalReplica::LocalReplica(const Parts& parts, std::int64_t steps_done)
    : comm_(parts.sync.comm), accumulation_(parts.spec.train.accumulation),
      modelled_pass_s_(
          parts.spec.train.modelled_rate > 0 ? static_cast<double>(parts.plan.micro_batch) / parts.spec.train.modelled_rate : 0),
      timer_(parts.timer), network_(own_network_options(parts), parameter_memory(parts)),
      loader_(parts.source, loader_options(parts, steps_done)), optimizer_(make_optimizer(parts.spec)),
      replica_({network_, loader_, *optimizer_, timer_, parts.spec.train.accumulation, parts.spec.train.loss_scale,
                parts.spec.train.modelled_rate, parts.sync.roles.workers.size() == 1 ? parts.spec.train.noise_scale : 0,
                node_memory_.get()})
{
}

// Weights and the rule's buffers become the common vectors of the node's ranks, gradients each rank's own. All ranks write the
// same initial weights.
nn::ParameterMemory LocalReplica::parameter_memory(const Parts& parts)
{
  if (!sync::shares_weights(parts.spec, parts.sync)) return {};
  const auto common = 1 + static_cast<std::size_t>(optimizer_row(parts.spec.optimizer.name).buffers);
  return [this, common](std::int64_t bytes) {
    const auto floats = static_cast<std::size_t>(bytes) / sizeof(float);
    node_memory_ = std::make_unique<comm::SharedVectors>(comm_, comm::SharedVectors::Shape{floats, common});
    return nn::ParameterBuffers{node_memory_->common(0), node_memory_->own()};
  };
}

std::unique_ptr<optim::Optimizer> LocalReplica::make_optimizer(const RunSpec& spec)
{
  if (const auto misfit = optimizer_misfit(spec.sync.strategy, spec.optimizer.name))
    throw Error(ErrorKind::recipe, *misfit + ".");
  require_memory_beside(spec, network_);
  auto optimizer = optim::make_optimizer(spec.optimizer, network_.weights().size(), segments_of(network_, spec.optimizer),
                                         optim::velocity_of(spec.sync.strategy));
  if (node_memory_) optimizer->elementwise()->keep_buffers_in(node_memory_->commons().subspan(1));
  return optimizer;
}

nn::NetworkOptions LocalReplica::own_network_options(const Parts& parts)
{
  auto options = network_options(parts.spec, parts.source, parts.plan.micro_batch, comm_.rank());
  options.algorithms = parts.algorithms;
  options.memory_limit_bytes = memory_share(comm_, parts.sync.topology);
  if (parts.spec.model.batch_norm == BatchNormSamples::synchronized && comm_.size() > 1) {
    statistics_sum_ = comm::make_allreduce({.topology = parts.sync.topology}, comm_);
    options.synchronize = [this](std::span<float> values) { take_mean(values); };
  }
  return options;
}

double LocalReplica::lone_compute_s()
{
  if (network_.options().synchronize) return not_measured;
  comm_.barrier();
  const double pass_s = comm_.is_root() ? median_pass_s() : not_measured;
  comm_.sleeping_barrier();
  return pass_s * static_cast<double>(accumulation_);
}

double LocalReplica::median_pass_s()
{
  constexpr std::size_t most_passes = 5;
  constexpr double enough_s = 1;
  const auto& options = network_.options();
  std::vector<float> images(static_cast<std::size_t>(options.batch * options.image.size()));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(options.batch));
  Random random(1);
  for (auto& value : images) value = static_cast<float>(random.unit());
  for (auto& label : labels) label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(options.classes)));
  std::vector<double> times;
  double total_s = 0;
  while (times.size() < most_passes && total_s < enough_s) {
    const double begin_s = comm::monotonic_s();
    network_.forward_backward(images, labels);
    ModelledPass(begin_s, modelled_pass_s_).sleep_until_end();
    times.push_back(comm::monotonic_s() - begin_s);
    total_s += times.back();
  }
  return median(times);
}

// Packed gradients with different layouts cannot be summed.
void LocalReplica::require_equal_layouts() const
{
  if (!comm_.all_equal(network_.layout()))
    throw Error(ErrorKind::environment,
                "The ranks hold their weights in different layouts, because their processors differ. Run on nodes "
                "of one kind (resources.constraint).");
}

// Averages batch norm's sums over the ranks, in the middle of a pass. Collective.
void LocalReplica::take_mean(std::span<float> values)
{
  timer_.begin_communication();
  statistics_sum_->sum(values);
  for (auto& value : values) value /= static_cast<float>(comm_.size());
  timer_.end_communication();
}

} // namespace dt::train
