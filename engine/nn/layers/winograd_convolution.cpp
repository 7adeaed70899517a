#include "engine/nn/layers/winograd_convolution.hpp"

#include "engine/nn/kernels/floats_of.hpp"
#include "engine/nn/kernels/lanes.hpp"
#include "engine/nn/kernels/parts.hpp"

#include <algorithm>

#include <omp.h>
#include <unistd.h>

namespace dt::nn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr std::int64_t line = block_channels;

// Floats from one point to the next: at least `lines` lines of sixteen, and an odd number of them.
std::int64_t point_stride(std::int64_t lines) { return (lines | 1) * line; }

// Parts of at most `most` that are as equal as possible.
std::int64_t equal_parts(std::int64_t number, std::int64_t most)
{
  return divided_up(number, divided_up(number, std::max<std::int64_t>(most, 1)));
}

constexpr std::int64_t float_bytes = sizeof(float);
constexpr std::int64_t shared_bytes = 8 << 20; // of the cache that cores share: points of a chunk's pixels
constexpr std::int64_t fewest_own_tiles = 28;  // of a chunk in a core's own cache, so that reading the windows pays
constexpr std::int64_t chunks_of_thread = 4;   // at least, where each thread takes chunks of its own
constexpr std::int64_t own_bytes = 192 << 10;  // of a core's own cache: products of a group
constexpr std::int64_t fewest_weight_bytes = 8 << 20, most_weight_bytes = 64 << 20; // points of a chunk, backward to the weights
constexpr std::int64_t blocks_at_once = 2;                                          // of outputs, in a group
constexpr std::int64_t tiles_in_part = 32;                                          // that a thread transforms at once

// Half of a core's second-level cache, for the points of a chunk's pixels.
std::int64_t own_pixel_bytes()
{
  static const std::int64_t cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  constexpr std::int64_t usual = 512 << 10;
  return (cache > 0 ? cache : usual) / 2;
}

} // namespace

WinogradConvolution::WinogradConvolution(std::string name, Tensor input, Tensor output, const ConvolutionSpec& spec,
                                         Precision precision)
    : Convolution(std::move(name), input, output, spec), precision_(precision),
      transforms_(winograd_kernels(spec.kernel, precision, best_instruction_set())), window_(spec.kernel),
      results_(transforms_.results), points_(transforms_.points)
{
}

bool WinogradConvolution::supports(const ConvolutionSpec& spec, std::int64_t input_channels, Precision precision)
{
  const bool has_library_3x3 = best_instruction_set() == InstructionSet::avx512 && precision == Precision::fp32;
  const bool has_window = spec.kernel == 5 || (spec.kernel == 3 && !has_library_3x3);
  return has_window && spec.padding < spec.kernel && spec.stride == 1 && spec.groups == 1 && spec.channels % line == 0 &&
         input_channels % line == 0;
}

bool WinogradConvolution::suits() const
{
  constexpr std::int64_t fewest_channels = 32;
  const std::int64_t fewest_pixels = window_ == 5 ? 8 : 4;
  return precision_ == Precision::fp32 && std::min(spec().channels, input().shape.channels) >= fewest_channels &&
         std::min(output().shape.height, output().shape.width) >= fewest_pixels;
}

std::unique_ptr<Convolution> make_convolution(const std::string& name, Tensor input, Tensor output, const ConvolutionSpec& spec,
                                              bool winograd, Precision precision)
{
  if (winograd && WinogradConvolution::supports(spec, input.shape.channels, precision))
    return std::make_unique<WinogradConvolution>(name, input, output, spec, precision);
  return std::make_unique<Convolution>(name, input, output, spec);
}

LayerAlgorithms WinogradConvolution::rule(const Plan&) const
{
  const auto rule = suits() ? Algorithm::winograd : Algorithm::direct;
  return {rule, rule, rule};
}

// ---- places ----

