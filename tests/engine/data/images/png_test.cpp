#include "core/error.hpp"
#include "engine/data/images/channels.hpp"
#include "engine/data/images/decoder.hpp"
#include "engine/data/images/png.hpp"
#include "tests/engine/data/images/write_jpeg.hpp"

#include <memory>

#include <catch2/catch.hpp>
#include <spng.h>
#include <zlib.h>

using namespace dt::data;

namespace {

// A PNG with these raw bytes in any of the format's types.
std::string raw_png(std::uint32_t width, std::uint32_t height, spng_color_type type, std::uint8_t depth, const std::string& bytes,
                    const std::vector<spng_plte_entry>& palette = {}, spng_trns* clear = nullptr)
{
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{width, height, depth, static_cast<std::uint8_t>(type), 0, 0, 0};
  REQUIRE(spng_set_ihdr(context.get(), &header) == 0);
  spng_plte colours{};
  colours.n_entries = static_cast<std::uint32_t>(palette.size());
  for (std::size_t i = 0; i < palette.size(); ++i) colours.entries[i] = palette[i];
  if (!palette.empty()) REQUIRE(spng_set_plte(context.get(), &colours) == 0);
  if (clear != nullptr) REQUIRE(spng_set_trns(context.get(), clear) == 0);
  REQUIRE(spng_encode_image(context.get(), bytes.data(), bytes.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE) == 0);
  std::size_t size = 0;
  int code = 0;
  const std::unique_ptr<void, decltype(&std::free)> file(spng_get_png_buffer(context.get(), &size, &code), &std::free);
  return {static_cast<const char*>(file.get()), size};
}

std::vector<std::uint8_t> decoded(const std::string& png, std::int64_t channels = 0)
{
  Image image;
  decode_png(png, channels, image);
  return image.pixels;
}

using Bytes = std::vector<std::uint8_t>;

} // namespace

TEST_CASE("an encoded PNG decodes to the same pixels, grey and in colour")
{
  for (const std::int64_t channels : {1, 3}) {
    const auto image = gradient(7, 9, channels);
    Image back;
    decode_png(encode_png(image), 0, back);
    CHECK(back.height == 7);
    CHECK(back.width == 9);
    CHECK(back.channels == channels);
    CHECK(back.pixels == image.pixels);
  }
}

TEST_CASE("palettes become colours, 16 bits are scaled, and fewer bits become the whole range")
{
  CHECK(decoded(raw_png(2, 1, SPNG_COLOR_TYPE_INDEXED, 8, std::string("\1\0", 2), {{1, 2, 3, 255}, {200, 100, 50, 255}})) ==
        Bytes{200, 100, 50, 1, 2, 3});
  CHECK(decoded(raw_png(1, 1, SPNG_COLOR_TYPE_TRUECOLOR, 16, "\x34\x12\x78\x56\xbc\x9a")) == Bytes{0x12, 0x56, 0x9a});
  CHECK(decoded(raw_png(2, 1, SPNG_COLOR_TYPE_GRAYSCALE, 16, "\x34\x12\x78\x56")) == Bytes{0x12, 0x56});
  CHECK(decoded(raw_png(4, 1, SPNG_COLOR_TYPE_GRAYSCALE, 2, "\x1b")) == Bytes{0, 85, 170, 255});
  CHECK(decoded(raw_png(2, 1, SPNG_COLOR_TYPE_GRAYSCALE, 16, std::string("\x80\0\x7f\0", 4))) == Bytes{0, 0}); // 127.5 / 257
  CHECK(decoded(raw_png(2, 1, SPNG_COLOR_TYPE_GRAYSCALE, 16, std::string("\x81\0\xff\xff", 4))) == Bytes{1, 255});
}

TEST_CASE("transparent pixels of a PNG show the background, in each of the format's types")
{
  const ColourRules rules{.background = {200, 100, 0}};
  const auto pixels = [&](const std::string& png, std::int64_t channels = 0) {
    Image image;
    const auto facts = decode_png(png, channels, image, rules);
    CHECK(facts.is_transparent);
    return image.pixels;
  };
  const std::string colours("\x0a\x14\x1e\0\x0a\x14\x1e\x80\x0a\x14\x1e\xff", 12); // clear, half, opaque
  CHECK(pixels(raw_png(3, 1, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 8, colours)) == Bytes{200, 100, 0, 105, 60, 15, 10, 20, 30});
  CHECK(decoded(raw_png(3, 1, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 8, colours)) == Bytes{255, 255, 255, 132, 137, 142, 10, 20, 30});
  CHECK(pixels(raw_png(2, 1, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 8, std::string("\x0a\0\x0a\xff", 4))) == Bytes{119, 10});
  CHECK(pixels(raw_png(1, 1, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 16, std::string("\0\x01\0\x02\0\x03\0\0", 8))) ==
        Bytes{200, 100, 0});
  CHECK(pixels(raw_png(1, 1, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 16, std::string("\0\x40\0\0", 4)), 3) == Bytes{200, 100, 0});
  spng_trns palette{}, grey{};
  palette.n_type3_entries = 1; // the first entry is clear
  grey.gray = 1;
  CHECK(pixels(raw_png(2, 1, SPNG_COLOR_TYPE_INDEXED, 8, std::string("\1\0", 2), {{1, 2, 3, 255}, {4, 5, 6, 255}}, &palette)) ==
        Bytes{4, 5, 6, 200, 100, 0});
  CHECK(pixels(raw_png(2, 1, SPNG_COLOR_TYPE_GRAYSCALE, 1, "\x40", {}, &grey)) == Bytes{0, 119});
}

