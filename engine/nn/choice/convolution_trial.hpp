// ConvolutionTrial: one convolution alone in a plan of its own, to time its algorithms.
#pragma once

#include "engine/nn/choice/choose_algorithm.hpp"
#include "engine/nn/layers/affine/convolution.hpp"

#include <memory>
#include <string>

namespace dt::nn {

// A convolution of a network, with all that its speed depends on.
struct ConvolutionCase {
  Shape input, output;
  ConvolutionSpec spec;
  bool relu = false;          // whether its forward pass ends with a ReLU
  bool needs_gradient = true; // false: it reads the network's images
  std::int64_t batch = 1;
  int threads = 1;
  Precision precision = Precision::fp32;
  bool winograd = true; // as in NetworkOptions
};

// The layouts of the activations that direct sums prefer; our own kernels take the same.
Convolution::Layouts rule_layouts(const ConvolutionCase& of);

// It takes its input and the gradient of its output in the given layouts, and gives its output and the gradient of its input in
// them. The copies into other layouts are part of its times: the neighbours in a network keep to these layouts.
class ConvolutionTrial {
 public:
  // With the rule's algorithms.
  ConvolutionTrial(const ConvolutionCase& of, const Convolution::Layouts& layouts);
  // With `forward` in the forward pass and `backward` in both directions of the backward pass.
  ConvolutionTrial(const ConvolutionCase& of, const Convolution::Layouts& layouts, Algorithm forward, Algorithm backward);
  ~ConvolutionTrial();
  ConvolutionTrial(ConvolutionTrial&&) noexcept;

  const LayerAlgorithms& planned() const; // direct in the directions that do not have the wanted algorithm
  std::string weight_layout() const;      // of the forward pass, in words
  // Runs every direction once.
  ConvolutionTimes run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dt::nn
