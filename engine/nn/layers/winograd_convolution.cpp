#include "engine/nn/layers/winograd_convolution.hpp"

#include "engine/nn/kernels/floats_of.hpp"

#include <algorithm>

#include <omp.h>

namespace dt::nn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr std::int64_t lanes = winograd_block, points = winograd_points;

std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

// Floats from one point to the next: at least `lines` lines of sixteen, and an odd number of them.
std::int64_t point_stride(std::int64_t lines) { return (lines | 1) * lanes; }

// Parts of at most `most` that are as equal as possible.
std::int64_t equal_parts(std::int64_t number, std::int64_t most) { return divided_up(number, divided_up(number, most)); }

constexpr std::int64_t float_bytes = sizeof(float);
constexpr std::int64_t shared_bytes = 8 << 20;          // of the cache that cores share: points of a chunk's pixels
constexpr std::int64_t own_bytes = 192 << 10;           // of a core's own cache: products of a group
constexpr std::int64_t most_weight_bytes = 64 << 20;    // points of pixels and gradients, backward to the weights
constexpr std::int64_t blocks_at_once = 2;              // of outputs, in a group
constexpr std::int64_t tiles_in_part = 32;              // that a thread transforms at once

} // namespace

WinogradConvolution::WinogradConvolution(std::string name, Tensor input, Tensor output, const ConvolutionSpec& spec)
    : Convolution(std::move(name), input, output, spec), kernels_(winograd_kernels(spec.kernel, best_instruction_set())),
      window_(spec.kernel), results_(winograd_results(static_cast<int>(spec.kernel)))
{
}

bool WinogradConvolution::supports(const ConvolutionSpec& spec, std::int64_t input_channels)
{
  const bool has_window = spec.kernel == 5 || (spec.kernel == 3 && best_instruction_set() != InstructionSet::avx512);
  return has_window && spec.stride == 1 && spec.groups == 1 && spec.padding < spec.kernel && spec.channels % lanes == 0 &&
         input_channels % lanes == 0;
}

bool WinogradConvolution::suits(const ConvolutionSpec& spec, std::int64_t input_channels, const Shape& output)
{
  constexpr std::int64_t fewest_channels = 32;
  const std::int64_t fewest_pixels = spec.kernel == 5 ? 8 : 4;
  return supports(spec, input_channels) && std::min(spec.channels, input_channels) >= fewest_channels &&
         std::min(output.height, output.width) >= fewest_pixels;
}

std::unique_ptr<Convolution> make_convolution(const std::string& name, Tensor input, Tensor output, const ConvolutionSpec& spec,
                                              bool winograd)
{
  if (winograd && WinogradConvolution::supports(spec, input.shape.channels))
    return std::make_unique<WinogradConvolution>(name, input, output, spec);
  return std::make_unique<Convolution>(name, input, output, spec);
}

LayerAlgorithms WinogradConvolution::rule(const Plan&) const
{
  const auto rule = suits(spec(), input().shape.channels, output().shape) ? Algorithm::winograd : Algorithm::direct;
  return {rule, rule, rule};
}

// ---- places ----

std::int64_t WinogradConvolution::tiles_along(std::int64_t results) const { return divided_up(results, results_); }

// The tile of its image whose first result, in an image of `results`, less the padding is its first pixel in `plane`.
WinogradTile WinogradConvolution::tile_at(std::int64_t tile, const Shape& plane, const Shape& results, std::int64_t padding) const
{
  const auto across = tiles_along(results.width);
  return {plane.height, plane.width, tile / across * results_ - padding, tile % across * results_ - padding};
}

// The plane of adjacent channels from `channel` on.
const float* WinogradConvolution::plane_of(const float* images, const Shape& shape, std::int64_t image, std::int64_t channel) const
{
  return images + (image * shape.channels + channel) * shape.height * shape.width;
}

dnnl::memory::desc WinogradConvolution::images_of(const Plan& plan, const Shape& shape) const
{
  return plan.layout(shape, kernels_.lanes == 16 ? Tag::nChw16c : Tag::nChw8c);
}

dnnl::memory::desc WinogradConvolution::weights_of(Tag tag) const { return {weight_dims(), dnnl::memory::data_type::f32, tag}; }

