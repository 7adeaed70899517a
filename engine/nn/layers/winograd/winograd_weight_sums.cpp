#include "engine/nn/layers/winograd/winograd_weight_sums.hpp"

#include <algorithm>

#include <omp.h>

namespace dt::nn {
namespace {

constexpr std::int64_t number_bytes = sizeof(float);
constexpr std::int64_t most_shared_bytes = 24 << 20; // points of all tiles that the threads share
constexpr std::int64_t smallest_chunk_bytes = 2 << 20, largest_chunk_bytes = 64 << 20; // points of a chunk that they share
constexpr std::int64_t blocks_at_once = 4; // of channels and of outputs, whose sums a thread computes at once

} // namespace

// A chunk's points are as large as the sums, or twice as large where threads share them, within limits: with smaller chunks, sums
// would be read and written more often than points.
WinogradWeightSums::WinogradWeightSums(const WinogradTiling& tiling, const Case& of)
    : tiling_(tiling), case_(of), tiles_(of.batch * tiling.tiles_of(of.output)), of_thread_(divided_up(tiles_, of.threads))
{
  const auto in = of.input.channels, out = of.output.channels;
  const auto sum_bytes = tiling.points() * in * out * number_bytes, tile_bytes = tiling.points() * (in + out) * number_bytes;
  if (of_thread_ * tile_bytes >= 2 * sum_bytes) {
    way_ = Way::own_tiles;
    chunk_ = equal_part(of_thread_, std::max(sum_bytes, cache_sizes().own / 2) / tile_bytes);
    return;
  }
  chunk_ = equal_part(tiles_, std::clamp(2 * sum_bytes, smallest_chunk_bytes, largest_chunk_bytes) / tile_bytes);
  const auto items =
      divided_up(in, blocks_at_once * winograd_line) * divided_up(out, blocks_at_once * winograd_line); // of own_sums
  const bool suits_own_sums = chunk_ == tiles_ && tiles_ * tile_bytes <= most_shared_bytes && items >= of.threads;
  way_ = suits_own_sums ? Way::own_sums : Way::in_chunks;
}

std::int64_t WinogradWeightSums::sum_stride() const
{
  if (way_ == Way::own_sums) return point_stride(blocks_at_once * blocks_at_once * winograd_line);
  return point_stride(case_.input.channels * case_.output.channels / winograd_line);
}

std::int64_t WinogradWeightSums::buffer_floats() const
{
  const auto points = tiling_.floats_of(case_.input.channels, chunk_) + tiling_.floats_of(case_.output.channels, chunk_);
  const auto sums = tiling_.points() * sum_stride();
  return (way_ == Way::own_tiles ? case_.threads : 1) * points + (way_ == Way::in_chunks ? 1 : case_.threads) * sums;
}

void WinogradWeightSums::run(const void* images, const void* gradient, float* weight_gradient, float* buffer) const
{
  const auto pixels = tiling_.floats_of(case_.input.channels, chunk_),
             gradients = tiling_.floats_of(case_.output.channels, chunk_);
  const std::int64_t copies = way_ == Way::own_tiles ? case_.threads : 1;
  const Operands operands{
      {const_cast<void*>(images), case_.input, case_.output, case_.padding}, // only read
      {.images = const_cast<void*>(gradient), .shape = case_.output, .results = case_.output, .are_results = true},
      weight_gradient,
      buffer,
      buffer + copies * pixels,
      buffer + copies * (pixels + gradients)};
#pragma omp parallel num_threads(case_.threads)
  switch (way_) {
  case Way::own_tiles:
    sum_own_tiles(operands);
    break;
  case Way::own_sums:
    sum_own_sums(operands);
    break;
  case Way::in_chunks:
    sum_in_chunks(operands);
    break;
  }
}

void WinogradWeightSums::divide_to_points(const Operands& operands, const TileRange& range) const
{
  tiling_.divide_to_points(operands.images, range, operands.pixels);
  tiling_.divide_to_points(operands.gradient, range, operands.gradients);
}

void WinogradWeightSums::add_products(const Operands& operands, const TileRange& chunk, bool accumulate, std::int64_t point,
                                      std::int64_t channel_block) const
{
  const auto in = case_.input.channels, out = case_.output.channels;
  const RowSums shape{.rows = chunk.tiles, .accumulate = accumulate};
  const auto* pixels =
      operands.pixels + point * point_stride(in / winograd_line * chunk.tiles) + channel_block * winograd_line * chunk.tiles;
  const auto* gradients = operands.gradients + point * point_stride(out / winograd_line * chunk.tiles);
  auto* sums = operands.sums + point * sum_stride() + channel_block * winograd_line * winograd_line;
  for (std::int64_t output = 0; output < out; output += winograd_line)
    products_.sum_rows(shape, pixels, gradients + output * chunk.tiles, sums + output * in);
}

void WinogradWeightSums::sum_own_tiles(const Operands& operands) const
{
  const auto sum_floats = tiling_.points() * sum_stride(), shares = divided_up(tiles_, of_thread_);
#pragma omp for schedule(static)
  for (std::int64_t share = 0; share < shares; ++share) sum_share(operands, share);
#pragma omp for schedule(static)
  for (std::int64_t at = 0; at < sum_floats; at += winograd_line)
    for (std::int64_t share = 1; share < shares; ++share)
      for (std::int64_t i = 0; i < winograd_line; ++i) operands.sums[at + i] += operands.sums[share * sum_floats + at + i];
  give_gradients(operands);
}

void WinogradWeightSums::sum_share(Operands operands, std::int64_t share) const
{
  const auto in = case_.input.channels, out = case_.output.channels;
  operands.pixels += share * tiling_.floats_of(in, chunk_);
  operands.gradients += share * tiling_.floats_of(out, chunk_);
  operands.sums += share * tiling_.points() * sum_stride();
  const auto begin = share * of_thread_, end = std::min(begin + of_thread_, tiles_);
  for (std::int64_t first = begin; first < end; first += chunk_) {
    const TileRange chunk{first, std::min(chunk_, end - first)};
    tiling_.all_to_points(operands.images, chunk, operands.pixels);
    tiling_.all_to_points(operands.gradient, chunk, operands.gradients);
    for (std::int64_t point = 0; point < tiling_.points(); ++point)
      for (std::int64_t block = 0; block < in / winograd_line; ++block)
        add_products(operands, chunk, first > begin, point, block);
  }
}

void WinogradWeightSums::sum_own_sums(const Operands& operands) const
{
  const auto ins = case_.input.channels / winograd_line, outs = case_.output.channels / winograd_line, stride = sum_stride();
  const auto pixel_stride = point_stride(ins * tiles_), gradient_stride = point_stride(outs * tiles_);
  const RowSums shape{.rows = tiles_};
  auto* sums = operands.sums + omp_get_thread_num() * tiling_.points() * stride;
  divide_to_points(operands, {0, tiles_});
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t output = 0; output < outs; output += blocks_at_once)
    for (std::int64_t channel = 0; channel < ins; channel += blocks_at_once) {
      const auto output_end = std::min(output + blocks_at_once, outs), channel_end = std::min(channel + blocks_at_once, ins);
      const auto sums_of = [&](std::int64_t o, std::int64_t c) {
        return sums + ((o - output) * blocks_at_once + c - channel) * winograd_line * winograd_line;
      };
      for (std::int64_t point = 0; point < tiling_.points(); ++point)
        for (std::int64_t c = channel; c < channel_end; ++c)
          for (std::int64_t o = output; o < output_end; ++o)
            products_.sum_rows(shape, operands.pixels + point * pixel_stride + c * tiles_ * winograd_line,
                               operands.gradients + point * gradient_stride + o * tiles_ * winograd_line,
                               sums_of(o, c) + point * stride);
      for (std::int64_t o = output; o < output_end; ++o)
        for (std::int64_t c = channel; c < channel_end; ++c)
          for (std::int64_t i = 0; i < winograd_line; ++i)
            give_gradient(operands, o, c * winograd_line + i, sums_of(o, c) + i * winograd_line, stride);
    }
}

