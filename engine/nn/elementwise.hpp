// Operations on whole activations, number by number, whatever their layout: it must only be one for all of them.
#pragma once

#include "engine/nn/operation.hpp"

#include <cstdint>
#include <vector>

namespace dt::engine {

// `to` = sum of the parts; it may be one of them. All of one descriptor.
Operation sum_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory& to);
// The gradient of max(x, 0): the sum of the parts where `result` > 0, else 0.
Operation relu_gradient_operation(OperationLabel label, const std::vector<dnnl::memory>& parts, const dnnl::memory& result,
                                  const dnnl::memory& to);
// `to` = max(from, 0); it may be `from`.
Operation relu_operation(OperationLabel label, const dnnl::memory& from, const dnnl::memory& to);

// `to` = from / (1 - rate) where the number drawn for a place is at least `rate`, else 0. Draws are a pure function of key, pass and
// place, so that the gradient takes the same ones.
struct DropoutDraws {
  const std::uint64_t* pass = nullptr;
  std::uint64_t key = 0;
  double rate = 0.5;
};
Operation dropout_operation(OperationLabel label, const dnnl::memory& from, const dnnl::memory& to, const DropoutDraws& draws);

} // namespace dt::engine
