#include "engine/bench/compute/fixed_step.hpp"

#include "core/machine/memory.hpp"
#include "engine/model/models/registry.hpp"
#include "engine/sync/exchange/node_step.hpp"
#include "engine/train/step/network_replica.hpp"

#include <algorithm>
#include <random>

namespace dt::bench {
namespace {

std::vector<float> normal_numbers(std::int64_t size)
{
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(size));
  for (auto& value : values) value = normal(generator);
  return values;
}

std::vector<std::int32_t> labels_in_turn(std::int64_t samples, std::int64_t classes)
{
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(static_cast<std::int32_t>(i % classes));
  return labels;
}

bool is_small(const nn::NetworkOptions& options) { return options.image.size() < 10'000; }

} // namespace

nn::NetworkOptions natural_options(nn::NetworkOptions options)
{
  const auto [image, classes] = model::natural_input(options.model);
  options.image = image;
  options.classes = classes;
  const auto images = static_cast<std::int64_t>(sizeof(float)) * options.batch * image.size();
  const auto available = machine_memory().available;
  if (available > 0) options.memory_limit_bytes = std::max<std::int64_t>(1, available - images);
  return options;
}

FixedStep::FixedStep(const nn::NetworkOptions& options, BenchRanks* ranks)
    : ranks_(ranks), build_begin_s_(comm::monotonic_s()), network_(options, parameter_memory()),
      build_s_(comm::monotonic_s() - build_begin_s_), images_(normal_numbers(options.batch * options.image.size())),
      labels_(labels_in_turn(options.batch, options.classes)), optimizer_(make_optimizer()),
      learning_rate_(options.model == "lenet" ? 0.01 : 0.001)
{
}

FixedStep::Took FixedStep::run()
{
  const double begin_s = comm::monotonic_s();
  nn::ComputeTimes passes;
  const double loss = network_.forward_backward(images_, labels_, &passes);
  const double update_s = sum_and_update();
  return {comm::monotonic_s() - begin_s, passes, update_s, loss};
}

// Returns the seconds of the update.
double FixedStep::sum_and_update()
{
  const float factor = ranks_ == nullptr ? 1.0F : 1.0F / static_cast<float>(ranks_->size());
  if (!node_memory_ && ranks_ != nullptr) ranks_->sum(network_.gradients());
  if (node_memory_) node_memory_->meet();
  const double begin_s = comm::monotonic_s();
  update(factor);
  const double update_s = comm::monotonic_s() - begin_s;
  if (node_memory_) node_memory_->meet();
  return update_s;
}

nn::ParameterMemory FixedStep::parameter_memory()
{
  if (ranks_ == nullptr || !ranks_->share_weights()) return {};
  return [this](std::int64_t bytes) {
    node_memory_ = ranks_->make_vectors({.length = static_cast<std::size_t>(bytes) / sizeof(float), .common = 2});
    return nn::ParameterBuffers{node_memory_->common(0), node_memory_->own()};
  };
}

std::unique_ptr<optim::Optimizer> FixedStep::make_optimizer()
{
  auto optimizer = optim::make_optimizer({.name = "momentum"}, network_.weights().size(), train::segments_of(network_));
  if (node_memory_) optimizer->elementwise()->keep_buffers_in(node_memory_->commons().subspan(1));
  return optimizer;
}

StepProfile FixedStep::profile()
{
  const double begin_s = comm::monotonic_s();
  StepProfile step{network_.profile(images_, labels_)};
  if (node_memory_)
    sum_and_update();
  else
    update(1);
  step.step_s = comm::monotonic_s() - begin_s;
  return step;
}

void FixedStep::update(float gradient_factor)
{
  if (node_memory_) {
    auto& rule = *optimizer_->elementwise();
    rule.begin_slices();
    return sync::sum_own_slice(*node_memory_, [&](std::size_t begin, std::span<const float> sums) {
      rule.step_slice(network_.weights(), begin, sums, learning_rate_, gradient_factor);
    });
  }
  optimizer_->step(network_.weights(), network_.gradients(), learning_rate_, {{0, network_.weights().size()}, gradient_factor});
}

int FixedStep::warmup_steps() const { return is_small(network_.options()) ? 20 : 2; }

} // namespace dt::bench
