// Decodes and encodes PNG files in memory (libspng).
#pragma once

#include "engine/data/images/image.hpp"

#include <string>
#include <string_view>

namespace dt::data {

// Height, width and channels (1: grey, 3: colour or palette) that the file's header says. `image` gets no pixels. Throws like
// decode_png.
void read_png_header(std::string_view bytes, Image& image);

// Decodes the whole image to 8 bits per channel: a palette becomes colours, of 16-bit values the upper 8 bits stay, and
// transparency is dropped, so that a pixel keeps the colour that the file stores for it. channels: 1 or 3; 0: as the file has
// them. Throws a recipe error with the cause for bytes that are not a complete, correct PNG file.
void decode_png(std::string_view bytes, std::int64_t channels, Image& image);

// Returns the image (1 or 3 channels) as a PNG file.
std::string encode_png(const Image& image);

} // namespace dt::data
