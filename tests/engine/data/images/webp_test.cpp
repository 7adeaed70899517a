#include "core/error.hpp"
#include "engine/data/images/webp.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"

#include <catch2/catch.hpp>
#include <webp/encode.h>

using namespace dt::data;

namespace {

std::string taken(std::uint8_t* bytes, std::size_t count)
{
  std::string text(reinterpret_cast<const char*>(bytes), count);
  WebPFree(bytes);
  return text;
}

std::string lossless(const Image& image)
{
  std::uint8_t* bytes = nullptr;
  const auto count = WebPEncodeLosslessRGB(image.pixels.data(), static_cast<int>(image.width), static_cast<int>(image.height),
                                           static_cast<int>(3 * image.width), &bytes);
  return taken(bytes, count);
}

std::string lossy(const Image& image)
{
  std::uint8_t* bytes = nullptr;
  const auto count = WebPEncodeRGB(image.pixels.data(), static_cast<int>(image.width), static_cast<int>(image.height),
                                   static_cast<int>(3 * image.width), 90, &bytes);
  return taken(bytes, count);
}

} // namespace

TEST_CASE("a lossless WebP decodes to the pixels it was made of, and to grey if that is asked for")
{
  const auto image = gradient(9, 7, 3);
  Image back;
  decode_webp(lossless(image), 0, back);
  CHECK((back.height == 9 && back.width == 7 && back.channels == 3));
  CHECK(back.pixels == image.pixels);
  decode_webp(lossless(image), 1, back);
  CHECK(back.pixels.size() == 63);
}

TEST_CASE("a lossy WebP decodes to nearly the pixels it was made of")
{
  const auto image = gradient(32, 48, 3);
  Image back;
  decode_webp(lossy(image), 3, back);
  int largest = 0;
  for (std::size_t i = 0; i < image.pixels.size(); ++i) largest = std::max(largest, std::abs(image.pixels[i] - back.pixels[i]));
  CHECK(largest < 24);
}

TEST_CASE("transparent pixels of a WebP show the background")
{
  const std::string pixels("\x0a\x14\x1e\0\x0a\x14\x1e\xff", 8);
  std::uint8_t* bytes = nullptr;
  const auto count =
      WebPEncodeLosslessRGBA(reinterpret_cast<const std::uint8_t*>(pixels.data()), 2, 1, static_cast<int>(pixels.size()), &bytes);
  const auto webp = taken(bytes, count);
  Image back;
  CHECK(decode_webp(webp, 0, back, {.background = {200, 100, 0}}).is_transparent);
  CHECK(back.pixels == std::vector<std::uint8_t>{200, 100, 0, 10, 20, 30});
  CHECK_FALSE(decode_webp(lossless(gradient(4, 4, 3)), 0, back).is_transparent);
}

TEST_CASE("a WebP that is cut anywhere is refused")
{
  Image back;
  for (const auto& webp : {lossless(gradient(16, 16, 3)), lossy(gradient(16, 16, 3))})
    for (std::size_t length = 0; length < webp.size(); ++length) {
      INFO(length);
      CHECK_THROWS_AS(decode_webp(webp.substr(0, length), 0, back), dt::Error);
    }
}

TEST_CASE("a WebP that is cut behind its pixels is refused too")
{
  const auto number = [](std::size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const auto image = gradient(9, 7, 3);
  constexpr std::size_t riff_header = 12;
  const auto pixels = lossless(image).substr(riff_header);
  const auto chunks =
      "WEBPVP8X" + number(10, 4) + number(8, 4) + number(6, 3) + number(8, 3) + pixels + "EXIF" + number(4, 4) + "abcd";
  const auto webp = "RIFF" + number(chunks.size(), 4) + chunks;
  Image back;
  decode_webp(webp, 0, back);
  CHECK(back.pixels == image.pixels);
  for (auto length = webp.size() - 12; length < webp.size(); ++length) {
    INFO(length);
    CHECK_THROWS_AS(decode_webp(webp.substr(0, length), 0, back), dt::Error);
  }
}
