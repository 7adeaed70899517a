#include "engine/optim/passes.hpp"

#include "core/maths/block_of_squares.hpp"
#include "core/maths/function_clones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace dt::optim {
namespace {

constexpr std::size_t block = floats_of_block;

// The exponent bits are all ones exactly for infinity and NaN.
DT_CLONES bool block_is_finite(const float* values, std::size_t size)
{
  constexpr std::uint32_t exponent = 0x7F800000;
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < size; ++i) largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & exponent);
  return largest != exponent;
}

DT_CLONES void add_block(float* __restrict into, const float* __restrict from, std::size_t size)
{
  for (std::size_t i = 0; i < size; ++i) into[i] += from[i];
}

DT_CLONES void follow_all(float* __restrict weights, const float* __restrict gradients, std::size_t size, float factor,
                          float rate)
{
  for (std::size_t i = 0; i < size; ++i) weights[i] += rate * (factor * gradients[i] - weights[i]);
}

} // namespace

// Adds the blocks' sums in order, 512 blocks at a time.
double sum_of_squares(const float* values, std::size_t size)
{
  std::array<double, 512> sums;
  constexpr std::size_t at_once = block * sums.size();
  double sum = 0;
  for (std::size_t begin = 0; begin < size; begin += at_once) {
    const auto part = std::min(at_once, size - begin);
    const auto blocks = (part + block - 1) / block;
#pragma omp parallel for schedule(static) if (part >= smallest_shared)
    for (std::size_t b = 0; b < blocks; ++b)
      sums[b] = block_of_squares(values + begin + b * block, std::min(block, part - b * block));
    for (std::size_t b = 0; b < blocks; ++b) sum += sums[b];
  }
  return sum;
}

bool all_finite(const float* values, std::size_t size)
{
  const auto blocks = (size + block - 1) / block;
  bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite) if (size >= smallest_shared)
  for (std::size_t b = 0; b < blocks; ++b)
    finite = finite && block_is_finite(values + b * block, std::min(block, size - b * block));
  return finite;
}

void add(float* into, const float* from, std::size_t size)
{
  const auto blocks = (size + block - 1) / block;
#pragma omp parallel for schedule(static) if (size >= smallest_shared)
  for (std::size_t b = 0; b < blocks; ++b) add_block(into + b * block, from + b * block, std::min(block, size - b * block));
}

void follow(float* weights, const float* gradients, std::size_t size, float factor, float rate)
{
  follow_all(weights, gradients, size, factor, rate);
}

} // namespace dt::optim
