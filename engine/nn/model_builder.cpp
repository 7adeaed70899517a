#include "engine/nn/model_builder.hpp"

#include "core/error.hpp"
#include "engine/nn/inner_product.hpp"
#include "engine/nn/relu.hpp"

#include <fmt/format.h>

namespace dt::engine {

ModelBuilder::ModelBuilder(std::string model, const ImageShape& image, std::int64_t classes)
    : name_(std::move(model)), image_(image), classes_(classes)
{
  if (image.channels < 1 || image.height < 1 || image.width < 1 || classes < 2) {
    throw Error(ErrorKind::recipe,
                fmt::format("Model {} cannot be built for images of {}x{}x{} and {} classes: it needs at least "
                            "1x1x1 and 2 classes.",
                            name_, image.channels, image.height, image.width, classes));
  }
  model_.input = new_tensor({image.channels, image.height, image.width});
}

void ModelBuilder::use(Tensor tensor)
{
  used_.resize(model_.tensors, false);
  if (used_.at(tensor.id)) {
    throw Error(ErrorKind::internal, fmt::format("Model {} uses its tensor {} ({}) twice; gradients of branches are not summed.",
                                                 name_, tensor.id, to_text(tensor.shape)));
  }
  used_[tensor.id] = true;
}

Layer* ModelBuilder::producer_of(Tensor tensor)
{
  for (const auto& layer : model_.layers) {
    if (layer->output().id == tensor.id) return layer.get();
  }
  return nullptr;
}

Shape ModelBuilder::windowed(const std::string& layer, const Shape& input, std::int64_t channels, std::int64_t kernel,
                             std::int64_t stride, std::int64_t padding) const
{
  const auto out = [&](std::int64_t size) {
    return size + 2 * padding < kernel ? 0 : (size + 2 * padding - kernel) / stride + 1;
  };
  const Shape shape{channels, out(input.height), out(input.width)};
  if (shape.height > 0 && shape.width > 0) return shape;
  throw Error(
      ErrorKind::recipe,
      fmt::format("Images of {}x{}x{} are too small for model {}: its layer {} has windows of {}x{} with padding {}, but gets "
                  "{}. Use larger images or a smaller model.",
                  image_.channels, image_.height, image_.width, name_, layer, kernel, kernel, padding, to_text(input)));
}

Tensor ModelBuilder::convolution(const std::string& name, Tensor input, const ConvolutionSpec& spec)
{
  use(input);
  const auto output = new_tensor(windowed(name, input.shape, spec.channels, spec.kernel, spec.stride, spec.padding));
  model_.layers.push_back(std::make_unique<Convolution>(name, input, output, spec));
  return output;
}

Tensor ModelBuilder::relu(Tensor input)
{
  use(input);
  auto* producer = producer_of(input);
  return add_relu(input, producer && producer->fuse_relu());
}

Tensor ModelBuilder::add_relu(Tensor input, bool fused)
{
  const auto output = new_tensor(input.shape);
  model_.layers.push_back(std::make_unique<Relu>(fmt::format("relu{}", output.id), input, output, fused));
  return output;
}

// ReLU and max pooling commute. Behind the pooling the ReLU's backward has only the winners to look at.
Tensor ModelBuilder::max_pooling(Tensor input, const PoolingSpec& spec)
{
  use(input);
  const auto* relu = dynamic_cast<const Relu*>(producer_of(input));
  if (!relu || relu != model_.layers.back().get()) return add_max_pooling(input, spec);
  const auto source = relu->input();
  const bool fused = relu->fused();
  model_.layers.pop_back();
  return add_relu(add_max_pooling(source, spec), fused);
}

Tensor ModelBuilder::add_max_pooling(Tensor input, const PoolingSpec& spec)
{
  const auto name = fmt::format("pool{}", model_.tensors);
  const auto output = new_tensor(windowed(name, input.shape, input.shape.channels, spec.kernel, spec.stride, spec.padding));
  model_.layers.push_back(std::make_unique<MaxPooling>(name, input, output, spec));
  return output;
}

Tensor ModelBuilder::inner_product(const std::string& name, Tensor input, std::int64_t outputs)
{
  use(input);
  const auto output = new_tensor({outputs, 1, 1});
  model_.layers.push_back(std::make_unique<InnerProduct>(name, input, output));
  return output;
}

Model ModelBuilder::finish(Tensor logits)
{
  use(logits);
  model_.logits = logits;
  return std::move(model_);
}

} // namespace dt::engine
