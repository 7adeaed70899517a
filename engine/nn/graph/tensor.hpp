// Tensor: a value that flows between layers in a model's description.
#pragma once

#include "engine/nn/graph/shape.hpp"

#include <cstddef>

namespace dt::nn {

struct Tensor {
  std::size_t id = 0; // unique within its model
  Shape shape;
};

} // namespace dt::nn
