// Elementwise operations on whole activations. They work in any layout, if all memories have the same one.
#pragma once

#include "engine/nn/kernels/operation.hpp"

#include <cstdint>
#include <vector>

namespace dt::nn {

// `to` = sum of the parts; `to` may be one of them. All must have the same descriptor.
Operation sum_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory& to);
// Gradient of max(x, 0): the sum of the parts where `result` > 0, otherwise 0.
Operation relu_gradient_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory& result,
                                  const dnnl::memory& to);
// `to` = max(from, 0); `to` may be `from`.
Operation relu_operation(OperationLabel label, const dnnl::memory& from, const dnnl::memory& to);

// `to` = from / (1 - rate) where the place's random number is at least `rate`, otherwise 0. The random numbers are a pure
// function of key, pass and place, so that the gradient uses the same ones.
struct DropoutDraws {
  const std::uint64_t* pass = nullptr;
  std::uint64_t key = 0;
  double rate = 0.5;
};
Operation dropout_operation(OperationLabel label, const dnnl::memory& from, const dnnl::memory& to, const DropoutDraws& draws);

} // namespace dt::nn
