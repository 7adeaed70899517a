// Decodes WebP files in memory (libwebp).
#pragma once

#include "engine/data/images/channels.hpp"

#include <string_view>

namespace dt::data {

// Height and width that the file's header says; 3 channels. `image` gets no pixels. Throws like decode_webp.
void read_webp_header(std::string_view bytes, Image& image);

// Decodes the whole image; transparent pixels show the background. channels: 1 or 3; 0: 3, because WebP files have no grey.
// Returns what the file held. Throws a recipe error with the cause for bytes that are not a complete, correct WebP file, and for
// animations.
DecodedFacts decode_webp(std::string_view bytes, std::int64_t channels, Image& image, const ColourRules& rules = {});

} // namespace dt::data