void* WinogradConvolution::plane_of(const dnnl::memory& images, const Shape& shape, std::int64_t image,
                                    std::int64_t channel) const
{
  const auto number = (image * shape.channels + channel) * shape.height * shape.width;
  if (precision_ == Precision::bf16) return static_cast<Bf16*>(images.get_data_handle()) + number;
  return floats_of(images) + number;
}

dnnl::memory::desc WinogradConvolution::images_of(const Plan& plan, const Shape& shape) const
{
  return plan.layout(shape, lanes() == 16 ? Tag::nChw16c : Tag::nChw8c);
}

dnnl::memory::desc WinogradConvolution::weights_of(Tag tag) const { return {weight_dims(), dnnl::memory::data_type::f32, tag}; }

std::int64_t WinogradConvolution::tiles_along(std::int64_t results) const { return divided_up(results, results_); }

// A tile of an image whose first result, less the padding, is its first pixel in `plane`.
WinogradTile WinogradConvolution::tile_at(std::int64_t tile, const Shape& plane, const Shape& results, std::int64_t padding) const
{
  const auto across = tiles_along(results.width);
  return {plane.height, plane.width, tile / across * results_ - padding, tile % across * results_ - padding};
}

std::int64_t WinogradConvolution::pixel_floats(const Shape& images, std::int64_t tiles) const
{
  return points_ * point_stride(images.channels / line * tiles);
}

// ---- planning ----

Operation WinogradConvolution::operation(const char* what, Plan& plan, Pass pass) const
{
  auto& split = pass.split;
  const auto threads = plan.options().threads;
  const auto blocks = std::min(blocks_at_once, pass.to.channels / line);
  split.tiles = plan.options().batch * tiles_of(pass.to);
  const auto own_tiles = own_pixel_bytes() / (points_ * pass.from.channels * float_bytes);
  split.is_own = own_tiles >= fewest_own_tiles && split.tiles >= chunks_of_thread * threads * own_tiles;
  const auto shared_tiles = shared_bytes / (points_ * pass.from.channels * float_bytes);
  split.chunk = equal_parts(split.tiles, split.is_own ? own_tiles : shared_tiles);
  split.group = equal_parts(split.chunk, own_bytes / (points_ * blocks * line * float_bytes));
  pass.windows = plan.allocate_floats(points_ * point_stride(pass.from.channels * pass.to.channels / line));
  pass.pixels = plan.allocate_floats((split.is_own ? threads : 1) * pixel_floats(pass.from, split.chunk));
  pass.products = plan.allocate_floats(threads * points_ * point_stride(blocks * split.group));
  return {label(what, batch_flops(plan)),
          std::vector{pass.images, pass.weights, pass.results, pass.windows, pass.pixels, pass.products},
          [this, pass] { run(pass); }};
}

void WinogradConvolution::plan_forward(Plan& plan)
{
  if (algorithms(plan).forward != Algorithm::winograd) return Convolution::plan_forward(plan);
  if (plan.training()) describe_forward(plan, plan.attributes()); // oneDNN's backward primitives need it
  planned_.forward = Algorithm::winograd;
  declare(plan, weights_of(Tag::OIhw16i16o));
  source_ = plan.data(input());
  Pass pass{.from = input().shape, .to = output().shape, .padding = spec().padding, .rectify = has_relu()};
  pass.images = plan.in_layout(source_, images_of(plan, input().shape), name(), forward_);
  pass.weights = plan.in_layout(weight(plan).weight, weights_of(Tag::OIhw16i16o), name(), forward_);
  if (has_bias()) pass.bias = bias(plan).weight;
  pass.results = plan.allocate(images_of(plan, output().shape));
  plan.set_data(output(), pass.results);
  forward_.push_back(operation("forward", plan, std::move(pass)));
}

