// The kernels of our own convolutions and inner products for each instruction set of this processor: products in blocks against
// plain loops in double precision, and Winograd's transforms against convolutions as they are written.
#include "engine/nn/kernels/block_products.hpp"
#include "engine/nn/kernels/simd_vector.hpp"
#include "engine/nn/kernels/winograd/winograd_tiles.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

using namespace dt::nn;

namespace {

constexpr std::int64_t line = block_channels;
constexpr float untouched = 9;

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

std::vector<float> floats(std::int64_t size, std::uint64_t stream) { return to_float(numbers(size, stream)); }

// A plane of 7 x 7 pixels, and a tile of it that begins inside or with one row and column of padding.
constexpr std::int64_t plane_side = 7;

double pixel(const std::vector<float>& plane, std::int64_t block, std::int64_t row, std::int64_t column, std::int64_t lane)
{
  const bool inside = row >= 0 && row < plane_side && column >= 0 && column < plane_side;
  return inside ? plane[at((row * plane_side + column) * block + lane)] : 0;
}

struct Case {
  InstructionSet set;
  std::int64_t window, first; // first: row and column of the tile
};

std::vector<Case> cases()
{
  std::vector<Case> all;
  for (const auto set : instruction_sets())
    for (const std::int64_t window : {3, 5})
      for (const std::int64_t first : {-1, 1, 4}) all.push_back({set, window, first});
  return all;
}

double dot(const std::vector<float>& a, const std::vector<float>& b)
{
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

} // namespace

TEST_CASE("products in blocks are sums over channels, for every number of rows and every instruction set")
{
  constexpr std::int64_t outer = 3, stride = 20 * line;
  for (const auto set : instruction_sets())
    for (std::int64_t rows = 1; rows <= 17; ++rows)
      for (const bool accumulate : {false, true}) {
        INFO("set " << static_cast<int>(set) << ", rows " << rows << ", accumulate " << accumulate);
        const auto scalars = floats(outer * stride, 1), vectors = floats(outer * line * line, 2), before = floats(rows * line, 3);
        auto results = before;
        results.push_back(untouched);
        block_kernels(set).sum_channels({rows, outer, stride, accumulate}, scalars.data(), vectors.data(), results.data());
        double furthest = 0;
        for (std::int64_t row = 0; row < rows; ++row)
          for (std::int64_t lane = 0; lane < line; ++lane) {
            double sum = accumulate ? before[at(row * line + lane)] : 0;
            for (std::int64_t o = 0; o < outer; ++o)
              for (std::int64_t i = 0; i < line; ++i)
                sum += double{scalars[at(o * stride + row * line + i)]} * double{vectors[at((o * line + i) * line + lane)]};
            furthest = std::max(furthest, std::abs(results[at(row * line + lane)] - sum));
          }
        CHECK(furthest < 1e-5);
        CHECK(results.back() == untouched);
      }
}

TEST_CASE("products in blocks are sums over rows, in parts and as a whole, for every instruction set")
{
  for (const auto set : instruction_sets())
    for (const std::int64_t rows : {1, 3, 128, 129, 300})
      for (const bool accumulate : {false, true}) {
        INFO("set " << static_cast<int>(set) << ", rows " << rows << ", accumulate " << accumulate);
        const auto scalars = floats(rows * line, 1), vectors = floats(rows * line, 2), before = floats(line * line, 3);
        auto results = before;
        results.push_back(untouched);
        block_kernels(set).sum_rows({rows, accumulate}, scalars.data(), vectors.data(), results.data());
        double furthest = 0;
        for (std::int64_t i = 0; i < line; ++i)
          for (std::int64_t lane = 0; lane < line; ++lane) {
            double sum = accumulate ? before[at(i * line + lane)] : 0;
            for (std::int64_t row = 0; row < rows; ++row)
              sum += double{scalars[at(row * line + i)]} * double{vectors[at(row * line + lane)]};
            furthest = std::max(furthest, std::abs(results[at(i * line + lane)] - sum));
          }
        CHECK(furthest < 2e-5);
        CHECK(results.back() == untouched);
      }
}

TEST_CASE("a block of 16 x 16 numbers is transposed exactly by every instruction set")
{
  const auto from = floats(line * line, 1);
  for (const auto set : instruction_sets()) {
    std::vector<float> to(from.size());
    block_kernels(set).transpose(from.data(), to.data());
    for (std::int64_t row = 0; row < line; ++row)
      for (std::int64_t column = 0; column < line; ++column) CHECK(to[at(column * line + row)] == from[at(row * line + column)]);
  }
}

TEST_CASE("a tile by Winograd's algorithm is the convolution of its pixels, inside an image and over its edges")
{
  for (const auto& [set, window, first] : cases()) {
    for (const bool rotated : {false, true}) {
      INFO("set " << static_cast<int>(set) << ", window " << window << ", first " << first << ", rotated " << rotated);
      const auto& kernels = winograd_kernels(window, dt::Precision::fp32, set);
      const auto block = kernels.block, results = kernels.results;
      const auto plane = floats(plane_side * plane_side * block, 1), weights = floats(window * window * line, 2),
                 bias = floats(block, 3);
      const WinogradTile tile{plane_side, plane_side, first, first}, to{plane_side, plane_side, 1, 2};
      std::vector<float> pixels(at(kernels.points * line)), windows(at(kernels.points * line)), sums(at(kernels.points * line)),
          found(at(plane_side * plane_side * block), untouched);
      kernels.pixels(plane.data(), tile, pixels.data(), line);
      kernels.window_points(weights.data(), line, rotated, windows.data(), line);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = pixels[i] * windows[i];
      kernels.give_results(sums.data(), line, bias.data(), false, to, found.data());
      double furthest = 0;
      std::int64_t written = 0;
      for (std::int64_t row = 0; row < results; ++row)
        for (std::int64_t column = 0; column < results; ++column)
          for (std::int64_t lane = 0; lane < block; ++lane) {
            double sum = bias[at(lane)];
            for (std::int64_t i = 0; i < window * window; ++i)
              sum += pixel(plane, block, first + row + i / window, first + column + i % window, lane) *
                     double{weights[at((rotated ? window * window - 1 - i : i) * line + lane)]};
            furthest = std::max(furthest, std::abs(pixel(found, block, 1 + row, 2 + column, lane) - sum));
            ++written;
          }
      CHECK(furthest < (window == 5 ? 4e-5 : 2e-5));
      CHECK(std::count(found.begin(), found.end(), untouched) == static_cast<std::int64_t>(found.size()) - written);
    }
  }
}

TEST_CASE("results of a tile that do not exist are not written, and negative ones become zero where a ReLU follows")
{
  for (const auto& [set, window, first] : cases()) {
    const auto& kernels = winograd_kernels(window, dt::Precision::fp32, set);
    const auto block = kernels.block;
    const auto sums = floats(kernels.points * line, 1);
    std::vector<float> plain(at(plane_side * plane_side * block), untouched), rectified = plain;
    const WinogradTile last{plane_side, plane_side, plane_side - 1, plane_side - 1};
    kernels.give_results(sums.data(), line, nullptr, false, last, plain.data());
    kernels.give_results(sums.data(), line, nullptr, true, last, rectified.data());
    CHECK(std::count(plain.begin(), plain.end(), untouched) == static_cast<std::int64_t>(plain.size()) - block);
    for (std::size_t i = plain.size() - at(block); i < plain.size(); ++i) CHECK(rectified[i] == std::max(plain[i], 0.0F));
  }
}

// <A^T m A, y> = <m, A y A^T>, and the same for the windows.
TEST_CASE("gradients of results and windows are the adjoints of their transforms")
{
  for (const auto& [set, window, first] : cases()) {
    INFO("set " << static_cast<int>(set) << ", window " << window << ", first " << first);
    const auto& kernels = winograd_kernels(window, dt::Precision::fp32, set);
    const auto block = kernels.block;
    const WinogradTile tile{plane_side, plane_side, std::max<std::int64_t>(first, 0), std::max<std::int64_t>(first, 0)};
    const auto m = floats(kernels.points * line, 1), y = floats(plane_side * plane_side * block, 2);
    std::vector<float> results(y.size(), 0), gradients(m.size(), 0);
    for (std::int64_t lane = 0; lane < line; lane += block) { // each with the same y
      std::vector<float> part(y.size(), 0);
      kernels.give_results(m.data() + lane, line, nullptr, false, tile, part.data());
      for (std::size_t i = 0; i < part.size(); ++i) results[i] += part[i];
      kernels.result_gradients(y.data(), tile, gradients.data() + lane, line);
    }
    CHECK(dot(results, y) == Approx(dot(m, gradients)).margin(1e-3));

    const auto weights = floats(window * window * line, 3);
    std::vector<float> transformed(m.size(), 0), back(weights.size(), 0);
    kernels.window_points(weights.data(), line, false, transformed.data(), line);
    kernels.window_gradient(m.data(), line, back.data(), line);
    CHECK(dot(transformed, m) == Approx(dot(weights, back)).margin(1e-3));
  }
}

TEST_CASE("transforms of planes of bfloat16 compute as those of fp32 do, and round results to the nearest bfloat16")
{
  for (const auto& [set, window, first] : cases()) {
    INFO("set " << static_cast<int>(set) << ", window " << window << ", first " << first);
    const auto &half = winograd_kernels(window, dt::Precision::bf16, set),
               &single = winograd_kernels(window, dt::Precision::fp32, set);
    const auto block = single.block;
    const WinogradTile tile{plane_side, plane_side, first, first};
    std::vector<float> plane(at(plane_side * plane_side * block));
    std::vector<Bf16> halves(plane.size());
    for (std::size_t i = 0; const double number : numbers(plane_side * plane_side * block, 1)) {
      plane[i] = static_cast<float>(std::round(128 * number) / 128); // exact in bfloat16
      halves[i] = {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(plane[i]) >> 16)};
      ++i;
    }
    std::vector<float> expected(at(single.points * line), untouched), found = expected;
    single.pixels(plane.data(), tile, expected.data(), line);
    half.pixels(halves.data(), tile, found.data(), line);
    CHECK(found == expected);
    single.result_gradients(plane.data(), tile, expected.data(), line);
    half.result_gradients(halves.data(), tile, found.data(), line);
    CHECK(found == expected);

    const WinogradTile to{plane_side, plane_side, 1, 2};
    const auto sums = floats(single.points * line, 2), bias = floats(block, 3);
    single.give_results(sums.data(), line, bias.data(), false, to, plane.data());
    half.give_results(sums.data(), line, bias.data(), false, to, halves.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < plane.size(); ++i)
      wrong += halves[i].bits == dt::bfloat16_bits(std::bit_cast<std::uint32_t>(plane[i])) >> 16 ? 0 : 1;
    CHECK(wrong == 0);
  }
}
