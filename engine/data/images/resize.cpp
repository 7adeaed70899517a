#include "engine/data/images/resize.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::data {
namespace {

constexpr int weight_bits = 22; // 255 times the sum of all weights fits into 32 bits

// The weights of the old positions of which a new position is made.
struct Tap {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t weights = 0; // position of the first weight
};

struct Filter {
  std::vector<Tap> taps; // one per new position
  std::vector<std::int32_t> weights;
};

// A triangle filter from `old_size` to `new_size` positions. Its half width is one new pixel, at least one old one.
Filter make_filter(std::int64_t old_size, std::int64_t new_size)
{
  const double scale = static_cast<double>(old_size) / static_cast<double>(new_size), half_width = std::max(scale, 1.0);
  Filter filter;
  std::vector<double> parts;
  for (std::int64_t i = 0; i < new_size; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - half_width + 0.5)));
    const auto end = std::min(old_size, static_cast<std::int64_t>(std::floor(centre + half_width + 0.5)));
    parts.clear();
    double sum = 0;
    for (auto j = first; j < end; ++j) {
      parts.push_back(std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - centre) / half_width));
      sum += parts.back();
    }
    filter.taps.push_back({first, end - first, filter.weights.size()});
    for (const double part : parts)
      filter.weights.push_back(static_cast<std::int32_t>(std::lround(part / sum * (1 << weight_bits))));
  }
  return filter;
}

std::uint8_t rounded(std::int32_t sum)
{
  return static_cast<std::uint8_t>(std::clamp((sum + (1 << (weight_bits - 1))) >> weight_bits, 0, 255));
}

// New rows of the part's columns.
void resize_rows(const Image& image, const Rectangle& part, const Filter& filter, Image& resized)
{
  const auto row_bytes = part.width * image.channels;
  std::vector<std::int32_t> sums(static_cast<std::size_t>(row_bytes));
  for (std::int64_t y = 0; y < resized.height; ++y) {
    const auto& tap = filter.taps[static_cast<std::size_t>(y)];
    std::ranges::fill(sums, 0);
    for (std::int64_t t = 0; t < tap.count; ++t) {
      const auto weight = filter.weights[tap.weights + static_cast<std::size_t>(t)];
      const auto* row = image.at(part.top + tap.first + t, part.left);
      for (std::int64_t i = 0; i < row_bytes; ++i) sums[static_cast<std::size_t>(i)] += weight * row[i];
    }
    std::transform(sums.begin(), sums.end(), resized.pixels.begin() + y * row_bytes, rounded);
  }
}

template<int channels> void resize_columns(const Image& image, const Filter& filter, Image& resized)
{
  auto* pixel = resized.pixels.data();
  for (std::int64_t y = 0; y < resized.height; ++y)
    for (const auto& tap : filter.taps) {
      const auto* old = image.at(y, tap.first);
      const auto* weight = filter.weights.data() + tap.weights;
      std::int32_t sums[channels] = {};
      for (std::int64_t t = 0; t < tap.count; ++t)
        for (int c = 0; c < channels; ++c) sums[c] += weight[t] * old[t * channels + c];
      for (int c = 0; c < channels; ++c) *pixel++ = rounded(sums[c]);
    }
}

} // namespace

void resize(const Image& image, const Rectangle& part, std::int64_t height, std::int64_t width, Image& resized)
{
  Image rows; // the part's columns at the new height
  rows.reshape(height, part.width, image.channels);
  resize_rows(image, part, make_filter(part.height, height), rows);
  if (part.width == width) {
    resized = std::move(rows);
    return;
  }
  resized.reshape(height, width, image.channels);
  const auto filter = make_filter(part.width, width);
  image.channels == 1 ? resize_columns<1>(rows, filter, resized) : resize_columns<3>(rows, filter, resized);
}

} // namespace dt::data
