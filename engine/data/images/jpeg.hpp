// Decodes JPEG files in memory (libjpeg-turbo).
#pragma once

#include "engine/data/images/image.hpp"

#include <memory>
#include <string_view>

namespace dt::data {

// Decodes one file after another and reuses its memory. Each thread needs its own decoder. All functions throw a recipe error
// with the cause ("truncated: …") for bytes that are not a complete, correct JPEG file; a warning of libjpeg counts as an error,
// because the pixels are then not those of the image.
class JpegDecoder {
 public:
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  // Height, width and channels (1: grey, 3: colour) that the file's header says. `image` gets no pixels.
  void read_header(std::string_view bytes, Image& image);
  // Decodes the whole image. channels: 1 or 3; 0: as the file has them.
  void decode(std::string_view bytes, std::int64_t channels, Image& image);
  // Decodes the part of the image that `part` names (in pixels of the whole image), and little more. If the part is to become an
  // image of height x width that is much smaller, the decoder computes half, a quarter or an eighth of the resolution, never
  // less than height x width. Returns where the part lies in `image`. An image that ends before the part's last row is not read
  // to its end.
  Rectangle decode_part(std::string_view bytes, std::int64_t channels, const Rectangle& part, std::int64_t height,
                        std::int64_t width, Image& image);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace dt::data
