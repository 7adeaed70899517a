#include "engine/model/models/blocks.hpp"

namespace dt::model {

Tensor convolution_relu(ModelBuilder& model, const std::string& name, Tensor x, const ConvolutionSpec& spec)
{
  return model.relu(model.convolution(name, x, spec));
}

Tensor convolution_norm(ModelBuilder& model, const std::string& name, Tensor x, ConvolutionSpec spec)
{
  spec.bias = false;
  return model.batch_norm(name + "_norm", model.convolution(name, x, spec));
}

Tensor convolution_norm_relu(ModelBuilder& model, const std::string& name, Tensor x, const ConvolutionSpec& spec)
{
  return model.relu(convolution_norm(model, name, x, spec));
}

} // namespace dt::model
