// JPEG files for tests, made by libjpeg.
#pragma once

#include "engine/data/images/image.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <jpeglib.h>

namespace dt::data {

// The bytes of a JPEG file with these pixels. is_progressive: several scans of increasing detail.
inline std::string jpeg_bytes(const Image& image, int quality = 90, bool is_progressive = false)
{
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&info, &bytes, &count);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = static_cast<int>(image.channels);
  info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : image.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  if (is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(image.at(info.next_scanline, 0));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string text(reinterpret_cast<const char*>(bytes), count);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return text;
}

// An image with smooth gradients that differ in every channel, so that compression changes it little.
inline Image gradient(std::int64_t height, std::int64_t width, std::int64_t channels)
{
  Image image;
  image.reshape(height, width, channels);
  auto* pixel = image.pixels.data();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c)
        *pixel++ = static_cast<std::uint8_t>((c + 1) * 40 * x / width + (3 - c) * 40 * y / height);
  return image;
}

} // namespace dt::data
