// Model: the layers of a network and the tensors between them: one description for all that compute, count or simulate it. Needs
// no library.
#pragma once

#include "engine/model/layer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::model {

// Additional logits whose loss counts in training with this weight.
struct AuxiliaryLogits {
  Tensor logits;
  double weight = 0;
};

struct ModelTotals {
  std::int64_t parameters = 0;
  double forward_flops = 0; // per sample
  double step_flops = 0;    // per sample: forward, backward to the data, and backward to the weights
};

// The layers are in an order in which every input exists before it is read.
struct Model {
  std::vector<Layer> layers;
  std::size_t tensors = 0;
  Tensor input, logits;
  std::vector<AuxiliaryLogits> auxiliary{};

  // The name of the layer that makes the tensor; "images" for the model's input.
  std::string source_of(Tensor tensor) const;
  // Whether the layer reads the images, so that the gradient of its input is not computed.
  bool takes_images(const Layer& layer) const;
  ModelTotals totals() const;
};

} // namespace dt::model
