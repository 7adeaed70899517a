// A replica of many tensors of different sizes with padding between them, whose gradients differ by rank, step and place.
#pragma once

#include "engine/sync/exchange/node_step.hpp"
#include "engine/sync/replica.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace dt::sync::test {

// g = (w - target) / 4, target by rank, step and place; plain SGD, or momentum 0.5. Loss: rank + step / 8, of rank + 1 samples.
class ManyTensors : public Replica, private NodeSlices {
 public:
  explicit ManyTensors(int rank, float momentum = 0, bool padding = true) : rank_(rank), momentum_(momentum)
  {
    std::size_t offset = 0;
    for (const std::size_t size : sizes) {
      tensors_.push_back({offset, offset + size});
      offset += padding ? (size + 15) / 16 * 16 : size;
    }
    own_.resize(3 * offset);
    weights_ = std::span(own_).first(offset);
    gradients_ = std::span(own_).subspan(offset, offset);
    velocity_ = std::span(own_).last(offset);
    for (std::size_t i = 0; i < offset; ++i) weights_[i] = is_padding(i) ? 0 : static_cast<float>(i % 13) - 6;
  }
  ManyTensors(const ManyTensors&) = delete;
  ManyTensors(ManyTensors&&) = default;
  // Moves weights, velocity and gradients to memory that the ranks of a node share, with two common vectors.
  void live_in(comm::SharedVectors& memory)
  {
    std::copy(weights_.begin(), weights_.end(), memory.common(0).begin());
    weights_ = memory.common(0);
    velocity_ = memory.common(1);
    gradients_ = memory.own();
    memory_ = &memory;
  }
  // Null: they do not live there.
  NodeSlices* node_slices() { return memory_ != nullptr ? this : nullptr; }
  std::span<float> weights() override { return weights_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<const Range> tensors() override { return tensors_; }
  using Replica::compute;
  BatchLoss compute(GradientListener* listener) override
  {
    std::fill(gradients_.begin(), gradients_.end(), std::numeric_limits<float>::quiet_NaN()); // what is sent too early shows
    for (std::size_t i = 0; i < gradients_.size(); ++i)
      if (is_padding(i)) gradients_[i] = 0;
    for (auto tensor = tensors_.rbegin(); tensor != tensors_.rend(); ++tensor) {
      for (std::size_t i = tensor->begin; i < tensor->end; ++i) gradients_[i] = (weights_[i] - target(i)) / 4;
      if (listener != nullptr) listener->gradients_ready(*tensor);
    }
    return {rank_ + static_cast<double>(number) / 8, rank_ + 1};
  }
  using Replica::update;
  void update(Range range, float gradient_factor) override { rule(range, weights_, gradients_, rate * gradient_factor); }
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) override
  {
    rule(range, weights, gradients, static_cast<float>(learning_rate));
  }
  // 4 steps an epoch.
  Step step() const override { return {number, static_cast<double>(rate), static_cast<double>(number - 1) / 4}; }

  std::vector<float> velocity() const { return {velocity_.begin(), velocity_.end()}; }
  void set_velocity(const std::vector<float>& values) { std::copy(values.begin(), values.end(), velocity_.begin()); }
  std::int64_t number = 1; // of the step in progress
  static constexpr float rate = 0.25F;
  static constexpr std::array<std::size_t, 12> sizes{5, 64, 1000, 16, 33, 1, 300, 2048, 7, 120, 31, 10};

 private:
  comm::SharedVectors& memory() override { return *memory_; }
  void update_slice(std::size_t begin, std::span<const float> sums, float factor) override
  {
    const Range slice{begin, begin + sums.size()};
    step_rule(values_at(velocity_, slice), values_at(weights_, slice), sums, rate * factor);
  }
  bool is_padding(std::size_t i) const
  {
    return std::none_of(tensors_.begin(), tensors_.end(), [i](Range tensor) { return tensor.contains(i); });
  }
  float target(std::size_t i) const
  {
    const auto mixed = (static_cast<std::uint64_t>(i) * 2654435761U + static_cast<std::uint64_t>(number) * 40503U +
                        static_cast<std::uint64_t>(rank_) * 69069U) %
                       1009;
    return static_cast<float>(mixed) / 100;
  }
  void rule(Range range, std::span<float> weights, std::span<const float> gradients, float learning_rate)
  {
    step_rule(values_at(velocity_, range), values_at(weights, range), values_at(gradients, range), learning_rate);
  }
  void step_rule(std::span<float> velocity, std::span<float> weights, std::span<const float> gradients, float learning_rate) const
  {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      velocity[i] = momentum_ * velocity[i] + learning_rate * gradients[i];
      weights[i] -= velocity[i];
    }
  }
  int rank_;
  float momentum_;
  std::vector<Range> tensors_;
  std::vector<float> own_; // weights, gradients and velocity, if they are not in shared memory
  std::span<float> weights_, gradients_, velocity_;
  comm::SharedVectors* memory_ = nullptr;
};

} // namespace dt::sync::test
