#include "engine/data/images/decoder.hpp"

#include "core/error.hpp"
#include "engine/data/images/png.hpp"
#include "engine/data/images/webp.hpp"

#include <string>

namespace dt::data {
namespace {

ImageFormat require_format(std::string_view bytes)
{
  if (bytes.empty()) throw Error(ErrorKind::recipe, "the file is empty");
  if (const auto format = format_of(bytes)) return *format;
  throw Error(ErrorKind::recipe, "the file is not a JPEG, PNG or WebP image");
}

} // namespace

std::string_view name_of(ImageFormat format)
{
  return format == ImageFormat::jpeg ? "JPEG" : format == ImageFormat::png ? "PNG" : "WebP";
}

std::optional<ImageFormat> format_of(std::string_view bytes)
{
  if (bytes.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::png;
  if (bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") return ImageFormat::webp;
  return std::nullopt;
}

void ImageDecoder::read_header(std::string_view bytes, Image& image)
{
  switch (require_format(bytes)) {
  case ImageFormat::jpeg:
    return jpeg_.read_header(bytes, image);
  case ImageFormat::png:
    return read_png_header(bytes, image);
  case ImageFormat::webp:
    return read_webp_header(bytes, image);
  }
}

void ImageDecoder::decode(std::string_view bytes, std::int64_t channels, Image& image)
{
  facts_ = {};
  switch (require_format(bytes)) {
  case ImageFormat::jpeg: {
    jpeg_.read_header(bytes, image);
    require_possible_size("JPEG", image.height, image.width);
    return jpeg_.decode(bytes, channels, image);
  }
  case ImageFormat::png:
    facts_ = decode_png(bytes, channels, image, rules_);
    return;
  case ImageFormat::webp:
    facts_ = decode_webp(bytes, channels, image, rules_);
    return;
  }
}

} // namespace dt::data