// The gradient of the input is the convolution of that of the output with the windows turned by 180 degrees.
void WinogradConvolution::plan_backward_data(Plan& plan, const dnnl::memory& output_gradient)
{
  if (algorithms(plan).backward_data != Algorithm::winograd) return Convolution::plan_backward_data(plan, output_gradient);
  planned_.backward_data = Algorithm::winograd;
  Pass pass{.from = output().shape, .to = input().shape, .padding = window_ - 1 - spec().padding, .rotated = true};
  pass.images = plan.in_layout(output_gradient, images_of(plan, output().shape), name(), backward_);
  pass.weights = plan.in_layout(weight(plan).weight, weights_of(Tag::IOhw16o16i), name(), backward_);
  pass.results = plan.allocate(images_of(plan, input().shape));
  plan.add_gradient(input(), pass.results);
  backward_.push_back(operation("backward data", plan, std::move(pass)));
}

void WinogradConvolution::plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient)
{
  if (algorithms(plan).backward_weights != Algorithm::winograd) return Convolution::plan_backward_weights(plan, output_gradient);
  planned_.backward_weights = Algorithm::winograd;
  const auto images = plan.in_layout(source_, images_of(plan, input().shape), name(), backward_);
  const auto gradient = plan.in_layout(output_gradient, images_of(plan, output().shape), name(), backward_);
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, weights_of(Tag::OIhw16i16o));
  backward_.push_back(weights_operation(plan, images, gradient, weight_gradient));
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
  plan_bias_gradient(plan, gradient, lanes());
}

Operation WinogradConvolution::weights_operation(Plan& plan, const dnnl::memory& images, const dnnl::memory& gradient,
                                                 const dnnl::memory& weight_gradient) const
{
  const auto in = input().shape.channels, out = output().shape.channels;
  WeightsPass pass{.images = images, .gradient = gradient, .weight_gradient = weight_gradient};
  pass.split.tiles = plan.options().batch * tiles_of(output().shape);
  // The sums are read and written once in each chunk, so large sums need large chunks.
  const auto sum_bytes = points_ * in * out * float_bytes;
  const auto chunk_bytes = std::clamp(2 * sum_bytes, fewest_weight_bytes, most_weight_bytes);
  pass.split.chunk = equal_parts(pass.split.tiles, chunk_bytes / (points_ * (in + out) * float_bytes));
  pass.pixels = plan.allocate_floats(points_ * point_stride(in / line * pass.split.chunk));
  pass.gradients = plan.allocate_floats(points_ * point_stride(out / line * pass.split.chunk));
  pass.sums = plan.allocate_floats(points_ * point_stride(in * out / line));
  return {label("backward weights", batch_flops(plan)),
          std::vector{images, gradient, weight_gradient, pass.pixels, pass.gradients, pass.sums},
          [this, pass] { run_backward_weights(pass); }};
}

// ---- transforms of a chunk; all threads of a team call them together ----

void WinogradConvolution::transform_windows(const Pass& pass) const
{
  const auto in = pass.from.channels, out = pass.to.channels, stride = point_stride(in * out / line), size = window_ * window_;
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t block = 0; block < out / line; ++block)
    for (std::int64_t channel = 0; channel < in; ++channel)
      transforms_.window_points(floats_of(pass.weights) + ((block * in + channel / line * line) * size + channel % line) * line,
                                line * line, pass.rotated, floats_of(pass.windows) + (block * in + channel) * line, stride);
}

void WinogradConvolution::transform_pixels(const Pixels& of) const
{
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t channel = 0; channel < of.shape.channels; channel += lanes())
    for (std::int64_t part = 0; part < of.tiles; part += tiles_in_part)
      transform_part(of, channel, part, std::min(part + tiles_in_part, of.tiles));
}

