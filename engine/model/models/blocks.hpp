// Groups of layers that several models use.
#pragma once

#include "engine/model/model_builder.hpp"

#include <string>

namespace dt::model {

Tensor convolution_relu(ModelBuilder& model, const std::string& name, Tensor x, const ConvolutionSpec& spec);

// Batch norm's shift replaces the convolution's bias, whatever the spec says.
Tensor convolution_norm(ModelBuilder& model, const std::string& name, Tensor x, ConvolutionSpec spec);
Tensor convolution_norm_relu(ModelBuilder& model, const std::string& name, Tensor x, const ConvolutionSpec& spec);

} // namespace dt::model
