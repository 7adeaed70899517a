// Layer: one step of a model. It plans its primitives once and then only runs them.
#pragma once

#include "engine/nn/operation.hpp"
#include "engine/nn/plan.hpp"
#include "engine/nn/tensor.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::engine {

class Layer {
 public:
  Layer(std::string name, Tensor input, Tensor output) : name_(std::move(name)), input_(input), output_(output) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const std::string& name() const { return name_; }
  Tensor input() const { return input_; }
  Tensor output() const { return output_; }

  // Reads data(input()), sets data(output()). Called in the order of the model.
  virtual void plan_forward(Plan& plan) = 0;
  // Reads gradient(output()), sets gradient(input()) unless nobody needs it. Called in reverse order, for training only.
  virtual void plan_backward(Plan& plan) = 0;
  // Makes the layer's own forward end in a ReLU; false when it cannot.
  virtual bool fuse_relu() { return false; }

  virtual void forward(const dnnl::stream& stream) { run(forward_, stream); }
  // Tells `ready`, if it is not empty, of each of the layer's parameters as soon as its gradient is final.
  virtual void backward(const dnnl::stream& stream, const GradientReady& ready)
  {
    const auto final = std::span(backward_).first(gradients_final_);
    run(final, stream);
    if (ready)
      for (auto parameter = parameters_.rbegin(); parameter != parameters_.rend(); ++parameter) ready(*parameter);
    run(std::span(backward_).subspan(gradients_final_), stream);
  }

 protected:
  std::vector<Operation> forward_, backward_;
  std::vector<ParameterId> parameters_; // in the order of the store
  std::size_t gradients_final_ = 0;     // so many operations of backward_ make all their gradients

 private:
  std::string name_;
  Tensor input_, output_;
};

} // namespace dt::engine
