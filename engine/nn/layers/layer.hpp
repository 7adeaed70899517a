// Layer: one layer of a model. It plans its operations once; afterwards they only run.
#pragma once

#include "engine/nn/graph/tensor.hpp"
#include "engine/nn/kernels/operation.hpp"
#include "engine/nn/plan/plan.hpp"

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dt::nn {

// The constants of a layer's formula, such as {"kernel", 3}. A constant that a recipe can set has the name of its key in
// model.layers.
using LayerAttributes = std::vector<std::pair<std::string, std::variant<bool, std::int64_t, double>>>;

class Layer {
 public:
  Layer(std::string name, std::vector<Tensor> inputs, Tensor output)
      : name_(std::move(name)), inputs_(std::move(inputs)), output_(output)
  {
  }
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  Tensor input() const { return inputs_[0]; }
  Tensor output() const { return output_; }
  // "convolution"
  virtual std::string kind() const = 0;
  virtual LayerAttributes attributes() const { return {}; }
  virtual std::int64_t parameters() const { return 0; } // number of trained parameters
  virtual double flops() const { return 0; }            // floating-point operations of one sample's forward pass

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
  OperationLabel label(const char* what, double flops = 0) const { return {.layer = name_, .what = what, .flops = flops}; }
  std::vector<Operation> forward_, backward_;
  std::vector<ParameterId> parameters_;
  std::size_t gradients_final_ = 0;

 private:
  std::string name_;
  std::vector<Tensor> inputs_;
  Tensor output_;
};

} // namespace dt::nn
