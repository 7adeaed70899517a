#include "engine/data/images/jpeg.hpp"

#include "core/error.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"

#include <algorithm>
#include <cstdlib>

#include <catch2/catch.hpp>

namespace dt::data {
namespace {

// Largest difference between `part` of `image` and the same pixels of `decoded`, where `place` is.
int largest_difference(const Image& image, const Rectangle& part, const Image& decoded, const Rectangle& place)
{
  int largest = 0;
  for (std::int64_t y = 0; y < part.height; ++y)
    for (std::int64_t x = 0; x < part.width * image.channels; ++x)
      largest = std::max(largest, std::abs(image.at(part.top + y, part.left)[x] - decoded.at(place.top + y, place.left)[x]));
  return largest;
}

TEST_CASE("a JPEG decodes to the pixels it was made of, nearly")
{
  const auto channels = GENERATE(1, 3);
  const auto image = gradient(45, 77, channels);
  JpegDecoder decoder;
  Image decoded;
  decoder.decode(jpeg_bytes(image, 98), 0, decoded);
  REQUIRE(decoded.height == 45);
  REQUIRE(decoded.width == 77);
  REQUIRE(decoded.channels == channels);
  CHECK(largest_difference(image, image.whole(), decoded, decoded.whole()) < 12);
}

TEST_CASE("a grey JPEG becomes three equal channels and a colour JPEG one channel on request")
{
  JpegDecoder decoder;
  Image decoded;
  decoder.decode(jpeg_bytes(gradient(16, 16, 1)), 3, decoded);
  REQUIRE(decoded.channels == 3);
  CHECK(decoded.at(3, 9)[0] == decoded.at(3, 9)[2]);
  decoder.decode(jpeg_bytes(gradient(16, 16, 3)), 1, decoded);
  CHECK(decoded.pixels.size() == 256);
}

TEST_CASE("a CMYK JPEG becomes red, green and blue")
{
  Image inks;
  inks.reshape(8, 8, 4);
  for (std::size_t i = 0; i < inks.pixels.size(); ++i) inks.pixels[i] = i % 4 == 0 ? 255 : 0; // cyan, not inverted
  JpegDecoder decoder;
  Image decoded;
  decoder.decode(jpeg_bytes(inks, 100), 0, decoded);
  REQUIRE(decoded.channels == 3);
  // libjpeg marks the file as Adobe's, whose inks are inverted: ink 255 is none, so only cyan is absent from full black.
  CHECK(decoded.at(4, 4)[0] == 0);
  decoder.decode(jpeg_bytes(inks, 100), 1, decoded);
  CHECK(decoded.channels == 1);
}

TEST_CASE("a decoded part has the pixels of the whole image")
{
  const bool is_progressive = GENERATE(false, true);
  const auto image = gradient(120, 160, 3);
  const auto bytes = jpeg_bytes(image, 95, is_progressive);
  JpegDecoder decoder;
  Image whole, decoded;
  decoder.decode(bytes, 3, whole);
  const auto part = GENERATE(Rectangle{0, 0, 120, 160}, Rectangle{17, 33, 50, 61}, Rectangle{70, 100, 50, 60});
  const auto place = decoder.decode_part(bytes, 3, part, part.height, part.width, decoded);
  REQUIRE(place.height == part.height);
  REQUIRE(place.width == part.width);
  CHECK(decoded.width < part.width + 64);
  CHECK(largest_difference(whole, part, decoded, place) <= 4); // colours are interpolated differently at the edges
}

TEST_CASE("a part that becomes much smaller is decoded at a lower resolution")
{
  const auto bytes = jpeg_bytes(gradient(400, 640, 3), 95);
  JpegDecoder decoder;
  Image decoded;
  const auto place = decoder.decode_part(bytes, 3, {8, 16, 384, 600}, 90, 120, decoded);
  CHECK(place.height == 96);
  CHECK(place.width == 150);
  CHECK(decoded.height == 96);
}

TEST_CASE("every truncated JPEG is refused, and the decoder goes on with the next")
{
  const bool is_progressive = GENERATE(false, true);
  const auto bytes = jpeg_bytes(gradient(32, 48, 3), 90, is_progressive);
  JpegDecoder decoder;
  Image decoded;
  for (std::size_t length = 0; length + 2 < bytes.size(); ++length) // without the last two bytes nothing of the image is missing
    REQUIRE_THROWS_AS(decoder.decode(bytes.substr(0, length), 0, decoded), Error);
  decoder.decode(bytes, 0, decoded);
  CHECK(decoded.width == 48);
}

TEST_CASE("bytes that are no JPEG are refused with the cause")
{
  JpegDecoder decoder;
  Image decoded;
  CHECK_THROWS_WITH(decoder.decode("this is text", 0, decoded),
                    "the JPEG cannot be decoded: Not a JPEG file: starts with 0x74 0x68");
  auto damaged = jpeg_bytes(gradient(64, 64, 3));
  std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(damaged.size() / 2), damaged.end() - 40, '\xff');
  CHECK_THROWS_AS(decoder.decode(damaged, 0, decoded), Error);
}

TEST_CASE("the header tells size and channels without the pixels")
{
  JpegDecoder decoder;
  Image header;
  decoder.read_header(jpeg_bytes(gradient(45, 77, 1)), header);
  CHECK(header.height == 45);
  CHECK(header.width == 77);
  CHECK(header.channels == 1);
}

} // namespace
} // namespace dt::data
