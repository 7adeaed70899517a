// Resizes images.
#pragma once

#include "engine/data/images/image.hpp"

namespace dt::data {

// Resizes `part` of `image` to height x width pixels with a triangle filter, which averages over all pixels that a new pixel
// covers (bilinear when the image grows). Rounds to the nearest byte. The result is equal on every machine.
void resize(const Image& image, const Rectangle& part, std::int64_t height, std::int64_t width, Image& resized);

} // namespace dt::data
