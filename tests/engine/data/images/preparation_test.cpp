#include "engine/data/images/preparation.hpp"

#include "engine/data/images/resize.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

namespace dt::data {
namespace {

// Channel values that tell where a pixel was: row, column, 200.
Image numbered(std::int64_t height, std::int64_t width)
{
  Image image;
  image.reshape(height, width, 3);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      auto* pixel = image.pixels.data() + (y * width + x) * 3;
      pixel[0] = static_cast<std::uint8_t>(y + 1);
      pixel[1] = static_cast<std::uint8_t>(x + 1);
      pixel[2] = 200;
    }
  return image;
}

// Scales with which byte b becomes the float b.
const std::vector<ChannelScale> plain(3, {0.0f, 1.0f / 255.0f});

std::vector<float> prepared(const Preparation& preparation, const Image& image, const SampleRequest& request)
{
  std::vector<float> floats(static_cast<std::size_t>(3 * preparation.height() * preparation.width()));
  Image between;
  preparation.write(image, preparation.part(image.height, image.width, request), request, between, floats.data());
  return floats;
}

DataSpec spec_of(ImageCrop crop, bool flip)
{
  DataSpec spec;
  spec.crop = crop;
  spec.flip = flip;
  return spec;
}

TEST_CASE("without crop and flip an image of the right size becomes its normalised bytes, channel by channel")
{
  const Preparation preparation(4, 5, {{0.5f, 0.25f}, {0, 1}, {0, 1}}, spec_of(ImageCrop::none, false));
  const auto floats = prepared(preparation, numbered(4, 5), {.is_varied = true, .chance = 7});
  CHECK(floats[0] == Approx((1 / 255.0 - 0.5) / 0.25));
  CHECK(floats[20 + 3] == Approx(4 / 255.0));
  CHECK(floats[40] == Approx(200 / 255.0));
}

TEST_CASE("an image of another size gives its central part, resized")
{
  const Preparation preparation(4, 4, plain, spec_of(ImageCrop::none, false));
  CHECK(preparation.part(10, 6, {}) == Rectangle{2, 0, 6, 6});
  CHECK(preparation.part(6, 10, {}) == Rectangle{0, 2, 6, 6});
  const auto floats = prepared(preparation, numbered(4, 8), {});
  CHECK(floats[16] == Approx(3)); // the first of columns 3 to 6
  CHECK(floats[19] == Approx(6));
}

TEST_CASE("flip mirrors half of the varied images and no others")
{
  const Preparation preparation(2, 4, plain, spec_of(ImageCrop::none, true));
  const auto image = numbered(2, 4);
  int mirrored = 0;
  for (std::uint64_t chance = 0; chance < 1000; ++chance) {
    const auto floats = prepared(preparation, image, {.is_varied = true, .chance = chance});
    REQUIRE((floats[8] == Approx(1) || floats[8] == Approx(4)));
    REQUIRE(floats[8] + floats[11] == Approx(5));
    mirrored += floats[8] > 2 ? 1 : 0;
    REQUIRE(prepared(preparation, image, {.chance = chance})[8] == Approx(1));
  }
  CHECK(mirrored > 420);
  CHECK(mirrored < 580);
}

TEST_CASE("pad moves the image by every distance up to the pad and fills with black")
{
  auto spec = spec_of(ImageCrop::pad, GENERATE(false, true));
  spec.pad = 2;
  const Preparation preparation(5, 6, plain, spec);
  std::map<std::pair<int, int>, int> moves;
  for (std::uint64_t chance = 0; chance < 2000; ++chance) {
    auto floats = prepared(preparation, numbered(5, 6), {.is_varied = true, .chance = chance});
    const auto at = [&](int channel, int y, int x) { return floats[static_cast<std::size_t>((channel * 5 + y) * 6 + x)]; };
    const bool is_mirrored = at(1, 2, 2) > at(1, 2, 3);
    const auto column = [&](int x) { return is_mirrored ? 5 - x : x; };
    const int down = static_cast<int>(at(0, 2, 2) + 0.5f) - 3, right = static_cast<int>(at(1, 2, column(2)) + 0.5f) - 3;
    ++moves[{down, right}];
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 6; ++x) {
        const bool is_inside = y + down >= 0 && y + down < 5 && x + right >= 0 && x + right < 6;
        REQUIRE(at(2, y, column(x)) == Approx(is_inside ? 200 : 0));
        if (is_inside) REQUIRE(at(0, y, column(x)) == Approx(y + down + 1));
        if (is_inside) REQUIRE(at(1, y, column(x)) == Approx(x + right + 1));
      }
  }
  CHECK(moves.size() == 25);
  for (const auto& [move, count] : moves) CHECK(count > 40); // 80 expected
}

TEST_CASE("random-resized takes parts of 8 to 100 % of the area with ratios of 3/4 to 4/3, anywhere in the image")
{
  const Preparation preparation(8, 8, plain, spec_of(ImageCrop::random_resized, false));
  constexpr std::int64_t height = 300, width = 400;
  double least = 1, most = 0;
  std::set<std::int64_t> tops;
  for (std::uint64_t chance = 0; chance < 5000; ++chance) {
    const auto part = preparation.part(height, width, {.is_varied = true, .chance = chance});
    REQUIRE(part.top >= 0);
    REQUIRE(part.left >= 0);
    REQUIRE(part.top + part.height <= height);
    REQUIRE(part.left + part.width <= width);
    const double share = static_cast<double>(part.height * part.width) / (height * width);
    const double ratio = static_cast<double>(part.width) / static_cast<double>(part.height);
    REQUIRE(ratio > 0.74);
    REQUIRE(ratio < 1.35);
    least = std::min(least, share);
    most = std::max(most, share);
    tops.insert(part.top);
  }
  CHECK(least == Approx(0.08).margin(0.005));
  CHECK(most > 0.95);
  CHECK(tops.size() > 150);
  CHECK(preparation.part(height, width, {}) == Rectangle{18, 68, 263, 263}); // the central 87.5 % for tests
}

TEST_CASE("equal chances give equal images")
{
  const Preparation preparation(8, 8, plain, spec_of(ImageCrop::random_resized, true));
  const auto image = numbered(40, 30);
  CHECK(prepared(preparation, image, {.is_varied = true, .chance = 5}) ==
        prepared(preparation, image, {.is_varied = true, .chance = 5}));
  CHECK(prepared(preparation, image, {.is_varied = true, .chance = 5}) !=
        prepared(preparation, image, {.is_varied = true, .chance = 6}));
}

} // namespace
} // namespace dt::data
