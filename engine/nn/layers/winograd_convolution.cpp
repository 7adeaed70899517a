#include "engine/nn/layers/winograd_convolution.hpp"

#include "engine/nn/kernels/floats_of.hpp"
#include "engine/nn/kernels/winograd_tiles.hpp"

#include <algorithm>

#include <omp.h>

namespace dt::nn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr std::int64_t lanes = winograd_lanes, points = winograd_points;

std::int64_t tiles_along(std::int64_t results) { return (results + winograd_results - 1) / winograd_results; }
std::int64_t tiles_of(const Shape& results) { return tiles_along(results.height) * tiles_along(results.width); }

// The place of a tile in a batch: its image, and the row and column of its first result.
struct Place {
  std::int64_t image, row, column;
};

Place place_of(std::int64_t tile, const Shape& results)
{
  const auto across = tiles_along(results.width), in_image = tile % tiles_of(results);
  return {tile / tiles_of(results), in_image / across * winograd_results, in_image % across * winograd_results};
}

// The vector of channels [16 block, 16 block + 16) of an image in oneDNN's layout nChw16c.
float* block_of(float* images, const Shape& shape, std::int64_t image, std::int64_t block)
{
  return images + (image * (shape.channels / lanes) + block) * shape.height * shape.width * lanes;
}

// Points of the pixels of some tiles: to[point][tile][channel].
void transform_pixels(float* images, const Shape& shape, const Shape& results, std::int64_t padding, std::int64_t first_tile,
                      std::int64_t tile, std::int64_t tiles, float* to)
{
  const auto place = place_of(first_tile + tile, results);
  const WinogradTile part{shape.height, shape.width, place.row - padding, place.column - padding};
  for (std::int64_t block = 0; block < shape.channels / lanes; ++block)
    winograd_pixels(block_of(images, shape, place.image, block), part, to + tile * shape.channels + block * lanes,
                    tiles * shape.channels);
}

// Tiles at a time: a multiple of what a kernel computes together whose points fit into `bytes`.
std::int64_t tiles_at_once(std::int64_t channels, std::int64_t bytes)
{
  constexpr std::int64_t together = 6;
  const auto fit = bytes / (points * channels * static_cast<std::int64_t>(sizeof(float)));
  return std::max(fit / together * together, together);
}

void sum_pixels(float* gradients, const Shape& shape, std::int64_t batch, float* sums)
{
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < shape.channels / lanes; ++block) {
    std::fill_n(sums + block * lanes, lanes, 0.0F);
    for (std::int64_t image = 0; image < batch; ++image)
      add_pixels(block_of(gradients, shape, image, block), shape.height * shape.width, sums + block * lanes);
  }
}

constexpr std::int64_t second_level_bytes = 640 * 1024; // of a core's cache of 1 MiB
constexpr std::int64_t shared_bytes = 4 * 1024 * 1024;  // of the cache that cores share

} // namespace

bool WinogradConvolution::supports(const ConvolutionSpec& spec, std::int64_t input_channels)
{
  return spec.kernel == winograd_window && spec.stride == 1 && spec.groups == 1 && spec.padding < spec.kernel &&
         spec.channels % lanes == 0 && input_channels % lanes == 0;
}

bool WinogradConvolution::suits(const ConvolutionSpec& spec, std::int64_t input_channels, const Shape& output)
{
  constexpr std::int64_t fewest_channels = 32, fewest_pixels = 8;
  return supports(spec, input_channels) && std::min(spec.channels, input_channels) >= fewest_channels &&
         std::min(output.height, output.width) >= fewest_pixels;
}

std::unique_ptr<Convolution> make_convolution(const std::string& name, Tensor input, Tensor output, const ConvolutionSpec& spec,
                                              bool winograd, const Algorithms& algorithms)
{
  constexpr LayerAlgorithms everywhere{Algorithm::winograd, Algorithm::winograd, Algorithm::winograd};
  const auto named = algorithms.find(name);
  const bool wanted = named == algorithms.end() ? WinogradConvolution::suits(spec, input.shape.channels, output.shape)
                                                : named->second == everywhere;
  if (winograd && wanted && WinogradConvolution::supports(spec, input.shape.channels))
    return std::make_unique<WinogradConvolution>(name, input, output, spec);
  return std::make_unique<Convolution>(name, input, output, spec);
}

