#include "engine/nn/graph/model_builder.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "engine/nn/kernels/reference_convolution.hpp"
#include "engine/nn/layers/add.hpp"
#include "engine/nn/layers/affine/block_inner_product.hpp"
#include "engine/nn/layers/affine/inner_product.hpp"
#include "engine/nn/layers/batch_norm.hpp"
#include "engine/nn/layers/concat.hpp"
#include "engine/nn/layers/dropout.hpp"
#include "engine/nn/layers/lanes/lane_convolution.hpp"
#include "engine/nn/layers/lanes/lane_inner_product.hpp"
#include "engine/nn/layers/lanes/lane_pooling.hpp"
#include "engine/nn/layers/relu.hpp"
#include "engine/nn/layers/winograd/winograd_convolution.hpp"

#include <fmt/format.h>

namespace dt::nn {

ModelBuilder::ModelBuilder(const Options& options) : options_(options)
{
  const auto& image = options.image;
  if (image.channels < 1 || image.height < 1 || image.width < 1 || options.classes < 2) {
    throw Error(ErrorKind::recipe, fmt::format("Model {} cannot be built for images of {}x{}x{} and {}: it needs at least "
                                               "1x1x1 and 2 classes.",
                                               options.model, image.channels, image.height, image.width,
                                               counted(options.classes, "class", "classes")));
  }
  model_.input = new_tensor({image.channels, image.height, image.width});
}

template<class L, class... Arguments> Tensor ModelBuilder::append(Arguments&&... arguments)
{
  model_.layers.push_back(std::make_unique<L>(std::forward<Arguments>(arguments)...));
  return model_.layers.back()->output();
}

std::string ModelBuilder::numbered(const char* kind) const { return fmt::format("{}{}", kind, model_.layers.size() + 1); }

// ---- windows ----

namespace {

// Number of windows along a side. With ceil the last window may end outside, but must begin inside the image or in the padding
// before it.
std::int64_t windows_along(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool ceil)
{
  const auto room = size + 2 * padding - kernel;
  if (room < 0) return 0;
  auto count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (count - 1) * stride >= size + padding) --count;
  return count;
}

} // namespace

Shape ModelBuilder::windowed(const std::string& layer, const Shape& input, std::int64_t channels, const Window& window) const
{
  const auto out = [&](std::int64_t size) {
    return windows_along(size, window.kernel, window.stride, window.padding, window.ceil);
  };
  const Shape shape{channels, out(input.height), out(input.width)};
  if (shape.height > 0 && shape.width > 0) return shape;
  const auto& image = options_.image;
  throw Error(
      ErrorKind::recipe,
      fmt::format("Images of {}x{}x{} are too small for model {}: its layer {} has windows of {}x{} with padding {}, but gets "
                  "{}. Use larger images or a smaller model.",
                  image.channels, image.height, image.width, options_.model, layer, window.kernel, window.kernel, window.padding,
                  to_text(input)));
}

void ModelBuilder::check_convolution(const std::string& name, const Shape& input, const ConvolutionSpec& spec) const
{
  if (spec.groups >= 1 && input.channels % spec.groups == 0 && spec.channels % spec.groups == 0) return;
  throw Error(
      ErrorKind::recipe,
      fmt::format("Layer {} of model {} has {} groups, but its input is {} and its output has {} channels: both numbers of "
                  "channels must be multiples of the groups.",
                  name, options_.model, spec.groups, to_text(input), spec.channels));
}

Tensor ModelBuilder::convolution(const std::string& name, Tensor input, const ConvolutionSpec& spec)
{
  check_convolution(name, input.shape, spec);
  const auto output = new_tensor(windowed(name, input.shape, spec.channels, {spec.kernel, spec.stride, spec.padding, false}));
  if (options_.kernels == LayerKernels::batch_lanes && LaneConvolution::supports(spec))
    return append<LaneConvolution>(name, input, output, spec);
  if (options_.kernels == LayerKernels::plain_loops) return append<ReferenceConvolution>(name, input, output, spec);
  model_.layers.push_back(make_convolution(name, input, output, spec, options_.winograd, options_.precision));
  return output;
}

