#include "engine/nn/layers/winograd/winograd_filter.hpp"

#include <algorithm>
#include <array>

#include <omp.h>

namespace dt::nn {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);
constexpr std::int64_t most_product_bytes = 192 << 10; // of a group
constexpr std::int64_t most_chunk_bytes = 10 << 20;    // points of the pixels of a chunk that all threads share
constexpr std::int64_t fewest_own_tiles = 7; // of a thread's own chunk: half as many as the products' kernel takes at once
constexpr std::int64_t most_window_weights = 25;
constexpr std::int64_t chunks_of_thread = 4, parts_of_thread = 2; // at least

} // namespace

WinogradFilter::WinogradFilter(const WinogradTiling& tiling, const Case& of)
    : tiling_(tiling), case_(of), tiles_(of.batch * tiling.tiles_of(of.to)),
      blocks_at_once_(std::min<std::int64_t>(2, of.to.channels / winograd_line))
{
  const auto& caches = of.caches;
  const auto tile_bytes = tiling.points() * of.from.channels * float_bytes;
  const auto own_tiles = caches.own * 2 / 5 / tile_bytes;
  has_own_chunks_ = own_tiles >= fewest_own_tiles && tile_bytes * of.to.channels <= caches.shared / 2 &&
                    tiles_ >= chunks_of_thread * of.threads * own_tiles;
  chunk_ = equal_part(tiles_, has_own_chunks_ ? own_tiles : most_chunk_bytes / tile_bytes);
  part_ = divided_up(chunk_, divided_up(parts_of_thread * of.threads, divided_up(blocks(), blocks_at_once_)));
  group_ = equal_part(chunk_, most_product_bytes / (tiling.points() * blocks_at_once_ * winograd_line * float_bytes));
}

std::int64_t WinogradFilter::blocks() const { return case_.to.channels / winograd_line; }

std::int64_t WinogradFilter::own_floats() const { return tiling_.floats_of(blocks_at_once_ * winograd_line, group_); }

std::int64_t WinogradFilter::window_floats() const
{
  return tiling_.floats_of(case_.from.channels * winograd_line, has_own_chunks_ ? blocks() : blocks_at_once_);
}

std::int64_t WinogradFilter::pixel_floats() const { return tiling_.floats_of(case_.from.channels, chunk_); }

// The products of each thread; then the points of windows of all threads or of each one, and those of pixels of each one or all.
std::int64_t WinogradFilter::buffer_floats() const
{
  return case_.threads * own_floats() + (has_own_chunks_ ? 1 : case_.threads) * window_floats() +
         (has_own_chunks_ ? case_.threads : 1) * pixel_floats();
}

void WinogradFilter::run(const void* images, const float* weights, const float* bias, void* results, float* buffer) const
{
  const Operands operands{{const_cast<void*>(images), case_.from, case_.to, case_.padding}, // only read
                          {.images = results, .shape = case_.to, .results = case_.to, .are_results = true},
                          weights,
                          bias,
                          buffer};
#pragma omp parallel num_threads(case_.threads)
  has_own_chunks_ ? run_own_chunks(operands) : run_shared_chunks(operands);
}

void WinogradFilter::run_own_chunks(const Operands& operands) const
{
  const auto in = case_.from.channels, stride = point_stride(in * blocks());
  auto* windows = operands.buffer + case_.threads * own_floats();
  auto* pixels = windows + window_floats() + omp_get_thread_num() * pixel_floats();
#pragma omp for schedule(static)
  for (std::int64_t block = 0; block < blocks(); ++block)
    transform_windows(operands.weights, block, 1, windows + block * in * winograd_line, stride);
#pragma omp for schedule(static)
  for (std::int64_t first = 0; first < tiles_; first += chunk_) {
    const TileRange chunk{first, std::min(chunk_, tiles_ - first)};
    tiling_.all_to_points(operands.images, chunk, pixels);
    for (std::int64_t block = 0; block < blocks(); block += blocks_at_once_) {
      const Windows of{block, std::min(blocks_at_once_, blocks() - block), windows + block * in * winograd_line, stride};
      compute(operands, chunk, pixels, of, 0, chunk.tiles);
    }
  }
}

