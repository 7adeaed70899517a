// Decodes and encodes PNG files in memory (libspng).
#pragma once

#include "engine/data/images/channels.hpp"

#include <string>
#include <string_view>

namespace dt::data {

// Height, width and channels (1: grey, 3: colour or palette) that the file's header says. `image` gets no pixels. Throws like
// decode_png.
void read_png_header(std::string_view bytes, Image& image);

// Decodes the whole image to 8 bits per channel, by the rules: a palette becomes colours, 16-bit values are scaled, and
// transparent pixels show the background. channels: 1 or 3; 0: as the file has them. Returns what the file held. Throws a recipe
// error with the cause for bytes that are not a complete, correct PNG file.
DecodedFacts decode_png(std::string_view bytes, std::int64_t channels, Image& image, const ColourRules& rules = {});

// Returns the image (1 or 3 channels) as a PNG file.
std::string encode_png(const Image& image);

} // namespace dt::data