// ---- planning ----

WinogradConvolution::Pass WinogradConvolution::pass(Plan& plan, const Shape& from, const Shape& to, std::int64_t padding) const
{
  Pass made;
  made.from = from, made.to = to, made.padding = padding;
  auto& split = made.split;
  split.tiles = plan.options().batch * tiles_of(to);
  const auto most = std::max<std::int64_t>(shared_bytes / (points * from.channels * float_bytes), 1);
  split.chunk = equal_parts(split.tiles, most);
  const auto blocks = std::min(blocks_at_once, to.channels / lanes);
  split.group = equal_parts(split.chunk, own_bytes / (points * blocks * lanes * float_bytes));
  made.windows = plan.allocate_floats(points * point_stride(from.channels * to.channels / lanes));
  made.pixels = plan.allocate_floats(points * point_stride(from.channels / lanes * split.chunk));
  made.products = plan.allocate_floats(plan.options().threads * points * point_stride(blocks * split.group));
  made.results = plan.allocate(images_of(plan, to));
  return made;
}

std::vector<dnnl::memory> WinogradConvolution::memories(const Pass& pass) const
{
  return {pass.images, pass.weights, pass.results, pass.windows, pass.pixels, pass.products};
}

void WinogradConvolution::plan_forward(Plan& plan)
{
  if (algorithms(plan).forward != Algorithm::winograd) {
    Convolution::plan_forward(plan);
    return;
  }
  if (plan.training()) describe_forward(plan, plan.attributes()); // oneDNN's backward primitives need it
  planned_.forward = Algorithm::winograd;
  declare(plan, weights_of(Tag::ihwo));
  source_ = plan.data(input());
  forward_pass_ = pass(plan, input().shape, output().shape, spec().padding);
  forward_pass_.rectify = has_relu();
  forward_pass_.images = plan.in_layout(source_, images_of(plan, input().shape), name(), forward_);
  forward_pass_.weights = plan.in_layout(weight(plan).weight, weights_of(Tag::ihwo), name(), forward_);
  if (has_bias()) forward_pass_.bias = bias(plan).weight;
  forward_.emplace_back(label("forward", batch_flops(plan)), memories(forward_pass_), [this] { run(forward_pass_); });
  plan.set_data(output(), forward_pass_.results);
}

// The gradient of the input is the convolution of that of the output with the windows turned by 180 degrees.
void WinogradConvolution::plan_backward_data(Plan& plan, const dnnl::memory& output_gradient)
{
  if (algorithms(plan).backward_data != Algorithm::winograd) {
    Convolution::plan_backward_data(plan, output_gradient);
    return;
  }
  planned_.backward_data = Algorithm::winograd;
  backward_pass_ = pass(plan, output().shape, input().shape, window_ - 1 - spec().padding);
  backward_pass_.rotated = true;
  backward_pass_.images = plan.in_layout(output_gradient, images_of(plan, output().shape), name(), backward_);
  backward_pass_.weights = plan.in_layout(weight(plan).weight, weights_of(Tag::ohwi), name(), backward_);
  backward_.emplace_back(label("backward data", batch_flops(plan)), memories(backward_pass_), [this] { run(backward_pass_); });
  plan.add_gradient(input(), backward_pass_.results);
}

void WinogradConvolution::plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient)
{
  if (algorithms(plan).backward_weights != Algorithm::winograd) {
    Convolution::plan_backward_weights(plan, output_gradient);
    return;
  }
  planned_.backward_weights = Algorithm::winograd;
  const auto in = input().shape.channels, out = output().shape.channels, batch = plan.options().batch;
  Split split{.tiles = batch * tiles_of(output().shape)};
  split.chunk = equal_parts(split.tiles, std::max<std::int64_t>(most_weight_bytes / (points * (in + out) * float_bytes), 1));
  images_ = plan.in_layout(source_, images_of(plan, input().shape), name(), backward_);
  const auto gradient = plan.in_layout(output_gradient, images_of(plan, output().shape), name(), backward_);
  const auto pixels = plan.allocate_floats(points * point_stride(in / lanes * split.chunk));
  const auto gradients = plan.allocate_floats(points * point_stride(out / lanes * split.chunk));
  const auto sums = plan.allocate_floats(points * point_stride(in * out / lanes));
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, weights_of(Tag::ihwo));
  const auto bias_gradient = has_bias() ? bias(plan).gradient : dnnl::memory();
  backward_.emplace_back(label("backward weights", batch_flops(plan)),
                         std::vector{images_, gradient, pixels, gradients, sums, weight_gradient}, [=, this] {
                           run_backward_weights(gradient, pixels, gradients, sums, weight_gradient, split);
                           if (bias_gradient.get(true))
                             sum_bias_gradient(floats_of(gradient), batch, floats_of(bias_gradient));
                         });
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
}

