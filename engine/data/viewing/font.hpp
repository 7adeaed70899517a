// A bitmap font of 5 x 8 pixels for the characters of ASCII.
#pragma once

#include "engine/data/images/image.hpp"

#include <cstdint>
#include <string_view>

namespace dt::data {

inline constexpr std::int64_t glyph_width = 5, glyph_height = 8, glyph_advance = 6;

// Writes the text into the image, in this brightness. Pixels of the font become squares of `scale` pixels. Bytes outside of ASCII
// are written as one question mark per character. What lies outside of the image is cut off.
void draw_text(Image& image, std::int64_t top, std::int64_t left, std::string_view text, std::int64_t scale,
               std::uint8_t brightness);

// The number of characters that draw_text writes.
std::int64_t drawn_characters(std::string_view text);

} // namespace dt::data