dnnl::memory::desc WinogradConvolution::weights_of(Tag tag) const { return {weight_dims(), dnnl::memory::data_type::f32, tag}; }

WinogradConvolution::Pass WinogradConvolution::pass(Plan& plan, const Shape& from, const Shape& to, std::int64_t padding) const
{
  Pass made;
  made.from = from, made.to = to, made.padding = padding;
  const auto channels = from.channels + to.channels;
  made.points = plan.allocate_floats(points * from.channels * to.channels);
  made.scratch = plan.allocate_floats(plan.options().threads * points * tiles_at_once(channels, second_level_bytes) * channels);
  made.results = plan.allocate(plan.layout(to, Tag::nChw16c));
  for (std::int64_t channel = 0; channel < from.channels; ++channel) made.terms.add(channel * to.channels, channel);
  return made;
}

std::vector<dnnl::memory> WinogradConvolution::memories(const Pass& pass) const
{
  return {pass.images, pass.weights, pass.results, pass.points, pass.scratch};
}

// ---- forward, and backward to the data ----

void WinogradConvolution::plan_forward(Plan& plan)
{
  planned_ = {Algorithm::winograd, Algorithm::winograd, Algorithm::winograd};
  declare(plan, weights_of(Tag::ihwo));
  forward_pass_ = pass(plan, input().shape, output().shape, spec().padding);
  forward_pass_.rectify = has_relu();
  images_ = plan.in_layout(plan.data(input()), plan.layout(input().shape, Tag::nChw16c), name(), forward_);
  forward_pass_.images = images_;
  forward_pass_.weights = plan.in_layout(weight(plan).weight, weights_of(Tag::ihwo), name(), forward_);
  if (has_bias()) forward_pass_.bias = bias(plan).weight;
  forward_.emplace_back(label("forward", batch_flops(plan)), memories(forward_pass_),
                        [this, batch = plan.options().batch] { run(forward_pass_, batch); });
  plan.set_data(output(), forward_pass_.results);
}

void WinogradConvolution::plan_backward(Plan& plan)
{
  const auto gradient =
      plan.in_layout(plan.gradient(output(), name(), backward_), plan.layout(output().shape, Tag::nChw16c), name(), backward_);
  plan_backward_weights(plan, gradient);
  gradients_final_ = backward_.size();
  if (!plan.needs_gradient(input())) return;
  // The gradient of the input is the convolution of that of the output with the windows turned by 180 degrees.
  backward_pass_ = pass(plan, output().shape, input().shape, winograd_window - 1 - spec().padding);
  backward_pass_.rotated = true;
  backward_pass_.images = gradient;
  backward_pass_.weights = plan.in_layout(weight(plan).weight, weights_of(Tag::ohwi), name(), backward_);
  backward_.emplace_back(label("backward data", batch_flops(plan)), memories(backward_pass_),
                         [this, batch = plan.options().batch] { run(backward_pass_, batch); });
  plan.add_gradient(input(), backward_pass_.results);
}

void WinogradConvolution::run(const Pass& pass, std::int64_t batch) const
{
  const auto in = pass.from.channels, out = pass.to.channels;
  const auto tiles = batch * tiles_of(pass.to), at_once = tiles_at_once(in + out, second_level_bytes);
  float* scratch = floats_of(pass.scratch);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (std::int64_t channel = 0; channel < in; ++channel)
      for (std::int64_t block = 0; block < out; block += lanes)
        winograd_window_points(floats_of(pass.weights) + channel * winograd_window * winograd_window * out + block, out,
                               pass.rotated, floats_of(pass.points) + channel * out + block, in * out);
    float* own = scratch + omp_get_thread_num() * points * at_once * (in + out);
#pragma omp for schedule(static)
    for (std::int64_t first = 0; first < tiles; first += at_once) run_chunk(pass, first, std::min(at_once, tiles - first), own);
  }
}