// ---- transforms of a chunk; all threads of a team call them together ----

void WinogradConvolution::transform_windows(const Pass& pass) const
{
  const auto in = pass.from.channels, out = pass.to.channels, stride = point_stride(in * out / lanes);
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t block = 0; block < out / lanes; ++block)
    for (std::int64_t channel = 0; channel < in; ++channel)
      kernels_.window_points(floats_of(pass.weights) + channel * window_ * window_ * out + block * lanes, out, pass.rotated,
                             floats_of(pass.windows) + (block * in + channel) * lanes, stride);
}

// Tiles [first, first + tiles) of the batch's images of `shape`, whose convolution has `results`.
void WinogradConvolution::transform_pixels(const float* images, const Shape& shape, const Shape& results, std::int64_t padding,
                                           std::int64_t first, std::int64_t tiles, float* to) const
{
  const auto in_image = tiles_of(results), stride = point_stride(shape.channels / lanes * tiles);
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t channel = 0; channel < shape.channels; channel += kernels_.lanes)
    for (std::int64_t part = 0; part < tiles; part += tiles_in_part)
      for (std::int64_t tile = part; tile < std::min(part + tiles_in_part, tiles); ++tile)
        kernels_.pixels(plane_of(images, shape, (first + tile) / in_image, channel),
                        tile_at((first + tile) % in_image, shape, results, padding),
                        to + (channel / lanes * tiles + tile) * lanes + channel % lanes, stride);
}

void WinogradConvolution::transform_gradients(const float* gradients, const Shape& shape, std::int64_t first, std::int64_t tiles,
                                              float* to) const
{
  const auto in_image = tiles_of(shape), stride = point_stride(shape.channels / lanes * tiles);
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t channel = 0; channel < shape.channels; channel += kernels_.lanes)
    for (std::int64_t part = 0; part < tiles; part += tiles_in_part)
      for (std::int64_t tile = part; tile < std::min(part + tiles_in_part, tiles); ++tile)
        kernels_.result_gradients(plane_of(gradients, shape, (first + tile) / in_image, channel),
                                  tile_at((first + tile) % in_image, shape, shape, 0),
                                  to + (channel / lanes * tiles + tile) * lanes + channel % lanes, stride);
}

// ---- forward, and backward to the data ----

void WinogradConvolution::run(const Pass& pass) const
{
  const auto& split = pass.split;
  const auto all_blocks = pass.to.channels / lanes, blocks = std::min(blocks_at_once, all_blocks);
#pragma omp parallel
  {
    transform_windows(pass);
    float* own = floats_of(pass.products) + omp_get_thread_num() * points * point_stride(blocks * split.group);
    for (std::int64_t first = 0; first < split.tiles; first += split.chunk) {
      const auto tiles = std::min(split.chunk, split.tiles - first);
      transform_pixels(floats_of(pass.images), pass.from, pass.to, pass.padding, first, tiles, floats_of(pass.pixels));
#pragma omp for collapse(2) schedule(dynamic)
      for (std::int64_t group = 0; group < tiles; group += split.group)
        for (std::int64_t block = 0; block < all_blocks; block += blocks)
          run_group(pass, tiles, first, group, block, std::min(blocks, all_blocks - block), own);
    }
  }
}

