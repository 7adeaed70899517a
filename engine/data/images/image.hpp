// Image: the pixels of one image in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dt::data {

// A rectangle of pixels in an image.
struct Rectangle {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(const Rectangle&) const = default;
};

// height x width x channels bytes, channels last (red, green, blue); 1 channel: grey.
struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels;

  // The pixels keep their memory when the image gets smaller.
  void reshape(std::int64_t new_height, std::int64_t new_width, std::int64_t new_channels)
  {
    height = new_height, width = new_width, channels = new_channels;
    pixels.resize(static_cast<std::size_t>(height * width * channels));
  }
  Rectangle whole() const { return {0, 0, height, width}; }
  const std::uint8_t* at(std::int64_t row, std::int64_t column) const
  {
    return pixels.data() + (row * width + column) * channels;
  }
};

} // namespace dt::data
