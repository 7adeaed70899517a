// ModelBuilder: describes a model layer by layer. Shapes are checked here, before anything is allocated.
#pragma once

#include "engine/nn/convolution.hpp"
#include "engine/nn/lrn.hpp"
#include "engine/nn/model.hpp"
#include "engine/nn/network.hpp"
#include "engine/nn/pooling.hpp"

#include <string>
#include <vector>

namespace dt::engine {

// Every method takes tensors and returns the new one; a recipe error with layer, window and input shape when it does not fit. A
// tensor may be used any number of times.
class ModelBuilder {
 public:
  struct Options {
    std::string model;
    ImageShape image{};
    std::int64_t classes = 10;
    bool dropout = true;    // false: dropout() gives its input
    bool reference = false; // convolutions in plain loops
  };
  explicit ModelBuilder(const Options& options);
  Tensor input() const { return model_.input; }
  std::int64_t classes() const { return options_.classes; }

  Tensor convolution(const std::string& name, Tensor input, const ConvolutionSpec& spec);
  Tensor inner_product(const std::string& name, Tensor input, std::int64_t outputs);
  Tensor batch_norm(const std::string& name, Tensor input);
  Tensor relu(Tensor input);
  Tensor max_pooling(Tensor input, const PoolingSpec& spec);
  Tensor average_pooling(Tensor input, const PoolingSpec& spec);
  Tensor global_average_pooling(Tensor input);
  Tensor lrn(Tensor input, const LrnSpec& spec);
  Tensor dropout(Tensor input, double rate);
  Tensor add(Tensor a, Tensor b);
  Tensor concat(const std::vector<Tensor>& inputs);
  // In training the loss of these logits counts too, so much.
  void auxiliary(Tensor logits, double weight);

  // The model whose last layer gives `logits`, one a class. Ends the builder. A recipe error for a layer that leads nowhere.
  Model finish(Tensor logits);
  // The same for a few layers on their own, whatever their output. Ends the builder.
  Model part(Tensor output);

 private:
  Tensor new_tensor(const Shape& shape) { return {model_.tensors++, shape}; }
  template <class L, class... Arguments>
  Tensor append(Arguments&&... arguments);
  std::string numbered(const char* kind) const;
  Tensor pooling(Pooling::Rule rule, Tensor input, const PoolingSpec& spec);
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

} // namespace dt::engine
