// ImageDecoder: decodes JPEG, PNG and WebP files, which it recognises by their first bytes.
#pragma once

#include "engine/data/images/channels.hpp"
#include "engine/data/images/jpeg.hpp"

#include <optional>
#include <string_view>

namespace dt::data {

enum class ImageFormat { jpeg, png, webp };

// "JPEG"
std::string_view name_of(ImageFormat format);
// The format of the file that begins with `bytes`; nothing if it is none of them.
std::optional<ImageFormat> format_of(std::string_view bytes);

// Decodes one file after another. Each thread needs its own. Both functions throw a recipe error with the cause for bytes that
// are not a complete image of one of the formats.
class ImageDecoder {
 public:
  explicit ImageDecoder(const ColourRules& rules = {}) : rules_(rules) {}
  // Height, width and channels as the file's header says. `image` gets no pixels.
  void read_header(std::string_view bytes, Image& image);
  // channels: 1 or 3; 0: as the file has them.
  void decode(std::string_view bytes, std::int64_t channels, Image& image);
  // What the file that was decoded last held.
  const DecodedFacts& facts() const { return facts_; }

 private:
  ColourRules rules_;
  DecodedFacts facts_;
  JpegDecoder jpeg_;
};

} // namespace dt::data