void WinogradConvolution::transform_part(const Pixels& of, std::int64_t channel, std::int64_t begin, std::int64_t end) const
{
  const auto in_image = tiles_of(of.results), stride = point_stride(of.shape.channels / line * of.tiles);
  for (std::int64_t tile = begin; tile < end; ++tile)
    transforms_.pixels(plane_of(of.images, of.shape, (of.first + tile) / in_image, channel),
                       tile_at((of.first + tile) % in_image, of.shape, of.results, of.padding),
                       of.to + (channel / line * of.tiles + tile) * line + channel % line, stride);
}

void WinogradConvolution::transform_gradients(const dnnl::memory& gradients, const Shape& shape, std::int64_t first,
                                              std::int64_t tiles, float* to) const
{
  const auto in_image = tiles_of(shape), stride = point_stride(shape.channels / line * tiles);
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t channel = 0; channel < shape.channels; channel += lanes())
    for (std::int64_t part = 0; part < tiles; part += tiles_in_part)
      for (std::int64_t tile = part; tile < std::min(part + tiles_in_part, tiles); ++tile)
        transforms_.result_gradients(plane_of(gradients, shape, (first + tile) / in_image, channel),
                                     tile_at((first + tile) % in_image, shape, shape, 0),
                                     to + (channel / line * tiles + tile) * line + channel % line, stride);
}

// ---- forward, and backward to the data ----

void WinogradConvolution::run(const Pass& pass) const
{
#pragma omp parallel
  {
    transform_windows(pass);
    pass.split.is_own ? run_own_chunks(pass) : run_shared_chunks(pass);
  }
}

float* WinogradConvolution::own_products(const Pass& pass) const
{
  const auto blocks = std::min(blocks_at_once, pass.to.channels / line);
  return floats_of(pass.products) + omp_get_thread_num() * points_ * point_stride(blocks * pass.split.group);
}

// All threads work on one chunk after the other.
void WinogradConvolution::run_shared_chunks(const Pass& pass) const
{
  const auto& split = pass.split;
  const auto all_blocks = pass.to.channels / line, blocks = std::min(blocks_at_once, all_blocks);
  const auto* pixels = floats_of(pass.pixels);
  auto* products = own_products(pass);
  for (std::int64_t first = 0; first < split.tiles; first += split.chunk) {
    const auto tiles = std::min(split.chunk, split.tiles - first);
    transform_pixels({pass.images, pass.from, pass.to, pass.padding, first, tiles, floats_of(pass.pixels)});
#pragma omp for collapse(2) schedule(dynamic)
    for (std::int64_t group = 0; group < tiles; group += split.group)
      for (std::int64_t block = 0; block < all_blocks; block += blocks)
        run_group(pass, pixels, tiles, first, group, block, std::min(blocks, all_blocks - block), products);
  }
}

// Each thread takes whole chunks, whose points stay in its core's cache.
void WinogradConvolution::run_own_chunks(const Pass& pass) const
{
  const auto& split = pass.split;
  const auto all_blocks = pass.to.channels / line, blocks = std::min(blocks_at_once, all_blocks);
  auto* pixels = floats_of(pass.pixels) + omp_get_thread_num() * pixel_floats(pass.from, split.chunk);
  auto* products = own_products(pass);
#pragma omp for schedule(dynamic)
  for (std::int64_t first = 0; first < split.tiles; first += split.chunk) {
    const auto tiles = std::min(split.chunk, split.tiles - first);
    const Pixels chunk{pass.images, pass.from, pass.to, pass.padding, first, tiles, pixels};
    for (std::int64_t channel = 0; channel < pass.from.channels; channel += lanes()) transform_part(chunk, channel, 0, tiles);
    for (std::int64_t group = 0; group < tiles; group += split.group)
      for (std::int64_t block = 0; block < all_blocks; block += blocks)
        run_group(pass, pixels, tiles, first, group, block, std::min(blocks, all_blocks - block), products);
  }
}

