// The kernels in image lanes for each instruction set of this processor, against plain loops in double precision.
#include "engine/nn/kernels/lanes/lane_images.hpp"
#include "engine/nn/kernels/lanes/lane_products.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

using namespace dt::nn;

namespace {

constexpr auto lanes = static_cast<std::size_t>(image_lanes);

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

} // namespace

TEST_CASE("every processor has the plain kernels, and the best set is one of its own")
{
  const auto sets = instruction_sets();
  CHECK(sets.front() == InstructionSet::plain);
  CHECK(std::find(sets.begin(), sets.end(), best_instruction_set()) != sets.end());
}

TEST_CASE("products in lanes are sums over their terms, for every size of a tile and every instruction set")
{
  constexpr std::int64_t terms = 7;
  for (const auto set : instruction_sets())
    for (int outputs = 1; outputs <= 14; ++outputs)
      for (int positions = 1; positions <= 9; ++positions)
        for (const bool rectify : {false, true}) {
          const auto vectors = to_float(numbers((terms + positions) * image_lanes, 1)),
                     scalars = to_float(numbers(terms * 20, 2)), start = to_float(numbers(outputs, 3));
          Terms all;
          for (std::int64_t t = 0; t < terms; ++t) all.add((terms - 1 - t) * image_lanes, t * 20);
          const ProductShape shape{.outputs = outputs,
                                   .positions = positions,
                                   .output_stride = positions * image_lanes,
                                   .position_stride = image_lanes};
          std::vector<float> results(static_cast<std::size_t>(outputs * positions) * lanes + 1, 9);
          lane_products(set, all, shape, vectors.data(), scalars.data(), start.data(), rectify, results.data());
          double furthest = 0;
          for (std::int64_t o = 0; o < outputs; ++o)
            for (std::int64_t p = 0; p < positions; ++p)
              for (std::int64_t lane = 0; lane < image_lanes; ++lane) {
                double sum = start[at(o)];
                for (std::int64_t t = 0; t < terms; ++t)
                  sum += double{scalars[at(t * 20 + o)]} * double{vectors[at((terms - 1 - t + p) * image_lanes + lane)]};
                const double found = results[at((o * positions + p) * image_lanes + lane)];
                furthest = std::max(furthest, std::abs(found - (rectify ? std::max(sum, 0.0) : sum)));
              }
          INFO("set " << static_cast<int>(set) << ", " << outputs << " x " << positions << ", rectify " << rectify);
          CHECK(furthest < 2e-6);
          CHECK(results.back() == 9); // nothing beyond
        }
}

TEST_CASE("correlations in lanes add up gradients times images, for every size of a tile and every instruction set")
{
  constexpr std::int64_t rows = 3, columns = 5, width = 8, planes = 11;
  for (const auto set : instruction_sets())
    for (int outputs = 1; outputs <= 8; ++outputs)
      for (int count = 1; count <= 9; ++count) {
        const auto gradients = to_float(numbers(outputs * rows * columns * image_lanes, 1)),
                   images = to_float(numbers((rows * width + planes) * image_lanes, 2));
        std::vector<std::int32_t> places;
        for (int t = 0; t < count; ++t) places.push_back(static_cast<std::int32_t>((count - 1 - t) * image_lanes));
        const CorrelationShape shape{.outputs = outputs,
                                     .gradients = {rows, columns, columns * image_lanes},
                                     .plane_stride = rows * columns * image_lanes,
                                     .image_row_stride = width * image_lanes,
                                     .output_stride = image_lanes,
                                     .image_stride = outputs * image_lanes};
        std::vector<float> sums(static_cast<std::size_t>(outputs * count) * lanes, 0.5F);
        lane_correlations(set, shape, gradients.data(), images.data(), places.data(), count, sums.data());
        double furthest = 0;
        for (std::int64_t o = 0; o < outputs; ++o)
          for (std::int64_t t = 0; t < count; ++t)
            for (std::int64_t lane = 0; lane < image_lanes; ++lane) {
              double sum = 0.5;
              for (std::int64_t row = 0; row < rows; ++row)
                for (std::int64_t column = 0; column < columns; ++column)
                  sum += double{gradients[at(((o * rows + row) * columns + column) * image_lanes + lane)]} *
                         double{images[at((count - 1 - t + row * width + column) * image_lanes + lane)]};
              furthest = std::max(furthest, std::abs(double{sums[at((t * outputs + o) * image_lanes + lane)]} - sum));
            }
        INFO("set " << static_cast<int>(set) << ", " << outputs << " x " << count);
        CHECK(furthest < 4e-6);
      }
}

TEST_CASE("images go to lanes and back unchanged, whatever their number and size, and missing ones are zeros")
{
  const auto set = GENERATE(from_range(instruction_sets()));
  for (const std::int64_t images : {1, 5, 16})
    for (const std::int64_t columns : {1, 7, 15, 16, 17, 50}) {
      INFO("set " << static_cast<int>(set) << ", " << images << " images of " << columns);
      const auto plain = to_float(numbers(images * columns, 1));
      std::vector<float> transposed(static_cast<std::size_t>(columns) * lanes, 9);
      transpose_to_lanes(set, plain.data(), images, columns, columns, transposed.data());
      const auto row = (columns + image_lanes - 1) / image_lanes * image_lanes;
      std::vector<float> back(static_cast<std::size_t>(row) * lanes, 9);
      transpose_from_lanes(set, transposed.data(), columns, row, back.data());
      std::size_t different = 0;
      for (std::int64_t image = 0; image < image_lanes; ++image)
        for (std::int64_t column = 0; column < row; ++column) {
          const float expected = image < images && column < columns ? plain[at(image * columns + column)] : 0.0F;
          different += back[at(image * row + column)] == expected ? 0 : 1;
          if (column < columns) different += transposed[at(column * image_lanes + image)] == expected ? 0 : 1;
        }
      CHECK(different == 0);
    }
}
