// ImageSizes: what the sizes of many images have in common.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dt::data {

struct ImageSizes {
  std::int64_t min_side = 0, max_side = 0; // shortest and longest side; 0: there is no image
  std::int64_t height = 0, width = 0;      // of all images; 0: they have different sizes

  void add(std::int64_t image_height, std::int64_t image_width)
  {
    add({std::min(image_height, image_width), std::max(image_height, image_width), image_height, image_width});
  }
  void add(const ImageSizes& other)
  {
    if (other.max_side == 0) return;
    if (max_side == 0) {
      *this = other;
      return;
    }
    min_side = std::min(min_side, other.min_side);
    max_side = std::max(max_side, other.max_side);
    if (height != other.height || width != other.width) height = width = 0;
  }
};

} // namespace dt::data
