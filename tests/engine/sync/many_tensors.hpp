// A replica of many tensors of different sizes with padding between them, whose gradients differ by rank, step and place.
#pragma once

#include "engine/sync/replica.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace dt::sync::test {

// g = (w - target) / 4, target by rank, step and place; plain SGD, or momentum 0.5. Loss: rank + step / 8, of rank + 1 samples.
class ManyTensors : public Replica {
 public:
  explicit ManyTensors(int rank, float momentum = 0, bool padding = true) : rank_(rank), momentum_(momentum)
  {
    std::size_t offset = 0;
    for (const std::size_t size : {5, 64, 1000, 16, 33, 1, 300, 2048, 7, 120, 31, 10}) {
      tensors_.push_back({offset, offset + size});
      offset += padding ? (size + 15) / 16 * 16 : size;
    }
    weights_.resize(offset);
    gradients_.resize(offset);
    velocity_.resize(offset);
    for (std::size_t i = 0; i < offset; ++i) weights_[i] = is_padding(i) ? 0 : static_cast<float>(i % 13) - 6;
  }
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
  std::int64_t step() const override { return number; }
  double learning_rate() const override { return static_cast<double>(rate); }
  double epoch() const override { return static_cast<double>(number - 1) / 4; } // 4 steps an epoch

  std::vector<float> velocity() const { return velocity_; }
  void set_velocity(const std::vector<float>& values) { velocity_ = values; }
  std::int64_t number = 1; // of the step in progress
  static constexpr float rate = 0.25F;

 private:
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
    for (std::size_t i = range.begin; i < range.end; ++i) {
      velocity_[i] = momentum_ * velocity_[i] + learning_rate * gradients[i];
      weights[i] -= velocity_[i];
    }
  }
  int rank_;
  float momentum_;
  std::vector<Range> tensors_;
  std::vector<float> weights_, gradients_, velocity_;
};

} // namespace dt::sync::test
