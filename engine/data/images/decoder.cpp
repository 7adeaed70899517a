#include "engine/data/images/decoder.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/data/images/png.hpp"
#include "engine/data/images/webp.hpp"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

// What bytes that are none of the formats are instead; empty: not known.
std::string cause_of_other(std::string_view bytes)
{
  constexpr std::size_t looked_at = 1024;
  const auto text = lower_case(trim(bytes.substr(0, looked_at)));
  if (text.starts_with("version https://git-lfs")) return "it is a pointer of Git LFS. `git lfs pull` fetches its content";
  if (text.find("/annex/objects/") < 64) return "it is a pointer of git-annex. `git annex get` fetches its content";
  if (text.starts_with("<!doctype html") || text.starts_with("<html")) return "it is a page in HTML. Fetch the image again";
  if (bytes.starts_with(std::string_view("\0\5\x16\7", 4)))
    return "it holds what macOS keeps beside a file, and no image. Remove it";
  if (bytes.find_first_not_of('\0') == bytes.npos) return "the file holds zeros only. Fetch it again";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> others{{{"GIF8", "a GIF"},
                                                                                 {"BM", "a BMP"},
                                                                                 {"II*", "a TIFF"},
                                                                                 {"MM", "a TIFF"},
                                                                                 {"%PDF", "a PDF"},
                                                                                 {"PK", "a zip archive"},
                                                                                 {"\x1f\x8b", "compressed with gzip"},
                                                                                 {"<svg", "an SVG"}}};
  for (const auto& [begin, name] : others)
    if (bytes.starts_with(begin)) return fmt::format("it is {}, not a JPEG, PNG or WebP image", name);
  if (bytes.size() >= 12 && bytes.substr(4, 4) == "ftyp") return "it is an AVIF or HEIF, not a JPEG, PNG or WebP image";
  return "";
}

ImageFormat require_format(std::string_view bytes)
{
  if (bytes.empty()) throw Error(ErrorKind::recipe, "the file is empty");
  if (const auto format = format_of(bytes)) return *format;
  if (const auto cause = cause_of_other(bytes); !cause.empty()) throw Error(ErrorKind::recipe, cause);
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
