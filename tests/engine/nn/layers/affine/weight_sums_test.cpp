// A convolution's backward pass to the weights by kernels of our own, held against sums in double precision.
#include "engine/nn/kernels/place_products.hpp"
#include "engine/nn/kernels/processor.hpp"
#include "engine/nn/layers/affine/weight_sums.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <omp.h>

#include <catch2/catch.hpp>

using namespace dt::nn;

namespace {

struct Case {
  ConvolutionSpec spec;
  Shape input;
  std::int64_t batch;
};

Shape output_of(const Case& c)
{
  const auto side = [&](std::int64_t pixels) { return (pixels + 2 * c.spec.padding - c.spec.kernel) / c.spec.stride + 1; };
  return {c.spec.channels, side(c.input.height), side(c.input.width)};
}

bool in_planes(const Shape& shape) { return shape.channels % 8 != 0; }

std::vector<float> random_floats(std::int64_t count, unsigned seed)
{
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

// Index of a number in a tensor of that shape. The layout is nChw8c if the number of channels is a multiple of 8, otherwise nchw.
std::size_t place(const Shape& shape, std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x)
{
  const auto lanes = in_planes(shape) ? 1 : 8;
  const auto plane = (image * shape.channels + channel / lanes * lanes) * shape.height * shape.width;
  return static_cast<std::size_t>(plane + (y * shape.width + x) * lanes + channel % lanes);
}

// Index of a weight. The layout is OIhw8i8o if the number of input channels is a multiple of 8, otherwise Ohwi8o.
std::size_t weight_place(const Case& c, std::int64_t o, std::int64_t i, std::int64_t kh, std::int64_t kw)
{
  const auto lanes = in_planes(c.input) ? c.input.channels : 8, k = c.spec.kernel;
  const auto block = o / 8 * (c.input.channels / lanes) + i / lanes;
  return static_cast<std::size_t>((((block * k + kh) * k + kw) * lanes + i % lanes) * 8 + o % 8);
}

struct Sum {
  double value = 0, absolute = 0;
};

Sum expected(const Case& c, const std::vector<float>& images, const std::vector<float>& gradient, std::int64_t o, std::int64_t i,
             std::int64_t kh, std::int64_t kw)
{
  const auto output = output_of(c);
  Sum sum;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t y = 0; y < output.height; ++y)
      for (std::int64_t x = 0; x < output.width; ++x) {
        const auto row = y * c.spec.stride + kh - c.spec.padding, column = x * c.spec.stride + kw - c.spec.padding;
        if (row < 0 || row >= c.input.height || column < 0 || column >= c.input.width) continue;
        const double product = static_cast<double>(gradient[place(output, n, o, y, x)]) *
                               static_cast<double>(images[place(c.input, n, i, row, column)]);
        sum.value += product, sum.absolute += std::abs(product);
      }
  return sum;
}

std::vector<float> computed(const Case& c, const std::vector<float>& images, const std::vector<float>& gradient, int threads)
{
  const WeightSums sums(c.spec, c.input, output_of(c), c.batch, threads);
  const auto weights = c.spec.channels * c.input.channels * c.spec.kernel * c.spec.kernel;
  std::vector<float> buffer(static_cast<std::size_t>(sums.buffer_floats()), std::nanf("")),
      result(static_cast<std::size_t>(weights), std::nanf(""));
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  sums.run(images.data(), gradient.data(), buffer.data(), result.data());
  omp_set_num_threads(before);
  return result;
}

bool has_avx2() { return std::ranges::count(instruction_sets(), InstructionSet::avx2) > 0; }

} // namespace