// Some blocks of outputs of a group of tiles: their products with all channels, then their results.
void WinogradConvolution::run_group(const Pass& pass, const float* pixels, std::int64_t chunk_tiles, std::int64_t chunk_first,
                                    std::int64_t group, std::int64_t block, std::int64_t blocks, float* products) const
{
  const auto in = pass.from.channels, out = pass.to.channels;
  const auto tiles = std::min(pass.split.group, chunk_tiles - group);
  const auto pixel_stride = point_stride(in / line * chunk_tiles), window_stride = point_stride(in * out / line),
             product_stride = point_stride(blocks * tiles);
  const ChannelSums shape{.rows = tiles, .outer = in / line, .scalar_stride = chunk_tiles * line};
  for (std::int64_t point = 0; point < points_; ++point)
    for (std::int64_t b = 0; b < blocks; ++b)
      products_.sum_channels(shape, pixels + point * pixel_stride + group * line,
                             floats_of(pass.windows) + point * window_stride + (block + b) * in * line,
                             products + point * product_stride + b * tiles * line);
  for (std::int64_t b = 0; b < blocks; ++b)
    give_results(pass, chunk_first + group, tiles, block + b, products + b * tiles * line, product_stride);
}

void WinogradConvolution::give_results(const Pass& pass, std::int64_t first, std::int64_t tiles, std::int64_t block,
                                       const float* products, std::int64_t product_stride) const
{
  const auto in_image = tiles_of(pass.to);
  const float* bias = floats_of(pass.bias);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const auto place = tile_at((first + tile) % in_image, pass.to, pass.to, 0);
    for (std::int64_t lane = 0; lane < line; lane += lanes()) {
      const auto channel = block * line + lane;
      transforms_.give_results(products + tile * line + lane, product_stride, bias ? bias + channel : nullptr, pass.rectify,
                               place, plane_of(pass.results, pass.to, (first + tile) / in_image, channel));
    }
  }
}

// ---- backward to the weights ----

// Chunk by chunk; within one, the threads share first the tiles, then the points, so the sums do not depend on their number.
void WinogradConvolution::run_backward_weights(const WeightsPass& pass) const
{
  const auto in = input().shape.channels, out = output().shape.channels, stride = point_stride(in * out / line),
             size = window_ * window_;
#pragma omp parallel
  {
    for (std::int64_t first = 0; first < pass.split.tiles; first += pass.split.chunk)
      sum_chunk(pass, first, std::min(pass.split.chunk, pass.split.tiles - first));
#pragma omp for collapse(2) schedule(static)
    for (std::int64_t block = 0; block < out / line; ++block)
      for (std::int64_t channel = 0; channel < in; ++channel)
        transforms_.window_gradient(
            floats_of(pass.sums) + (block * in + channel) * line, stride,
            floats_of(pass.weight_gradient) + ((block * in + channel / line * line) * size + channel % line) * line, line * line);
  }
}

void WinogradConvolution::sum_chunk(const WeightsPass& pass, std::int64_t first, std::int64_t tiles) const
{
  const auto &from = input().shape, &to = output().shape;
  const auto in = from.channels, out = to.channels, stride = point_stride(in * out / line);
  const auto pixel_stride = point_stride(in / line * tiles), gradient_stride = point_stride(out / line * tiles);
  transform_pixels({pass.images, from, to, spec().padding, first, tiles, floats_of(pass.pixels)});
  transform_gradients(pass.gradient, to, first, tiles, floats_of(pass.gradients));
  const RowSums shape{.rows = tiles, .accumulate = first > 0};
#pragma omp for collapse(2) schedule(dynamic)
  for (std::int64_t point = 0; point < points_; ++point)
    for (std::int64_t channel = 0; channel < in; channel += line)
      for (std::int64_t output = 0; output < out; output += line)
        products_.sum_rows(shape, floats_of(pass.pixels) + point * pixel_stride + channel * tiles,
                           floats_of(pass.gradients) + point * gradient_stride + output * tiles,
                           floats_of(pass.sums) + point * stride + (output * in + channel * line));
}

} // namespace dt::nn
