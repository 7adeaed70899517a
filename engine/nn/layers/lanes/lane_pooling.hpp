// LanePooling: pooling in image lanes.
#pragma once

#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/layers/pooling.hpp"

namespace dt::nn {

class LanePooling final : public Pooling {
 public:
  using Pooling::Pooling;
  // A winner's place in its window is stored in a byte.
  static bool supports(std::int64_t kernel) { return kernel <= 16; }
  void plan_forward(Plan& plan) override;
  void plan_backward(Plan& plan) override;

 private:
  PoolingWindows windows() const;
  InstructionSet set_ = best_instruction_set();
  dnnl::memory winners_;
};

} // namespace dt::nn
