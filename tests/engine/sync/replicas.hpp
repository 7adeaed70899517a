// Replicas small enough to calculate by hand, and a diary of phases.
#pragma once

#include "engine/sync/strategy.hpp"

#include <array>
#include <string>
#include <vector>

namespace dt::sync::test {

inline constexpr float learning_rate = 0.5F;

// f(w) = w . g with g = slope everywhere, and plain SGD. Two tensors of 40 and 60 floats.
class LinearReplica : public Replica {
 public:
  LinearReplica(float start, float slope, BatchLoss loss, double rate = test::learning_rate)
      : weights_(100, start), gradients_(100), slope_(slope), loss_(loss), rate_(rate)
  {
  }
  std::span<float> weights() override { return weights_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<const Range> tensors() override { return tensors_; }
  using Replica::compute;
  BatchLoss compute(GradientListener* listener) override
  {
    gradients_.assign(gradients_.size(), slope_);
    if (listener != nullptr)
      for (auto tensor = tensors_.rbegin(); tensor != tensors_.rend(); ++tensor) listener->gradients_ready(*tensor);
    return loss_;
  }
  using Replica::update;
  void update(Range range, float gradient_factor) override
  {
    apply(range, weights_, gradients_, rate_ * static_cast<double>(gradient_factor));
  }
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double rate) override
  {
    for (std::size_t i = range.begin; i < range.end; ++i) weights[i] -= static_cast<float>(rate) * gradients[i];
  }
  Step step() const override { return {number, rate_, 0}; }
  std::int64_t number = 1; // of the step in progress

 private:
  static constexpr std::array<Range, 2> tensors_{Range{0, 40}, Range{40, 100}};
  std::vector<float> weights_, gradients_;
  float slope_;
  BatchLoss loss_;
  double rate_;
};

class Diary : public PhaseClock {
 public:
  void begin_communication() override { text += "[c"; }
  void end_communication() override { text += "c]"; }
  void begin_update() override { text += "[u"; }
  void end_update() override { text += "u]"; }
  std::string text;
};

// A strategy over all ranks of comm, with everyone on one node if no nodes are given.
inline std::unique_ptr<Strategy> make(const SyncSpec& sync, comm::Communicator& comm, NodeSlices* node_slices = nullptr,
                                      const std::vector<int>& nodes = {})
{
  RunSpec spec;
  spec.sync = sync;
  spec.resources.oversubscribe = true;
  auto parts = make_parts(spec, comm, {});
  parts.node_slices = node_slices;
  if (!nodes.empty()) parts.topology.node = nodes;
  return make_strategy(parts);
}

} // namespace dt::sync::test