// Some blocks of outputs of a group of tiles: their products with all channels, then their results.
void WinogradConvolution::run_group(const Pass& pass, std::int64_t chunk_tiles, std::int64_t chunk_first, std::int64_t group,
                                    std::int64_t block, std::int64_t blocks, float* products) const
{
  const auto in = pass.from.channels, out = pass.to.channels;
  const auto tiles = std::min(pass.split.group, chunk_tiles - group);
  const auto pixel_stride = point_stride(in / lanes * chunk_tiles), window_stride = point_stride(in * out / lanes),
             product_stride = point_stride(blocks * tiles);
  const PointProducts shape{.rows = tiles, .outer = in / lanes, .scalar_stride = chunk_tiles * lanes};
  for (std::int64_t point = 0; point < points; ++point)
    for (std::int64_t b = 0; b < blocks; ++b)
      kernels_.point_products(shape, floats_of(pass.pixels) + point * pixel_stride + group * lanes,
                              floats_of(pass.windows) + point * window_stride + (block + b) * in * lanes,
                              products + point * product_stride + b * tiles * lanes);
  const auto in_image = tiles_of(pass.to);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const auto at = chunk_first + group + tile;
      const auto place = tile_at(at % in_image, pass.to, pass.to, 0);
      for (std::int64_t lane = 0; lane < lanes; lane += kernels_.lanes) {
        const auto channel = (block + b) * lanes + lane;
        const float* bias = floats_of(pass.bias);
        kernels_.results(products + (b * tiles + tile) * lanes + lane, product_stride, bias ? bias + channel : nullptr,
                         pass.rectify, place,
                         const_cast<float*>(plane_of(floats_of(pass.results), pass.to, at / in_image, channel)));
      }
    }
}

// ---- backward to the weights ----

// Chunk by chunk; within one, the threads share first the tiles, then the points, so the sums do not depend on their number.
void WinogradConvolution::run_backward_weights(const dnnl::memory& gradient, const dnnl::memory& pixels,
                                               const dnnl::memory& gradients, const dnnl::memory& sums,
                                               const dnnl::memory& weight_gradient, const Split& split) const
{
  const auto &from = input().shape, &to = output().shape;
  const auto in = from.channels, out = to.channels, sum_stride = point_stride(in * out / lanes);
#pragma omp parallel
  {
    for (std::int64_t first = 0; first < split.tiles; first += split.chunk) {
      const auto tiles = std::min(split.chunk, split.tiles - first);
      transform_pixels(floats_of(images_), from, to, spec().padding, first, tiles, floats_of(pixels));
      transform_gradients(floats_of(gradient), to, first, tiles, floats_of(gradients));
      const auto pixel_stride = point_stride(in / lanes * tiles), gradient_stride = point_stride(out / lanes * tiles);
#pragma omp for collapse(2) schedule(dynamic)
      for (std::int64_t point = 0; point < points; ++point)
        for (std::int64_t channels = 0; channels < in / lanes; ++channels)
          for (std::int64_t block = 0; block < out / lanes; ++block)
            kernels_.tile_products({.tiles = tiles, .accumulate = first > 0},
                                   floats_of(pixels) + point * pixel_stride + channels * tiles * lanes,
                                   floats_of(gradients) + point * gradient_stride + block * tiles * lanes,
                                   floats_of(sums) + point * sum_stride + (block * in + channels * lanes) * lanes);
    }
#pragma omp for collapse(2) schedule(static)
    for (std::int64_t block = 0; block < out / lanes; ++block)
      for (std::int64_t channel = 0; channel < in; ++channel)
        kernels_.window_gradient(floats_of(sums) + (block * in + channel) * lanes, sum_stride,
                                 floats_of(weight_gradient) + channel * window_ * window_ * out + block * lanes, out);
  }
}

void WinogradConvolution::sum_bias_gradient(const float* gradient, std::int64_t batch, float* sums) const
{
  const auto& shape = output().shape;
#pragma omp parallel for schedule(static)
  for (std::int64_t channel = 0; channel < shape.channels; channel += kernels_.lanes) {
    std::fill_n(sums + channel, kernels_.lanes, 0.0F);
    for (std::int64_t image = 0; image < batch; ++image)
      add_pixels(plane_of(gradient, shape, image, channel), shape.height * shape.width, kernels_.lanes, sums + channel);
  }
}

} // namespace dt::nn
