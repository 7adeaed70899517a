#include "engine/data/source.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace dt::data {
namespace {

DataSpec spec_of(std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t classes)
{
  DataSpec spec;
  spec.name = "synthetic";
  spec.channels = channels;
  spec.height = height;
  spec.width = width;
  spec.classes = classes;
  return spec;
}

Sources open(const DataSpec& spec, std::int64_t seed = 1) { return open_sources(spec, "/nowhere", seed); }

std::vector<float> image_of(const Source& source, std::int64_t index)
{
  std::vector<float> image(static_cast<std::size_t>(source.channels() * source.height() * source.width()));
  source.read(index, image.data());
  return image;
}

} // namespace

TEST_CASE("synthetic images have the shape and number that the recipe asks for, and need no folder")
{
  auto spec = spec_of(3, 5, 7, 4);
  CHECK(open(spec).train->size() == 8192);
  CHECK(open(spec).test->size() == 1024);
  spec.train_samples = 10;
  spec.test_samples = 20;
  const auto sources = open(spec);
  CHECK(sources.train->size() == 10);
  CHECK(sources.test->size() == 20);
  CHECK(sources.train->channels() == 3);
  CHECK(sources.train->height() == 5);
  CHECK(sources.train->width() == 7);
  CHECK(sources.train->classes() == 4);
}

TEST_CASE("a synthetic image depends on the seed, the part and its number, and on nothing else")
{
  const auto spec = spec_of(1, 28, 28, 10);
  const auto one = open(spec, 1), again = open(spec, 1), other = open(spec, 2);
  const auto image = image_of(*one.train, 5);
  CHECK(image == image_of(*again.train, 5));
  CHECK(image != image_of(*again.train, 6));
  CHECK(image != image_of(*again.test, 5));
  CHECK(image != image_of(*other.train, 5));
}

TEST_CASE("synthetic labels are in range and about equally frequent, also for more classes than pixels")
{
  for (std::int64_t classes : {2, 10, 1000}) {
    const auto sources = open(spec_of(1, 4, 4, classes));
    std::vector<int> seen(static_cast<std::size_t>(classes));
    float image[16];
    for (std::int64_t i = 0; i < sources.train->size(); ++i) ++seen.at(static_cast<std::size_t>(sources.train->read(i, image)));
    const double mean = 8192.0 / static_cast<double>(classes);
    CHECK(*std::max_element(seen.begin(), seen.end()) < mean + 6 * std::sqrt(mean));
    CHECK(*std::min_element(seen.begin(), seen.end()) > mean - 6 * std::sqrt(mean));
  }
}

TEST_CASE("synthetic pixels have mean 0 and deviation 1 but for the label's band, raised by 1")
{
  const auto sources = open(spec_of(2, 50, 50, 10));
  std::vector<float> image(5000);
  for (std::int64_t sample = 0; sample < 20; ++sample) {
    const auto label = static_cast<std::size_t>(sources.train->read(sample, image.data()));
    for (std::size_t i = 500 * label; i < 500 * (label + 1); ++i) image[i] -= 1;
    const double mean = std::accumulate(image.begin(), image.end(), 0.0) / 5000;
    const double square = std::inner_product(image.begin(), image.end(), image.begin(), 0.0) / 5000;
    CHECK(mean == Approx(0).margin(0.1));
    CHECK(square == Approx(1).margin(0.1));
    CHECK(*std::max_element(image.begin(), image.end()) <= 1.733f);
  }
}

TEST_CASE("the pixels of a synthetic image are all different draws")
{
  const auto image = image_of(*open(spec_of(1, 8, 8, 2)).train, 0);
  CHECK(std::set<float>(image.begin(), image.end()).size() == 64);
}

} // namespace dt::data
