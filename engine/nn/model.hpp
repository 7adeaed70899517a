// Model: a described network, layer by layer, before anything of it is planned.
#pragma once

#include "engine/nn/layer.hpp"

#include <memory>
#include <vector>

namespace dt::engine {

// Logits beside the model's own whose loss counts so much in training.
struct AuxiliaryLogits {
  Tensor logits;
  double weight = 0;
};

// Layers in an order in which every input exists.
struct Model {
  std::vector<std::unique_ptr<Layer>> layers;
  std::size_t tensors = 0;
  Tensor input, logits;
  std::vector<AuxiliaryLogits> auxiliary{};

  // By tensor: how many layers read it; a loss counts as one.
  std::vector<int> uses() const;
  // By layer: whether the logits depend on it. An evaluation needs no others.
  std::vector<bool> needed_for_logits() const;
};

// Joins layers where one pass does the work of two or three, with exactly the same result:
//   a convolution or inner product and the ReLU behind it (the ReLU keeps its backward pass);
//   a ReLU and the max pooling behind it change places: the ReLU's backward has only the winners to look at;
//   a batch norm, the sum with a shortcut behind it, and the ReLU behind that.
void fuse(Model& model);

} // namespace dt::engine
