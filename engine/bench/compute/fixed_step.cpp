#include "engine/bench/compute/fixed_step.hpp"

#include "core/memory.hpp"
#include "engine/nn/models/model_registry.hpp"
#include "engine/train/loop/network_replica.hpp"

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
  const auto [image, classes] = nn::natural_input(options.model);
  options.image = image;
  options.classes = classes;
  const auto images = static_cast<std::int64_t>(sizeof(float)) * options.batch * image.size();
  const auto available = machine_memory().available;
  if (available > 0) options.memory_limit_bytes = std::max<std::int64_t>(1, available - images);
  return options;
}

FixedStep::FixedStep(const nn::NetworkOptions& options, BenchRanks* ranks)
    : build_begin_s_(comm::monotonic_s()), network_(options), build_s_(comm::monotonic_s() - build_begin_s_),
      images_(normal_numbers(options.batch * options.image.size())), labels_(labels_in_turn(options.batch, options.classes)),
      optimizer_(optim::make_optimizer({.name = "momentum"}, network_.weights().size(), train::segments_of(network_))),
      ranks_(ranks), learning_rate_(options.model == "lenet" ? 0.01 : 0.001)
{
}

FixedStep::Took FixedStep::run()
{
  const double begin_s = comm::monotonic_s();
  nn::ComputeTimes passes;
  const double loss = network_.forward_backward(images_, labels_, &passes);
  if (ranks_ != nullptr) ranks_->sum(network_.gradients());
  const double update_s = comm::monotonic_s();
  update(ranks_ == nullptr ? 1.0F : 1.0F / static_cast<float>(ranks_->size()));
  const double end_s = comm::monotonic_s();
  return {end_s - begin_s, passes, end_s - update_s, loss};
}

StepProfile FixedStep::profile()
{
  const double begin_s = comm::monotonic_s();
  StepProfile step{network_.profile(images_, labels_)};
  update(1);
  step.step_s = comm::monotonic_s() - begin_s;
  return step;
}

void FixedStep::update(float gradient_factor)
{
  optimizer_->step(network_.weights(), network_.gradients(), learning_rate_, {{0, network_.weights().size()}, gradient_factor});
}

int FixedStep::warmup_steps() const { return is_small(network_.options()) ? 20 : 2; }

} // namespace dt::bench