void WinogradConvolution::run_chunk(const Pass& pass, std::int64_t first_tile, std::int64_t tiles, float* scratch) const
{
  const auto in = pass.from.channels, out = pass.to.channels;
  float *pixels = scratch, *sums = scratch + points * tiles * in;
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    transform_pixels(floats_of(pass.images), pass.from, pass.to, pass.padding, first_tile, tile, tiles, pixels);
  const ProductShape shape{.outputs = static_cast<int>(tiles),
                           .positions = static_cast<int>(out / lanes),
                           .scalar_stride = in,
                           .vector_stride = lanes,
                           .output_stride = out,
                           .position_stride = lanes};
  for (std::int64_t point = 0; point < points; ++point)
    lane_products(set_, pass.terms, shape, floats_of(pass.points) + point * in * out, pixels + point * tiles * in, nullptr, false,
                  sums + point * tiles * out);
  const float* bias = floats_of(pass.bias);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const auto place = place_of(first_tile + tile, pass.to);
    const WinogradTile part{pass.to.height, pass.to.width, place.row, place.column};
    for (std::int64_t block = 0; block < out / lanes; ++block)
      winograd_result(sums + tile * out + block * lanes, tiles * out, bias ? bias + block * lanes : nullptr, pass.rectify, part,
                      block_of(floats_of(pass.results), pass.to, place.image, block));
  }
}

// ---- backward to the weights ----

void WinogradConvolution::plan_backward_weights(Plan& plan, const dnnl::memory& gradient)
{
  const auto in = input().shape.channels, out = output().shape.channels;
  const auto at_once = tiles_at_once(in + out, shared_bytes);
  const auto add_terms = [&](Terms& terms, std::int64_t tiles) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) terms.add(tile * out, tile * in);
  };
  add_terms(chunk_terms_, at_once);
  add_terms(last_terms_, plan.options().batch * tiles_of(output().shape) % at_once);
  const auto pixels = plan.allocate_floats(points * at_once * in), gradients = plan.allocate_floats(points * at_once * out);
  const auto sums = plan.allocate_floats(points * in * out);
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, weights_of(Tag::ihwo));
  const auto bias_gradient = has_bias() ? bias(plan).gradient : dnnl::memory();
  backward_.emplace_back(label("backward weights", batch_flops(plan)),
                         std::vector{images_, gradient, pixels, gradients, sums, weight_gradient},
                         [=, this, batch = plan.options().batch] {
                           run_backward_weights(gradient, pixels, gradients, sums, weight_gradient, batch);
                           if (bias_gradient.get(true))
                             sum_pixels(floats_of(gradient), output().shape, batch, floats_of(bias_gradient));
                         });
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
}

// The threads first share the tiles of a chunk, then the points, so the sums do not depend on their number.
void WinogradConvolution::run_backward_weights(const dnnl::memory& gradient, const dnnl::memory& pixels,
                                               const dnnl::memory& gradients, const dnnl::memory& sums,
                                               const dnnl::memory& weight_gradient, std::int64_t batch) const
{
  const auto &from = input().shape, &to = output().shape;
  const auto in = from.channels, out = to.channels;
  const auto tiles = batch * tiles_of(to), at_once = tiles_at_once(in + out, shared_bytes);
#pragma omp parallel
  for (std::int64_t first = 0; first < tiles; first += at_once) {
    const auto count = std::min(at_once, tiles - first);
#pragma omp for schedule(static)
    for (std::int64_t tile = 0; tile < count; ++tile) {
      transform_pixels(floats_of(images_), from, to, spec().padding, first, tile, count, floats_of(pixels));
      const auto place = place_of(first + tile, to);
      for (std::int64_t block = 0; block < out / lanes; ++block)
        winograd_result_gradient(block_of(floats_of(gradient), to, place.image, block),
                                 {to.height, to.width, place.row, place.column},
                                 floats_of(gradients) + tile * out + block * lanes, count * out);
    }
    const auto& terms = count == at_once ? chunk_terms_ : last_terms_;
    const ProductShape shape{.outputs = static_cast<int>(in),
                             .positions = static_cast<int>(out / lanes),
                             .scalar_stride = 1,
                             .vector_stride = lanes,
                             .output_stride = out,
                             .position_stride = lanes,
                             .accumulate = first > 0};
#pragma omp for schedule(static)
    for (std::int64_t point = 0; point < points; ++point)
      lane_products(set_, terms, shape, floats_of(gradients) + point * count * out, floats_of(pixels) + point * count * in,
                    nullptr, false, floats_of(sums) + point * in * out);
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t channel = 0; channel < in; ++channel)
    for (std::int64_t block = 0; block < out; block += lanes)
      winograd_window_gradient(floats_of(sums) + channel * out + block, in * out,
                               floats_of(weight_gradient) + channel * winograd_window * winograd_window * out + block, out);
}

} // namespace dt::nn
