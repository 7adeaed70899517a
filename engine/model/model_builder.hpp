// ModelBuilder: describes a model layer by layer, and checks all shapes before anything is allocated.
#pragma once

#include "engine/model/model.hpp"

#include <string>
#include <vector>

namespace dt::model {

// Every method takes tensors and returns the new one. It throws a recipe error with layer, window and input shape if they do not
// fit. A tensor may be used any number of times.
class ModelBuilder {
 public:
  struct Options {
    std::string model;
    Shape image{1, 28, 28};
    std::int64_t classes = 10;
    bool dropout = true; // false: dropout() returns its input
  };
  explicit ModelBuilder(const Options& options);
  Tensor input() const { return model_.input; }
  std::int64_t classes() const { return options_.classes; }

  Tensor convolution(const std::string& name, Tensor input, const ConvolutionSpec& spec);
  Tensor inner_product(const std::string& name, Tensor input, std::int64_t outputs);
  Tensor batch_norm(const std::string& name, Tensor input);
  Tensor relu(Tensor input);
  Tensor max_pooling(Tensor input, PoolingSpec spec);
  Tensor average_pooling(Tensor input, PoolingSpec spec);
  Tensor global_average_pooling(Tensor input);
  Tensor lrn(Tensor input, const LrnSpec& spec);
  Tensor dropout(Tensor input, double rate);
  Tensor add(Tensor a, Tensor b);
  Tensor concat(const std::vector<Tensor>& inputs);
  // Adds the loss of these logits, times `weight`, to the loss in training.
  void auxiliary(Tensor logits, double weight);

  // Returns the model whose last layer outputs `logits`, one per class. The builder must not be used afterwards. Throws a recipe
  // error if a layer's output is not used.
  Model finish(Tensor logits);
  // Returns a model of some layers with any output. The builder must not be used afterwards.
  Model part(Tensor output);

 private:
  Tensor new_tensor(const Shape& shape) { return {model_.tensors++, shape}; }
  Tensor append(const std::string& name, const LayerSpec& spec, const std::vector<Tensor>& inputs, const Shape& output);
  std::string numbered(const char* kind) const;
  Tensor pooling(Tensor input, const PoolingSpec& spec);
  struct Window {
    std::int64_t kernel, stride, padding;
    bool ceil;
  };
  Shape windowed(const std::string& layer, const Shape& input, std::int64_t channels, const Window& window) const;
  void check_convolution(const std::string& name, const Shape& input, const ConvolutionSpec& spec) const;
  void check_logits(Tensor logits) const;
  void check_uses() const;
  Options options_;
  Model model_;
};

} // namespace dt::model
