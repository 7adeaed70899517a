#include "engine/data/images/png.hpp"

#include "core/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <spng.h>

namespace dt::data {
namespace {

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

void require(int code)
{
  if (code == SPNG_EMEM || code == SPNG_EZLIB_INIT) throw std::bad_alloc(); // says nothing about the image
  if (code != 0) throw Error(ErrorKind::recipe, std::string("the PNG cannot be decoded: ") + spng_strerror(code));
}

// A chunk acTL in front of the pixels tells the number of pictures. The first one alone is no more the image than that of a WebP.
void require_still(std::string_view bytes)
{
  constexpr std::size_t signature = 8, around = 12; // length, type and checksum of a chunk
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return value;
  };
  for (std::size_t at = signature; at + around + 8 <= bytes.size(); at += around + number(at)) {
    const auto type = bytes.substr(at + 4, 4);
    if (type == "IDAT") return;
    if (type == "acTL" && number(at + 8) > 1) throw Error(ErrorKind::recipe, "the PNG cannot be decoded: it is an animation");
  }
}

Context open(std::string_view bytes, spng_ihdr& header)
{
  Context context(spng_ctx_new(0));
  if (!context) throw std::bad_alloc();
  constexpr std::size_t longest_chunk = std::size_t{1} << 24, most_chunks = std::size_t{1} << 26;
  require(spng_set_chunk_limits(context.get(), longest_chunk, most_chunks));
  require(spng_set_png_buffer(context.get(), bytes.data(), bytes.size()));
  require(spng_get_ihdr(context.get(), &header));
  require_possible_size("PNG", header.height, header.width);
  require_still(bytes);
  return context;
}

// libspng does not look at the end of the last chunk.
void require_whole(std::string_view bytes)
{
  constexpr std::string_view end = "IEND\xae\x42\x60\x82"; // with its checksum
  if (bytes.rfind(end) == bytes.npos) throw Error(ErrorKind::recipe, "the PNG cannot be decoded: the file ends too early");
}

bool is_grey(const spng_ihdr& header)
{
  return header.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
}

// Whether pixels may be transparent: by a channel of opacity, or by a chunk that names a colour or entries of the palette.
bool has_transparency(spng_ctx* context, const spng_ihdr& header)
{
  if (header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA || header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA) return true;
  spng_trns chunk{};
  return spng_get_trns(context, &chunk) == 0;
}

// Red, green, blue and opacity of all pixels.
template<class Value> std::vector<Value> wide_pixels(spng_ctx* context, const spng_ihdr& header, spng_format format)
{
  std::vector<Value> pixels(std::size_t{4} * header.height * header.width);
  require(spng_decode_image(context, pixels.data(), pixels.size() * sizeof(Value), format, SPNG_DECODE_TRNS));
  return pixels;
}

} // namespace

void read_png_header(std::string_view bytes, Image& image)
{
  spng_ihdr header{};
  const auto context = open(bytes, header);
  image.height = header.height, image.width = header.width, image.channels = is_grey(header) ? 1 : 3;
  image.pixels.clear();
}

DecodedFacts decode_png(std::string_view bytes, std::int64_t channels, Image& image, const ColourRules& rules)
{
  spng_ihdr header{};
  const auto context = open(bytes, header);
  require_whole(bytes);
  DecodedFacts facts;
  if (header.bit_depth == 16) {
    image.reshape(header.height, header.width, 3);
    put_on_background(wide_pixels<std::uint16_t>(context.get(), header, SPNG_FMT_RGBA16), rules, image, facts);
  } else if (has_transparency(context.get(), header)) {
    image.reshape(header.height, header.width, 3);
    put_on_background(wide_pixels<std::uint8_t>(context.get(), header, SPNG_FMT_RGBA8), rules, image, facts);
  } else {
    const bool grey = is_grey(header);
    image.reshape(header.height, header.width, grey ? 1 : 3);
    require(spng_decode_image(context.get(), image.pixels.data(), image.pixels.size(), grey ? SPNG_FMT_G8 : SPNG_FMT_RGB8, 0));
  }
  require(spng_decode_chunks(context.get())); // those behind the pixels
  convert_channels(image, channels != 0 ? channels : is_grey(header) ? 1 : 3);
  return facts;
}

std::string encode_png(const Image& image)
{
  Context context(spng_ctx_new(SPNG_CTX_ENCODER));
  spng_ihdr header{};
  header.height = static_cast<std::uint32_t>(image.height);
  header.width = static_cast<std::uint32_t>(image.width);
  header.bit_depth = 8;
  header.color_type = image.channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR;
  const auto check = [](int code) {
    if (code != 0) throw Error(ErrorKind::internal, std::string("The PNG cannot be encoded: ") + spng_strerror(code));
  };
  check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
  check(spng_set_ihdr(context.get(), &header));
  check(spng_encode_image(context.get(), image.pixels.data(), image.pixels.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
  std::size_t size = 0;
  int code = 0;
  const std::unique_ptr<void, decltype(&std::free)> file(spng_get_png_buffer(context.get(), &size, &code), &std::free);
  check(code);
  return {static_cast<const char*>(file.get()), size};
}

} // namespace dt::data
