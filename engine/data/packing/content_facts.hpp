// What many images together are: sums over their pixels, their sizes, and what they lose on their way to 8-bit channels.
#pragma once

#include "engine/data/images/channels.hpp"
#include "engine/data/images/image.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dt::data {

// PixelSums: exact sums over the pixels of many images, from which their channel means and deviations follow. Integers, so that
// the result does not depend on the order of the images or on threads.
struct PixelSums {
  std::uint64_t pixels = 0;
  std::array<std::uint64_t, 3> sums{}, squares{}; // by channel; good for 2^48 pixels

  void add(const Image& image);
  void add(const PixelSums& other);
  // Mean of each channel's bytes / 255.
  std::vector<double> mean(std::int64_t channels) const;
  // Standard deviation of each channel's bytes / 255.
  std::vector<double> deviation(std::int64_t channels) const;
};

// ImageSizes: what the sizes of many images have in common.
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

// What a set's images lose on their way to 8-bit channels, and whether there is anything to see in them.
struct ContentFacts {
  static constexpr std::size_t most_named = 5;

  std::int64_t transparent = 0;              // images with pixels that show the background
  std::int64_t deep = 0;                     // images of 16 bits
  std::uint16_t least = 65535, greatest = 0; // of their values
  std::int64_t constant = 0;                 // images whose pixels are all equal, and that have several pixels
  std::vector<std::int64_t> constant_images; // the numbers of the first of them, ascending

  // number: of the image, in the set or in its source. Ascending.
  void add(std::int64_t number, const Image& image, const DecodedFacts& decoded);
  // Facts of images with higher numbers.
  void add(const ContentFacts& later);
};

// An image that cannot be decoded.
struct CorruptItem {
  std::int64_t item = 0;
  std::string cause;
};

// A line for each of the first ten: "\n  a/0.png: the file is empty", and one that says how many more there are. name: of an
// item.
std::string lines_of(const std::vector<CorruptItem>& corrupt, const std::function<std::string(std::int64_t)>& name);

// Whether all pixels are equal, and there are several.
bool is_constant(const Image& image);

// Sentences that warn of what was lost; none if nothing was. images: how many there are.
std::vector<std::string> decoding_remarks(const ContentFacts& facts, const ColourRules& rules, std::int64_t images);
// A sentence about images of one colour; empty if there are none. name: of an image, by its number.
std::string constant_remark(const ContentFacts& facts, std::int64_t images, const std::function<std::string(std::int64_t)>& name);
// A sentence about channels that are nearly constant over all training images; empty if there are none.
std::string channels_remark(const std::vector<double>& mean, const std::vector<double>& deviation);

} // namespace dt::data
