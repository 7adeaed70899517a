// PixelSums: exact sums over the pixels of many images, from which their channel means and deviations follow. Integers, so that
// the result does not depend on the order of the images or on threads.
#pragma once

#include "engine/data/images/image.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace dt::data {

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

} // namespace dt::data