TEST_CASE("16-bit values of a PNG are scaled by the range that is asked for, and their limits are reported without clear pixels")
{
  Image image;
  const auto png = raw_png(4, 1, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 16,
                           std::string("\0\0\xff\xff\x64\0\xff\xff\xc8\0\xff\xff\xff\xff\0\0", 16)); // 0, 100, 200, clear
  const auto facts = decode_png(png, 0, image, {.background = {7, 7, 7}, .black = 0, .white = 200});
  CHECK(image.pixels == Bytes{0, 128, 255, 7});
  CHECK((facts.has_16_bits && facts.least == 0 && facts.greatest == 200));
  decode_png(raw_png(2, 1, SPNG_COLOR_TYPE_GRAYSCALE, 16, std::string("\x05\0\xff\xff", 4)), 0, image,
             {.black = 10, .white = 20});
  CHECK(image.pixels == Bytes{0, 255});
}

TEST_CASE("a PNG is converted to the channels that are asked for")
{
  CHECK(decoded(raw_png(1, 1, SPNG_COLOR_TYPE_GRAYSCALE, 8, "\x0a"), 3) == Bytes{10, 10, 10});
  CHECK(decoded(raw_png(1, 1, SPNG_COLOR_TYPE_TRUECOLOR, 8, "\xff\x64\x0a"), 1) == Bytes{136}); // 76.2 + 58.7 + 1.1
}

TEST_CASE("a PNG that is cut anywhere or has a changed byte in its pixels is refused")
{
  const auto png = encode_png(gradient(8, 8, 3));
  Image image;
  for (std::size_t length = 0; length < png.size(); ++length) {
    INFO(length);
    CHECK_THROWS_AS(decode_png(png.substr(0, length), 0, image), dt::Error);
  }
  for (auto at = png.find("IDAT") + 4; at < png.size() - 16; ++at) {
    auto changed = png;
    changed[at] ^= 0x10;
    INFO(at);
    CHECK_THROWS_AS(decode_png(changed, 0, image), dt::Error);
  }
}

TEST_CASE("a header that asks for more pixels than an image has is refused before memory is allocated")
{
  CHECK_NOTHROW(require_possible_size("PNG", 1 << 13, 1 << 14));
  CHECK_THROWS_WITH(require_possible_size("PNG", 1 << 20, 1 << 20),
                    "the PNG has 1048576 x 1048576 pixels, more than the limit of 134217728");
  CHECK_THROWS_WITH(require_possible_size("PNG", 0, 5), "the PNG has no pixels");
}

TEST_CASE("the decoder recognises formats by content and names what it does not know")
{
  ImageDecoder decoder;
  Image image;
  decoder.decode(encode_png(gradient(4, 5, 1)), 0, image);
  CHECK(image.channels == 1);
  decoder.decode(jpeg_bytes(gradient(16, 24, 3)), 0, image);
  CHECK(image.width == 24);
  decoder.read_header(encode_png(gradient(4, 5, 3)), image);
  CHECK((image.height == 4 && image.width == 5 && image.channels == 3));
  CHECK_THROWS_WITH(decoder.decode("", 0, image), "the file is empty");
  CHECK_THROWS_WITH(decoder.decode("GIF89a", 0, image), "it is a GIF, not a JPEG, PNG or WebP image");
  CHECK_THROWS_WITH(decoder.decode("no image", 0, image), "the file is not a JPEG, PNG or WebP image");
}

TEST_CASE("a PNG with several pictures is refused like an animated WebP, and one with a single picture is an image")
{
  const auto with_pictures = [](char count) {
    auto bytes = encode_png(gradient(4, 5, 1));
    const auto chunk = std::string("acTL\0\0\0", 7) + count + std::string(4, '\0');
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
    std::string checksum;
    for (int shift = 24; shift >= 0; shift -= 8) checksum += static_cast<char>(sum >> shift);
    return bytes.insert(33, std::string("\0\0\0\x8", 4) + chunk + checksum); // behind the header
  };
  ImageDecoder decoder;
  Image image;
  decoder.decode(with_pictures(1), 0, image);
  CHECK(image.width == 5);
  CHECK_THROWS_WITH(decoder.decode(with_pictures(2), 0, image), "the PNG cannot be decoded: it is an animation");
}
