// ModelBuilder: describes a model layer by layer. Shapes are checked here, before anything is allocated.
#pragma once

#include "engine/nn/convolution.hpp"
#include "engine/nn/layer.hpp"
#include "engine/nn/max_pooling.hpp"
#include "engine/nn/network.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::engine {

// A described model: layers in an order in which every input exists.
struct Model {
  std::vector<std::unique_ptr<Layer>> layers;
  std::size_t tensors = 0;
  Tensor input, logits;
};

// Every method takes a tensor and returns the new one; a recipe error with layer, window and input shape when it does not
// fit. A tensor may be used once.
class ModelBuilder {
 public:
  ModelBuilder(std::string model, const ImageShape& image, std::int64_t classes);
  Tensor input() const { return model_.input; }
  std::int64_t classes() const { return classes_; }

  Tensor convolution(const std::string& name, Tensor input, const ConvolutionSpec& spec);
  // Part of the layer before it where that is possible.
  Tensor relu(Tensor input);
  Tensor max_pooling(Tensor input, const PoolingSpec& spec);
  Tensor inner_product(const std::string& name, Tensor input, std::int64_t outputs);

  // The model whose last layer gives `logits`, one a class. Ends the builder.
  Model finish(Tensor logits);

 private:
  Tensor new_tensor(const Shape& shape) { return {model_.tensors++, shape}; }
  void use(Tensor tensor);
  Tensor add_relu(Tensor input, bool fused);
  Tensor add_max_pooling(Tensor input, const PoolingSpec& spec);
  Layer* producer_of(Tensor tensor);
  Shape windowed(const std::string& layer, const Shape& input, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                 std::int64_t padding) const;
  std::string name_;
  ImageShape image_;
  std::int64_t classes_;
  Model model_;
  std::vector<bool> used_; // by tensor
};

} // namespace dt::engine
