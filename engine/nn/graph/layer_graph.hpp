// LayerGraph: the layers that compute a model, with its tensors, before memory and operations are planned.
#pragma once

#include "engine/model/model.hpp"
#include "engine/nn/layers/layer.hpp"

#include <memory>
#include <vector>

namespace dt::nn {

// The layers are in an order in which every input exists before it is read.
struct LayerGraph {
  std::vector<std::unique_ptr<Layer>> layers;
  std::size_t tensors = 0;
  Tensor input, logits;
  std::vector<model::AuxiliaryLogits> auxiliary{};

  // For each tensor: how many layers read it; a loss counts as one.
  std::vector<int> uses() const;
  // For each layer: whether the logits depend on it. An evaluation needs only these layers.
  std::vector<bool> needed_for_logits() const;
};

// Fuses layers where one pass can do the work of two or three, with exactly the same result:
//   a convolution or inner product with the ReLU after it (the ReLU keeps its backward pass);
//   a ReLU and the max pooling after it swap places, so that the ReLU's backward pass has fewer elements;
//   a batch norm, the addition of a shortcut after it, and the ReLU after that.
void fuse(LayerGraph& graph);

} // namespace dt::nn
