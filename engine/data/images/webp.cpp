#include "engine/data/images/webp.hpp"

#include "core/error.hpp"

#include <new>
#include <span>
#include <string>
#include <vector>

#include <webp/decode.h>

namespace dt::data {
namespace {

const std::uint8_t* begin_of(std::string_view bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

Error failed(std::string_view cause) { return Error(ErrorKind::recipe, "the WebP cannot be decoded: " + std::string(cause)); }

std::string_view cause_of(VP8StatusCode code)
{
  if (code == VP8_STATUS_NOT_ENOUGH_DATA) return "the file ends too early";
  if (code == VP8_STATUS_UNSUPPORTED_FEATURE) return "it has a feature that libwebp does not know";
  return "it is damaged";
}

WebPBitstreamFeatures read_features(std::string_view bytes, Image& image)
{
  WebPBitstreamFeatures features;
  const auto code = WebPGetFeatures(begin_of(bytes), bytes.size(), &features);
  if (code != VP8_STATUS_OK) throw failed(cause_of(code));
  if (features.has_animation != 0) throw failed("it is an animation");
  require_possible_size("WebP", features.height, features.width);
  image.height = features.height, image.width = features.width, image.channels = 3;
  image.pixels.clear();
  return features;
}

void decode_into(std::string_view bytes, WEBP_CSP_MODE mode, std::int64_t row_bytes, std::vector<std::uint8_t>& pixels)
{
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0)
    throw Error(ErrorKind::environment, "libwebp has another version than dtctl was built with.");
  config.output.colorspace = mode;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {pixels.data(), static_cast<int>(row_bytes), pixels.size()};
  const auto code = WebPDecode(begin_of(bytes), bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (code == VP8_STATUS_OUT_OF_MEMORY) throw std::bad_alloc(); // says nothing about the image
  if (code != VP8_STATUS_OK) throw failed(cause_of(code == VP8_STATUS_SUSPENDED ? VP8_STATUS_NOT_ENOUGH_DATA : code));
}

} // namespace

void read_webp_header(std::string_view bytes, Image& image) { read_features(bytes, image); }

DecodedFacts decode_webp(std::string_view bytes, std::int64_t channels, Image& image, const ColourRules& rules)
{
  const bool has_opacity = read_features(bytes, image).has_alpha != 0;
  image.reshape(image.height, image.width, 3);
  DecodedFacts facts;
  if (has_opacity) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(4 * image.height * image.width));
    decode_into(bytes, MODE_RGBA, 4 * image.width, pixels);
    put_on_background(std::span<const std::uint8_t>(pixels), rules, image, facts);
  } else {
    decode_into(bytes, MODE_RGB, 3 * image.width, image.pixels);
  }
  convert_channels(image, channels == 0 ? 3 : channels);
  return facts;
}

} // namespace dt::data