void WinogradWeightSums::sum_in_chunks(const Operands& operands) const
{
  for (std::int64_t first = 0; first < tiles_; first += chunk_) {
    const TileRange chunk{first, std::min(chunk_, tiles_ - first)};
    divide_to_points(operands, chunk);
#pragma omp for collapse(2) schedule(static)
    for (std::int64_t point = 0; point < tiling_.points(); ++point)
      for (std::int64_t block = 0; block < case_.input.channels / winograd_line; ++block)
        add_products(operands, chunk, first > 0, point, block);
  }
  give_gradients(operands);
}

void WinogradWeightSums::give_gradients(const Operands& operands) const
{
  const auto in = case_.input.channels;
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t block = 0; block < case_.output.channels / winograd_line; ++block)
    for (std::int64_t channel = 0; channel < in; ++channel)
      give_gradient(operands, block, channel, operands.sums + (block * in + channel) * winograd_line, sum_stride());
}

void WinogradWeightSums::give_gradient(const Operands& operands, std::int64_t block, std::int64_t channel, const float* sums,
                                       std::int64_t stride) const
{
  const auto in = case_.input.channels, size = tiling_.window() * tiling_.window();
  tiling_.kernels().window_gradient(
      sums, stride,
      operands.weight_gradient +
          ((block * in + channel / winograd_line * winograd_line) * size + channel % winograd_line) * winograd_line,
      winograd_line * winograd_line);
}

} // namespace dt::nn
