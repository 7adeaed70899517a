// Pooling, transforms of rows and sums over lanes, for each instruction set of this processor, against plain loops.
#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/kernels/lanes/lane_rows.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt::nn;

namespace {

constexpr auto lanes = image_lanes;

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

// Windows of two channels: tiles of 2 and of 3 pixels, with pixels between them, overlapping, cut at the border.
std::vector<PoolingWindows> windows()
{
  return {{.input = {2, 4, 6}, .output = {2, 2, 3}, .kernel = 2, .stride = 2},
          {.input = {2, 4, 6}, .output = {2, 2, 3}, .kernel = 2, .stride = 2, .rectified = true},
          {.input = {2, 6, 3}, .output = {2, 2, 1}, .kernel = 3, .stride = 3},
          {.input = {2, 5, 8}, .output = {2, 2, 3}, .kernel = 2, .stride = 3},
          {.input = {2, 5, 5}, .output = {2, 3, 3}, .kernel = 2, .stride = 2, .rectified = true},
          {.input = {2, 5, 5}, .output = {2, 3, 3}, .kernel = 3, .stride = 2, .padding = 1}};
}

struct Pooled {
  std::vector<float> results, image_gradients;
  std::vector<std::uint8_t> winners;
  float winning_gradients = 0;
};

template<class F> void for_window(const PoolingWindows& w, std::int64_t y, std::int64_t x, const F& f)
{
  for (std::int64_t r = 0; r < w.kernel; ++r)
    for (std::int64_t c = 0; c < w.kernel; ++c) {
      const auto row = y * w.stride - w.padding + r, column = x * w.stride - w.padding + c;
      if (row >= 0 && row < w.input.height && column >= 0 && column < w.input.width)
        f(row * w.input.width + column, static_cast<std::uint8_t>(r * w.kernel + c));
    }
}

Pooled plain_loops(const PoolingWindows& w, const std::vector<float>& images, const std::vector<float>& gradients)
{
  const auto in = w.input.height * w.input.width;
  Pooled pooled;
  pooled.image_gradients.resize(images.size());
  for (std::int64_t channel = 0; channel < w.output.channels; ++channel)
    for (std::int64_t y = 0; y < w.output.height; ++y)
      for (std::int64_t x = 0; x < w.output.width; ++x)
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          float largest = -1e9F;
          std::uint8_t winner = no_winner;
          std::int64_t winning_pixel = 0;
          for_window(w, y, x, [&](std::int64_t pixel, std::uint8_t place) {
            const auto value = images[at((channel * in + pixel) * lanes + lane)];
            if (value > largest) largest = value, winner = place, winning_pixel = pixel;
          });
          if (w.rectified && largest <= 0) winner = no_winner;
          const auto gradient = gradients[pooled.results.size()];
          if (winner != no_winner) {
            pooled.image_gradients[at((channel * in + winning_pixel) * lanes + lane)] += gradient;
            pooled.winning_gradients += gradient;
          }
          pooled.results.push_back(largest);
          pooled.winners.push_back(winner);
        }
  return pooled;
}

} // namespace

TEST_CASE("maxima over windows and their gradients are those of plain loops, for every instruction set")
{
  for (const auto set : instruction_sets())
    for (const auto& w : windows()) {
      INFO("set " << static_cast<int>(set) << ", kernel " << w.kernel << ", stride " << w.stride << ", rectified "
                  << w.rectified);
      const auto images = to_float(numbers(w.input.size() * lanes, 1)), gradients = to_float(numbers(w.output.size() * lanes, 2));
      const auto expected = plain_loops(w, images, gradients);
      std::vector<float> results(gradients.size()), image_gradients(images.size(), 9);
      std::vector<std::uint8_t> winners(gradients.size());
      pool_lanes(set, w, images.data(), results.data(), winners.data());
      CHECK(results == expected.results);
      CHECK(winners == expected.winners);
      unpool_lanes(set, w, gradients.data(), winners.data(), image_gradients.data());
      double furthest = 0;
      for (std::size_t i = 0; i < image_gradients.size(); ++i)
        furthest = std::max(furthest, std::abs(double{image_gradients[i]} - double{expected.image_gradients[i]}));
      CHECK(furthest < 1e-6);
      CHECK(sum_of_winners(set, gradients.data(), winners.data(), w.output.size()) ==
            Approx(expected.winning_gradients).margin(1e-4));
    }
}

// <to(x), y> = <x, back(y)> for a transform and its adjoint.
TEST_CASE("gradients of pixels are the adjoint of the points of pixels, at every width and border, for every instruction set")
{
  for (const auto set : instruction_sets())
    for (const std::int64_t results : {1, 2, 5, 10})
      for (const std::int64_t padding : {0, 2}) {
        INFO("set " << static_cast<int>(set) << ", " << results << " results, border " << padding);
        const auto padded = results + 4, width = padded - 2 * padding, pairs = row_pairs(results);
        const auto inner = to_float(numbers(width * lanes, 1)), y = to_float(numbers(row_points * pairs * lanes, 2));
        std::vector<float> x(at(padded * lanes)), points(y.size()), gradient(inner.size() + 1, 9);
        std::copy(inner.begin(), inner.end(), x.begin() + padding * lanes);
        row_pixels(set, x.data(), padded, pairs, points.data(), pairs * lanes);
        row_pixel_gradients(set, y.data(), pairs * lanes, pairs, padding, width, gradient.data());
        double left = 0, right = 0;
        for (std::size_t i = 0; i < y.size(); ++i) left += double{points[i]} * double{y[i]};
        for (std::size_t i = 0; i < inner.size(); ++i) right += double{inner[i]} * double{gradient[i]};
        CHECK(left == Approx(right).margin(1e-4));
        CHECK(gradient.back() == 9); // nothing beyond
      }
}

TEST_CASE("sums over lanes are those of plain loops, for every instruction set")
{
  for (const auto set : instruction_sets())
    for (const std::int64_t count : {1, 3, 4, 9}) {
      INFO("set " << static_cast<int>(set) << ", " << count << " vectors");
      const auto vectors = to_float(numbers(count * lanes, 1));
      std::vector<float> totals(at(count));
      lane_totals(set, vectors.data(), count, totals.data());
      double sum = 0, furthest = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        double total = 0;
        for (std::int64_t lane = 0; lane < lanes; ++lane) total += double{vectors[at(i * lanes + lane)]};
        furthest = std::max(furthest, std::abs(total - double{totals[at(i)]}));
        sum += total;
      }
      CHECK(furthest < 4e-6);
      CHECK(double{lane_sum(set, vectors.data(), count)} == Approx(sum).margin(2e-5));
    }
}
