#include "engine/model/layer.hpp"

namespace dt::model {
namespace {

// A visitor made of one function for each kind of layer.
template<class... Functions> struct Visitor : Functions... {
  using Functions::operator()...;
};
template<class... Functions> Visitor(Functions...) -> Visitor<Functions...>;

LayerAttributes attributes_of(const PoolingSpec& spec)
{
  if (spec.global) return {{"global", true}};
  LayerAttributes all{{"kernel", spec.kernel}, {"stride", spec.stride}, {"padding", spec.padding}, {"ceil", spec.ceil}};
  if (spec.rule == PoolingRule::average) all.emplace_back("counts_padding", false);
  return all;
}

bool has_bias(const Layer& layer)
{
  return layer.is<InnerProductSpec>() || (layer.is<ConvolutionSpec>() && layer.as<ConvolutionSpec>().bias);
}

} // namespace

std::string Layer::kind() const
{
  return std::visit(
      Visitor{
          [](const ConvolutionSpec&) { return "convolution"; },
          [](const InnerProductSpec&) { return "inner product"; },
          [](const BatchNormSpec&) { return "batch norm"; },
          [](const ReluSpec&) { return "relu"; },
          [](const PoolingSpec& pooling) { return pooling.rule == PoolingRule::max ? "max pooling" : "average pooling"; },
          [](const LrnSpec&) { return "local response norm"; },
          [](const DropoutSpec&) { return "dropout"; },
          [](const AddSpec&) { return "add"; },
          [](const ConcatSpec&) { return "concat"; },
      },
      spec);
}

LayerAttributes Layer::attributes() const
{
  return std::visit(Visitor{
                        [](const ConvolutionSpec& s) -> LayerAttributes {
                          return {{"channels", s.channels}, {"kernel", s.kernel}, {"stride", s.stride},
                                  {"padding", s.padding},   {"groups", s.groups}, {"bias", s.bias}};
                        },
                        [](const InnerProductSpec& s) -> LayerAttributes {
                          return {{"outputs", s.outputs}, {"bias", true}};
                        },
                        [](const BatchNormSpec& s) -> LayerAttributes {
                          return {{"eps", s.epsilon}, {"biased_variance", true}};
                        },
                        [](const PoolingSpec& s) { return attributes_of(s); },
                        [](const LrnSpec& s) -> LayerAttributes {
                          return {{"size", s.size}, {"alpha", s.alpha}, {"beta", s.beta}, {"k", s.k}};
                        },
                        [](const DropoutSpec& s) -> LayerAttributes {
                          return {{"rate", s.rate}};
                        },
                        [](const auto&) { return LayerAttributes{}; },
                    },
                    spec);
}

std::int64_t Layer::weights() const
{
  const auto& in = inputs[0].shape;
  if (is<InnerProductSpec>()) return output.shape.channels * in.size();
  if (!is<ConvolutionSpec>()) return 0;
  const auto& s = as<ConvolutionSpec>();
  return s.channels * (in.channels / s.groups) * s.kernel * s.kernel;
}

std::int64_t Layer::parameters() const
{
  if (is<BatchNormSpec>()) return 2 * output.shape.channels; // scales and shifts
  return weights() + (has_bias(*this) ? output.shape.channels : 0);
}

// One multiplication and one addition for each weight and each output pixel.
double Layer::flops() const
{
  return 2 * static_cast<double>(weights()) * static_cast<double>(output.shape.height * output.shape.width);
}

} // namespace dt::model
