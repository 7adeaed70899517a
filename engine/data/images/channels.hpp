// Converts images between grey and colour, puts transparent ones on a background, and limits their size.
#pragma once

#include "engine/data/images/image.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace dt::data {

// Makes an image of 1 or 3 channels one of `channels` (1 or 3). Grey is 0.299 red + 0.587 green + 0.114 blue, rounded (ITU-R
// BT.601, as in JPEG files); colour of a grey image has three equal channels.
void convert_channels(Image& image, std::int64_t channels);

// How the values of an image file become channels of 8 bits.
struct ColourRules {
  std::array<std::uint8_t, 3> background{255, 255, 255}; // is behind transparent pixels
  std::uint16_t black = 0, white = 65535;                // 16-bit values that become 0 and 255; those outside become 0 or 255 too
  // 0 to 65535, rounded
  std::uint32_t scaled(std::uint16_t value) const;
};

// What an image file held that 8-bit channels cannot say.
struct DecodedFacts {
  bool is_transparent = false; // at least one pixel is not opaque
  bool has_16_bits = false;
  std::uint16_t least = 65535, greatest = 0; // 16-bit values of the pixels that are not fully transparent
};

// Puts pixels of red, green, blue and opacity on the background; `image` has their size and three channels.
void put_on_background(std::span<const std::uint8_t> pixels, const ColourRules& rules, Image& image, DecodedFacts& facts);
void put_on_background(std::span<const std::uint16_t> pixels, const ColourRules& rules, Image& image, DecodedFacts& facts);

// Throws a recipe error for an image of no pixels, or of more than 2^27: a damaged header could ask for any amount of memory.
void require_possible_size(std::string_view format, std::int64_t height, std::int64_t width);

} // namespace dt::data
