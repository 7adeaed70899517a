// Layer: what one layer of a model computes, with its shapes and costs. How it is computed is another room's.
#pragma once

#include "engine/model/tensor.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dt::model {

// y[o] = b[o] + sum over i, kh, kw of W[o][i][kh][kw] x[i][s h + kh - p][s w + kw - p]
struct ConvolutionSpec {
  std::int64_t channels = 1; // of the output
  std::int64_t kernel = 1;   // side length in pixels
  std::int64_t stride = 1;
  std::int64_t padding = 0; // zeros on each side
  std::int64_t groups = 1;  // number of independent convolutions, each over its share of the channels
  bool bias = true;
};

// y[o] = b[o] + sum over c, h, w of W[o][c][h][w] x[c][h][w]
struct InnerProductSpec {
  std::int64_t outputs = 1;
};

// Batch normalisation [IoffeSzegedy2015] of each channel over the batch and all places. Training and running variance are the
// biased one, that is divided by the batch's size and not by one less.
struct BatchNormSpec {
  static constexpr double epsilon = 1e-5; // as in the paper's implementations and PyTorch
};

// y = max(x, 0)
struct ReluSpec {};

enum class PoolingRule { max, average };

// The maximum over windows, or the mean of the pixels that are not padding.
struct PoolingSpec {
  std::int64_t kernel = 2; // side length in pixels
  std::int64_t stride = 2;
  std::int64_t padding = 0; // less than kernel; padding is ignored by maximum and mean
  bool ceil = false;        // true: a window that begins inside but ends outside counts; false: such rows and columns are dropped
  PoolingRule rule = PoolingRule::max;
  bool global = false; // one window: the whole image; kernel is then its height
};

// Local response normalisation across channels [Krizhevsky2012, section 3.3]:
//   y[c] = x[c] / (k + alpha / size * sum over the size channels around c of x^2)^beta
struct LrnSpec {
  std::int64_t size = 5; // channels
  double alpha = 1e-4;   // as in PyTorch and Caffe, divided by size; the paper's alpha is ours / size
  double beta = 0.75;
  double k = 1;
};

// In training, sets each number to zero with probability `rate` and divides the others by 1 - rate. An evaluation keeps all
// numbers.
struct DropoutSpec {
  double rate = 0;
};

// y = a + b
struct AddSpec {};

// The channels of several tensors, one tensor after another.
struct ConcatSpec {};

using LayerSpec = std::variant<ConvolutionSpec, InnerProductSpec, BatchNormSpec, ReluSpec, PoolingSpec, LrnSpec, DropoutSpec,
                               AddSpec, ConcatSpec>;

// The constants of a layer's formula, such as {"kernel", 3}. A constant that a recipe can set has the name of its key in
// model.layers.
using LayerAttributes = std::vector<std::pair<std::string, std::variant<bool, std::int64_t, double>>>;

struct Layer {
  std::string name; // "conv1"; unique within its model
  LayerSpec spec;
  std::vector<Tensor> inputs;
  Tensor output;

  template<class Spec> bool is() const { return std::holds_alternative<Spec>(spec); }
  template<class Spec> const Spec& as() const { return std::get<Spec>(spec); }
  std::string kind() const; // "convolution"
  LayerAttributes attributes() const;
  std::int64_t weights() const;    // of a convolution or inner product, without biases; 0 for other layers
  std::int64_t parameters() const; // trained parameters
  double flops() const;            // of one sample's forward pass; a multiply-add counts as 2
};

} // namespace dt::model