// Each thread takes some blocks of outputs and a part of the chunk's tiles, and transforms the windows of these blocks for
// itself: 512 x 512 windows at once would fill 38 MB.
void WinogradFilter::run_shared_chunks(const Operands& operands) const
{
  const auto stride = point_stride(case_.from.channels * blocks_at_once_);
  auto* windows = operands.buffer + case_.threads * own_floats() + omp_get_thread_num() * window_floats();
  auto* pixels = operands.buffer + case_.threads * (own_floats() + window_floats());
  std::int64_t transformed = -1; // the block whose windows this thread has
  for (std::int64_t first = 0; first < tiles_; first += chunk_) {
    const TileRange chunk{first, std::min(chunk_, tiles_ - first)};
    tiling_.divide_to_points(operands.images, chunk, pixels);
#pragma omp for collapse(2) schedule(static)
    for (std::int64_t block = 0; block < blocks(); block += blocks_at_once_)
      for (std::int64_t part = 0; part < chunk.tiles; part += part_) {
        const Windows of{block, std::min(blocks_at_once_, blocks() - block), windows, stride};
        if (block != transformed) transform_windows(operands.weights, block, of.blocks, windows, stride);
        transformed = block;
        compute(operands, chunk, pixels, of, part, std::min(part + part_, chunk.tiles));
      }
  }
}

void WinogradFilter::transform_windows(const float* weights, std::int64_t block, std::int64_t blocks, float* to,
                                       std::int64_t stride) const
{
  const auto froms = case_.from.channels / winograd_line, tos = case_.to.channels / winograd_line;
  const auto size = tiling_.window() * tiling_.window();
  alignas(64) std::array<float, most_window_weights * winograd_line * winograd_line> turned;
  for (std::int64_t b = block; b < block + blocks; ++b)
    for (std::int64_t from = 0; from < froms; ++from) {
      const auto* windows = weights + (case_.rotated ? from * tos + b : b * froms + from) * size * winograd_line * winograd_line;
      if (case_.rotated) {
        for (std::int64_t pixel = 0; pixel < size * winograd_line * winograd_line; pixel += winograd_line * winograd_line)
          products_.transpose(windows + pixel, turned.data() + pixel);
        windows = turned.data();
      }
      for (std::int64_t channel = 0; channel < winograd_line; ++channel)
        tiling_.kernels().window_points(windows + channel * winograd_line, winograd_line * winograd_line, case_.rotated,
                                        to + ((b - block) * case_.from.channels + from * winograd_line + channel) * winograd_line,
                                        stride);
    }
}

// Group by group: products with all channels, then their results.
void WinogradFilter::compute(const Operands& operands, const TileRange& chunk, const float* pixels, const Windows& windows,
                             std::int64_t begin, std::int64_t end) const
{
  const auto in = case_.from.channels, pixel_stride = point_stride(in / winograd_line * chunk.tiles);
  auto* products = operands.buffer + omp_get_thread_num() * own_floats();
  for (std::int64_t group = begin; group < end; group += group_) {
    const TileRange range{chunk.first + group, std::min(group_, end - group)};
    const auto stride = point_stride(windows.blocks * range.tiles);
    const ChannelSums shape{.rows = range.tiles, .outer = in / winograd_line, .scalar_stride = chunk.tiles * winograd_line};
    for (std::int64_t point = 0; point < tiling_.points(); ++point)
      for (std::int64_t b = 0; b < windows.blocks; ++b)
        products_.sum_channels(shape, pixels + point * pixel_stride + group * winograd_line,
                               windows.points + point * windows.stride + b * in * winograd_line,
                               products + point * stride + b * range.tiles * winograd_line);
    for (std::int64_t b = 0; b < windows.blocks; ++b)
      tiling_.to_results({products + b * range.tiles * winograd_line, stride, operands.bias, case_.rectify}, range,
                         (windows.block + b) * winograd_line, operands.results);
  }
}

} // namespace dt::nn