TEST_CASE("the weights' gradient by direct sums of our own agrees with sums in double precision over odd shapes")
{
  if (!has_avx2()) return;
  const auto c = GENERATE(Case{{.channels = 8, .kernel = 3, .padding = 1}, {8, 1, 1}, 1}, // most of the window lies outside
                          Case{{.channels = 40, .kernel = 3, .padding = 1}, {16, 14, 14}, 3},
                          Case{{.channels = 24, .kernel = 3, .stride = 2, .padding = 1}, {8, 15, 13}, 5},
                          Case{{.channels = 16, .kernel = 5, .padding = 2}, {24, 9, 30}, 2},
                          Case{{.channels = 16, .kernel = 2, .stride = 3}, {8, 11, 12}, 2}, // some pixels are not read
                          Case{{.channels = 64, .kernel = 7, .stride = 2, .padding = 3}, {3, 41, 40}, 2},
                          Case{{.channels = 32, .kernel = 11, .stride = 4, .padding = 2}, {3, 67, 67}, 3},
                          Case{{.channels = 8, .kernel = 3, .padding = 1}, {1, 300, 9}, 1},
                          Case{{.channels = 8, .kernel = 3, .padding = 1}, {4, 5, 300}, 1},
                          Case{{.channels = 64, .kernel = 3, .padding = 1}, {136, 7, 7}, 5},    // more than a core's cache holds
                          Case{{.channels = 64, .kernel = 3, .padding = 1}, {136, 80, 80}, 2}); // in several slices
  CAPTURE(c.spec.channels, c.spec.kernel, c.spec.stride, c.input.channels, c.input.height, c.input.width, c.batch);
  const auto images = random_floats(c.batch * c.input.size(), 1), gradient = random_floats(c.batch * output_of(c).size(), 2);
  const auto found = computed(c, images, gradient, 2);
  const auto terms = static_cast<double>(c.batch * output_of(c).height * output_of(c).width);
  std::mt19937 random(3);
  const auto below = [&](std::int64_t end) { return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random); };
  std::size_t outside = 0;
  for (int sample = 0; sample < 300; ++sample) {
    const auto o = below(c.spec.channels), i = below(c.input.channels), kh = below(c.spec.kernel), kw = below(c.spec.kernel);
    const auto sum = expected(c, images, gradient, o, i, kh, kw);
    const double error = std::abs(static_cast<double>(found[weight_place(c, o, i, kh, kw)]) - sum.value);
    outside += error <= terms * std::ldexp(1, -24) * sum.absolute ? 0 : 1; // false for NaN
  }
  CHECK(outside == 0);
  CHECK(std::ranges::count_if(found, [](float number) { return !std::isfinite(number); }) == 0);
}

TEST_CASE("the weights' gradient by direct sums of our own has equal bits with every number of threads")
{
  if (!has_avx2()) return;
  const auto c = GENERATE(Case{{.channels = 40, .kernel = 3, .padding = 1}, {16, 14, 14}, 3},
                          Case{{.channels = 64, .kernel = 3, .padding = 1}, {136, 28, 28}, 5},
                          Case{{.channels = 64, .kernel = 7, .stride = 2, .padding = 3}, {3, 40, 40}, 2});
  const auto images = random_floats(c.batch * c.input.size(), 1), gradient = random_floats(c.batch * output_of(c).size(), 2);
  const auto alone = computed(c, images, gradient, 1);
  for (const int threads : {2, 3, 16}) CHECK(computed(c, images, gradient, threads) == alone);
}

TEST_CASE(
    "convolutions whose channels do not fill blocks, that have groups, or have windows of one pixel are left to the library")
{
  const ConvolutionSpec whole{.channels = 16, .kernel = 3};
  const bool is_ours = best_instruction_set() == InstructionSet::avx2;
  CHECK(WeightSums::supports(whole, 8, false) == is_ours);
  CHECK(WeightSums::supports(whole, 3, true) == is_ours);
  CHECK_FALSE(WeightSums::supports(whole, 3, false));
  CHECK_FALSE(WeightSums::supports(whole, 8, true));
  CHECK_FALSE(WeightSums::supports(whole, 12, false));
  CHECK_FALSE(WeightSums::supports({.channels = 20, .kernel = 3}, 8, false));
  CHECK_FALSE(WeightSums::supports({.channels = 16, .kernel = 1}, 8, false));
  CHECK_FALSE(WeightSums::supports({.channels = 16, .kernel = 3, .groups = 2}, 8, false));
}

TEST_CASE("every tile of place products gives what plain loops give")
{
  if (!has_avx2()) return;
  PlaceSums shape{
      .images = 2, .rows = 3, .columns = 5, .scalar_image = 300, .scalar_row = 40, .scalar_column = 7, .scalar_stride = 2};
  shape.vector_image = 500, shape.vector_row = 48, shape.vector_block = 160, shape.result_block = 64;
  const auto scalars = random_floats(1000, 1), vectors = random_floats(2000, 2), before = random_floats(300, 3);
  const auto at = [](const std::vector<float>& values, std::int64_t place) {
    return static_cast<double>(values[static_cast<std::size_t>(place)]);
  };
  for (std::int64_t s = 1; s <= most_place_scalars; ++s)
    for (std::int64_t b = 1; b <= most_place_blocks; ++b) {
      auto results = before;
      place_kernel(s, b)(shape, scalars.data(), vectors.data(), results.data());
      for (std::int64_t place = 0; place < std::ssize(results); ++place) {
        const auto block = place / shape.result_block, scalar = place % shape.result_block / 8, lane = place % 8;
        double sum = at(before, place);
        if (block < b && scalar < s)
          for (std::int64_t i = 0; i < 2; ++i)
            for (std::int64_t r = 0; r < 3; ++r)
              for (std::int64_t c = 0; c < 5; ++c)
                sum += at(scalars, i * 300 + r * 40 + c * 7 + scalar * 2) *
                       at(vectors, i * 500 + r * 48 + c * 8 + block * 160 + lane);
        CHECK(static_cast<double>(results[static_cast<std::size_t>(place)]) == Approx(sum).margin(1e-5));
      }
    }
}
