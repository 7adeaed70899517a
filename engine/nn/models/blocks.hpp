// What several models are made of.
#pragma once

#include "engine/nn/model_builder.hpp"

#include <string>

namespace dt::engine {

Tensor convolution_relu(ModelBuilder& model, const std::string& name, Tensor x, const ConvolutionSpec& spec);

// Batch norm's shift takes the place of the convolution's bias, whatever the spec says.
Tensor convolution_norm(ModelBuilder& model, const std::string& name, Tensor x, ConvolutionSpec spec);
Tensor convolution_norm_relu(ModelBuilder& model, const std::string& name, Tensor x, const ConvolutionSpec& spec);

} // namespace dt::engine