Tensor ModelBuilder::pooling(Pooling::Rule rule, Tensor input, const PoolingSpec& spec)
{
  const auto name = numbered("pool");
  if (spec.padding >= spec.kernel)
    throw Error(ErrorKind::recipe,
                fmt::format("Layer {} of model {} has windows of {}x{} and padding {}: some windows would lie in "
                            "the padding alone. Take a padding below the window.",
                            name, options_.model, spec.kernel, spec.kernel, spec.padding));
  const auto output =
      new_tensor(windowed(name, input.shape, input.shape.channels, {spec.kernel, spec.stride, spec.padding, spec.ceil}));
  if (options_.kernels == LayerKernels::batch_lanes && LanePooling::supports(spec.kernel))
    return append<LanePooling>(rule, name, input, output, spec);
  return append<Pooling>(rule, name, input, output, spec);
}

Tensor ModelBuilder::max_pooling(Tensor input, const PoolingSpec& spec) { return pooling(Pooling::Rule::max, input, spec); }

Tensor ModelBuilder::average_pooling(Tensor input, const PoolingSpec& spec)
{
  return pooling(Pooling::Rule::average, input, spec);
}

Tensor ModelBuilder::global_average_pooling(Tensor input)
{
  return append<Pooling>(Pooling::Rule::average, numbered("pool"), input, new_tensor({input.shape.channels, 1, 1}));
}

// ---- other layers ----

Tensor ModelBuilder::inner_product(const std::string& name, Tensor input, std::int64_t outputs)
{
  const auto output = new_tensor({outputs, 1, 1});
  if (options_.kernels == LayerKernels::batch_lanes) return append<LaneInnerProduct>(name, input, output);
  if (BlockInnerProduct::suits(input.shape.size(), outputs, options_.precision))
    return append<BlockInnerProduct>(name, input, output);
  return append<InnerProduct>(name, input, output);
}

Tensor ModelBuilder::batch_norm(const std::string& name, Tensor input)
{
  return append<BatchNorm>(name, input, new_tensor(input.shape));
}

Tensor ModelBuilder::relu(Tensor input) { return append<Relu>(numbered("relu"), input, new_tensor(input.shape)); }

Tensor ModelBuilder::lrn(Tensor input, const LrnSpec& spec)
{
  return append<Lrn>(numbered("lrn"), input, new_tensor(input.shape), spec);
}

Tensor ModelBuilder::dropout(Tensor input, double rate)
{
  if (!options_.dropout || rate == 0) return input;
  return append<Dropout>(numbered("dropout"), input, new_tensor(input.shape), rate, model_.layers.size());
}

Tensor ModelBuilder::add(Tensor a, Tensor b)
{
  const auto name = numbered("add");
  if (a.shape != b.shape)
    throw Error(ErrorKind::recipe, fmt::format("Layer {} of model {} adds {} and {}: both must be of one shape.", name,
                                               options_.model, to_text(a.shape), to_text(b.shape)));
  return append<Add>(name, a, b, new_tensor(a.shape));
}

Tensor ModelBuilder::concat(const std::vector<Tensor>& inputs)
{
  const auto name = numbered("concat");
  Shape shape = inputs.at(0).shape;
  shape.channels = 0;
  for (const auto& input : inputs) {
    if (input.shape.height != shape.height || input.shape.width != shape.width)
      throw Error(ErrorKind::recipe,
                  fmt::format("Layer {} of model {} joins the channels of {} and {}: both must be of one height "
                              "and width.",
                              name, options_.model, to_text(inputs[0].shape), to_text(input.shape)));
    shape.channels += input.shape.channels;
  }
  return append<Concat>(name, inputs, new_tensor(shape));
}

// ---- finishing ----

void ModelBuilder::check_logits(Tensor logits) const
{
  if (logits.shape == Shape{options_.classes, 1, 1}) return;
  throw Error(ErrorKind::recipe,
              fmt::format("Model {} ends in {}, but there are {} classes: its last layer must give {}.", options_.model,
                          to_text(logits.shape), options_.classes, to_text(Shape{options_.classes, 1, 1})));
}

void ModelBuilder::auxiliary(Tensor logits, double weight)
{
  check_logits(logits);
  model_.auxiliary.push_back({logits, weight});
}

void ModelBuilder::check_uses() const
{
  const auto uses = model_.uses();
  for (const auto& layer : model_.layers)
    if (uses[layer->output().id] == 0)
      throw Error(ErrorKind::recipe, fmt::format("Layer {} of model {} leads nowhere: no layer uses its output of {}.",
                                                 layer->name(), options_.model, to_text(layer->output().shape)));
}

Model ModelBuilder::finish(Tensor logits)
{
  check_logits(logits);
  return part(logits);
}

Model ModelBuilder::part(Tensor output)
{
  model_.logits = output;
  check_uses();
  return std::move(model_);
}

} // namespace dt::nn
