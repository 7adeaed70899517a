#include "engine/model/model_builder.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::model {

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

Tensor ModelBuilder::append(const std::string& name, const LayerSpec& spec, const std::vector<Tensor>& inputs,
                            const Shape& output)
{
  model_.layers.push_back({name, spec, inputs, new_tensor(output)});
  return model_.layers.back().output;
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
  return append(name, spec, {input}, windowed(name, input.shape, spec.channels, {spec.kernel, spec.stride, spec.padding, false}));
}

Tensor ModelBuilder::pooling(Tensor input, const PoolingSpec& spec)
{
  const auto name = numbered("pool");
  if (spec.padding >= spec.kernel)
    throw Error(ErrorKind::recipe,
                fmt::format("Layer {} of model {} has windows of {}x{} and padding {}: some windows would lie in "
                            "the padding alone. Take a padding below the window.",
                            name, options_.model, spec.kernel, spec.kernel, spec.padding));
  return append(name, spec, {input},
                windowed(name, input.shape, input.shape.channels, {spec.kernel, spec.stride, spec.padding, spec.ceil}));
}

Tensor ModelBuilder::max_pooling(Tensor input, PoolingSpec spec)
{
  spec.rule = PoolingRule::max;
  return pooling(input, spec);
}

Tensor ModelBuilder::average_pooling(Tensor input, PoolingSpec spec)
{
  spec.rule = PoolingRule::average;
  return pooling(input, spec);
}

Tensor ModelBuilder::global_average_pooling(Tensor input)
{
  const PoolingSpec whole_image{.kernel = input.shape.height, .stride = 1, .rule = PoolingRule::average, .global = true};
  return append(numbered("pool"), whole_image, {input}, {input.shape.channels, 1, 1});
}

// ---- other layers ----

Tensor ModelBuilder::inner_product(const std::string& name, Tensor input, std::int64_t outputs)
{
  return append(name, InnerProductSpec{outputs}, {input}, {outputs, 1, 1});
}

Tensor ModelBuilder::batch_norm(const std::string& name, Tensor input)
{
  return append(name, BatchNormSpec{}, {input}, input.shape);
}

Tensor ModelBuilder::relu(Tensor input) { return append(numbered("relu"), ReluSpec{}, {input}, input.shape); }

Tensor ModelBuilder::lrn(Tensor input, const LrnSpec& spec) { return append(numbered("lrn"), spec, {input}, input.shape); }

Tensor ModelBuilder::dropout(Tensor input, double rate)
{
  if (!options_.dropout || rate == 0) return input;
  return append(numbered("dropout"), DropoutSpec{rate}, {input}, input.shape);
}

Tensor ModelBuilder::add(Tensor a, Tensor b)
{
  const auto name = numbered("add");
  if (a.shape != b.shape)
    throw Error(ErrorKind::recipe, fmt::format("Layer {} of model {} adds {} and {}: both must be of one shape.", name,
                                               options_.model, to_text(a.shape), to_text(b.shape)));
  return append(name, AddSpec{}, {a, b}, a.shape);
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
  return append(name, ConcatSpec{}, inputs, shape);
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
  std::vector<bool> is_read(model_.tensors, false);
  is_read[model_.logits.id] = true;
  for (const auto& head : model_.auxiliary) is_read[head.logits.id] = true;
  for (const auto& layer : model_.layers)
    for (const auto& input : layer.inputs) is_read[input.id] = true;
  const auto unread = std::ranges::find_if(model_.layers, [&](const Layer& layer) { return !is_read[layer.output.id]; });
  if (unread != model_.layers.end())
    throw Error(ErrorKind::recipe, fmt::format("Layer {} of model {} leads nowhere: no layer uses its output of {}.",
                                               unread->name, options_.model, to_text(unread->output.shape)));
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

} // namespace dt::model
