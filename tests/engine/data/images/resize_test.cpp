#include "engine/data/images/resize.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

namespace dt::data {
namespace {

Image striped(std::int64_t height, std::int64_t width, std::int64_t channels)
{
  Image image;
  image.reshape(height, width, channels);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i * 37 % 251);
  return image;
}

// The same filter in plain double precision, both directions at once.
double triangle(const Image& image, const Rectangle& part, std::int64_t height, std::int64_t width, std::int64_t y,
                std::int64_t x, std::int64_t c)
{
  const double vertical = static_cast<double>(part.height) / static_cast<double>(height),
               horizontal = static_cast<double>(part.width) / static_cast<double>(width);
  double sum = 0, weights = 0;
  for (std::int64_t i = 0; i < part.height; ++i)
    for (std::int64_t j = 0; j < part.width; ++j) {
      const auto weight = [](double old_place, double centre, double scale) {
        return std::max(0.0, 1 - std::abs(old_place + 0.5 - centre) / std::max(scale, 1.0));
      };
      const double w = weight(static_cast<double>(i), (static_cast<double>(y) + 0.5) * vertical, vertical) *
                       weight(static_cast<double>(j), (static_cast<double>(x) + 0.5) * horizontal, horizontal);
      sum += w * image.at(part.top + i, part.left + j)[c];
      weights += w;
    }
  return sum / weights;
}

TEST_CASE("resizing averages with a triangle over the pixels that a new pixel covers")
{
  const std::int64_t channels = GENERATE(1, 3), height = GENERATE(5, 20, 33), width = GENERATE(7, 24, 40);
  const auto image = striped(30, 40, channels);
  const Rectangle part{4, 6, 20, 24};
  Image resized;
  resize(image, part, height, width, resized);
  REQUIRE(resized.height == height);
  REQUIRE(resized.width == width);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c)
        REQUIRE(std::abs(resized.at(y, x)[c] - triangle(image, part, height, width, y, x, c)) <= 1.01); // two roundings
}

TEST_CASE("an image that keeps its size keeps its pixels")
{
  const auto image = striped(9, 11, 3);
  Image same;
  resize(image, image.whole(), 9, 11, same);
  CHECK(same.pixels == image.pixels);
}

TEST_CASE("an even image stays even at every size")
{
  Image image;
  image.reshape(31, 17, 3);
  std::ranges::fill(image.pixels, std::uint8_t{201});
  Image resized;
  resize(image, image.whole(), GENERATE(1, 13, 64), GENERATE(1, 29, 100), resized);
  CHECK(std::ranges::all_of(resized.pixels, [](auto pixel) { return pixel == 201; }));
}

} // namespace
} // namespace dt::data
