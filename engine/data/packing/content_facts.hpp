// ContentFacts: what a set's images lose on their way to 8-bit channels, and whether there is anything to see in them.
#pragma once

#include "engine/data/images/channels.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dt::data {

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

// Whether all pixels are equal, and there are several.
bool is_constant(const Image& image);

// Sentences that warn of what was lost; none if nothing was. images: how many there are.
std::vector<std::string> decoding_remarks(const ContentFacts& facts, const ColourRules& rules, std::int64_t images);
// A sentence about images of one colour; empty if there are none. name: of an image, by its number.
std::string constant_remark(const ContentFacts& facts, std::int64_t images, const std::function<std::string(std::int64_t)>& name);
// A sentence about channels that are nearly constant over all training images; empty if there are none.
std::string channels_remark(const std::vector<double>& mean, const std::vector<double>& deviation);

} // namespace dt::data
