// ConvolutionTrial: one convolution alone in a plan of its own, to time its algorithms; and their choice by these times.
#pragma once

#include "core/spec/algorithms.hpp"
#include "engine/nn/layers/affine/convolution.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::nn {

// Seconds of one convolution in each direction, with the copies into other layouts that the algorithm costs there. NaN: there
// is no such algorithm for the shape, or the direction is not computed.
struct ConvolutionTimes {
  double forward = 0, backward_data = 0, backward_weights = 0;
};

// The times of a convolution that computes forward with one algorithm, and both directions of the backward pass with another.
// They belong together: the weights lie as the forward pass wants them, and another layout costs the backward pass a copy.
struct TimedPair {
  Algorithm forward = Algorithm::direct, backward = Algorithm::direct;
  ConvolutionTimes seconds;
};

// Another algorithm than the rule's must be faster by this share: the measured difference of two equal ones is below it.
inline constexpr double clearly_faster = 0.03;

// The algorithms with the least sum of times. Another algorithm than the rule's is taken for a direction only if its time is less
// than (1 - clearly_faster) of the rule's. A direction without times keeps the rule. The rule's own pair must be among `timed`.
LayerAlgorithms choose_algorithms(const LayerAlgorithms& rule, const std::vector<TimedPair>& timed);

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
