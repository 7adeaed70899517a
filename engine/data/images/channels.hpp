// Converts images between grey and colour, and limits their size.
#pragma once

#include "engine/data/images/image.hpp"

#include <string_view>

namespace dt::data {

// Makes an image of 1 or 3 channels one of `channels` (1 or 3). Grey is 0.299 red + 0.587 green + 0.114 blue, rounded (ITU-R
// BT.601, as in JPEG files); colour of a grey image has three equal channels.
void convert_channels(Image& image, std::int64_t channels);

// Throws a recipe error for an image of no pixels, or of more than 2^27: a damaged header could ask for any amount of memory.
void require_possible_size(std::string_view format, std::int64_t height, std::int64_t width);

} // namespace dt::data
