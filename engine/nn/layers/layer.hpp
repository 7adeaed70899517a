// Layer: computes one layer of a model. It plans its operations once; afterwards they only run.
#pragma once

#include "engine/model/layer.hpp"
#include "engine/nn/kernels/operation.hpp"
#include "engine/nn/plan/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::nn {

using model::ConvolutionSpec;
using model::PoolingRule;
using model::PoolingSpec;

class Layer {
 public:
  explicit Layer(const model::Layer& description)
      : description_(description), inputs_(description.inputs), output_(description.output)
  {
  }
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // The model's description of this layer. fuse() may give the layer other inputs and another output than the description has.
  const model::Layer& description() const { return description_; }
  const std::string& name() const { return description_.name; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  Tensor input() const { return inputs_[0]; }
  Tensor output() const { return output_; }

  // Reads data(inputs()) and sets data(output()). Called in the order of the model.
  virtual void plan_forward(Plan& plan) = 0;
  // Reads gradient(output()) and adds to the gradients of those inputs that need one. Called in reverse order, for training only.
  virtual void plan_backward(Plan& plan) = 0;

  std::vector<Operation>& forward() { return forward_; }
  // The first gradients_final() of these operations compute the gradients of all the layer's parameters.
  std::vector<Operation>& backward() { return backward_; }
  std::size_t gradients_final() const { return gradients_final_; }
  const std::vector<ParameterId>& parameter_ids() const { return parameters_; } // in the order of the store

  // For fusing layers, before anything is planned.
  void set_input(std::size_t place, Tensor tensor) { inputs_[place] = tensor; }
  void add_input(Tensor tensor) { inputs_.push_back(tensor); }
  void set_output(Tensor tensor) { output_ = tensor; }

 protected:
  OperationLabel label(const char* what, double flops = 0) const { return {.layer = name(), .what = what, .flops = flops}; }
  std::vector<Operation> forward_, backward_;
  std::vector<ParameterId> parameters_;
  std::size_t gradients_final_ = 0;

 private:
  model::Layer description_;
  std::vector<Tensor> inputs_;
  Tensor output_;
};

} // namespace dt::nn
