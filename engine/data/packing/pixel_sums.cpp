#include "engine/data/packing/pixel_sums.hpp"

#include <algorithm>
#include <cmath>

namespace dt::data {
namespace {

// Sums of one channel over a row of up to 2^16 pixels: these fit into 32 bits, which the compiler adds in vectors.
template<std::size_t channels> void add_row(const std::uint8_t* row, std::size_t pixels, PixelSums& sums)
{
  std::array<std::uint32_t, channels> sum{}, square{};
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint32_t value = row[channels * i + c];
      sum[c] += value;
      square[c] += value * value;
    }
  for (std::size_t c = 0; c < channels; ++c) {
    sums.sums[c] += sum[c];
    sums.squares[c] += square[c];
  }
}

} // namespace

void PixelSums::add(const Image& image)
{
  constexpr std::size_t most = std::size_t{1} << 16; // 2^16 x 255^2 < 2^32
  const auto all = static_cast<std::size_t>(image.height * image.width);
  for (std::size_t begin = 0; begin < all; begin += most) {
    const auto count = std::min(most, all - begin);
    const auto* row = image.pixels.data() + begin * static_cast<std::size_t>(image.channels);
    image.channels == 1 ? add_row<1>(row, count, *this) : add_row<3>(row, count, *this);
  }
  pixels += all;
}

void PixelSums::add(const PixelSums& other)
{
  pixels += other.pixels;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    sums[c] += other.sums[c];
    squares[c] += other.squares[c];
  }
}

std::vector<double> PixelSums::mean(std::int64_t channels) const
{
  std::vector<double> means;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
    means.push_back(static_cast<double>(sums[c]) / (255.0 * static_cast<double>(pixels)));
  return means;
}

std::vector<double> PixelSums::deviation(std::int64_t channels) const
{
  std::vector<double> deviations;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    // pixels x squares - sum^2, exactly: the difference of two nearly equal numbers
    const auto n = static_cast<unsigned __int128>(pixels);
    const auto scaled = n * squares[c] - static_cast<unsigned __int128>(sums[c]) * sums[c];
    deviations.push_back(std::sqrt(static_cast<double>(scaled)) / (255.0 * static_cast<double>(pixels)));
  }
  return deviations;
}

} // namespace dt::data
