#include "engine/data/images/channels.hpp"
#include "engine/data/images/resize.hpp"
#include "engine/data/viewing/font.hpp"
#include "engine/data/viewing/samples.hpp"

#include <algorithm>
#include <cmath>

namespace dt::data {
namespace {

constexpr std::int64_t tile = 144, gap = 16, text_scale = 2, text_gap = 6, text_height = glyph_height * text_scale;
constexpr std::uint8_t paper = 255, ink = 60;

// The image enlarged by a whole number, so that its pixels stay sharp, or made smaller, to fit into a tile.
Image fitted(const Image& image)
{
  Image result;
  const auto longest = std::max(image.height, image.width);
  if (longest > tile) {
    const auto scaled = [&](std::int64_t side) { return std::max<std::int64_t>(1, (side * tile + longest / 2) / longest); };
    resize(image, image.whole(), scaled(image.height), scaled(image.width), result);
    return result;
  }
  const auto factor = tile / longest;
  result.reshape(image.height * factor, image.width * factor, image.channels);
  auto* pixel = result.pixels.data();
  for (std::int64_t row = 0; row < result.height; ++row)
    for (std::int64_t column = 0; column < result.width; ++column)
      pixel = std::copy_n(image.at(row / factor, column / factor), image.channels, pixel);
  return result;
}

void copy_into(Image& sheet, const Image& image, std::int64_t top, std::int64_t left)
{
  for (std::int64_t row = 0; row < image.height; ++row)
    std::copy_n(image.at(row, 0), image.width * image.channels,
                sheet.pixels.begin() + ((top + row) * sheet.width + left) * sheet.channels);
}

// The beginning of the text that fits below a tile.
std::string shortened(const std::string& text)
{
  constexpr auto most = static_cast<std::size_t>(tile / (glyph_advance * text_scale));
  return drawn_characters(text) <= static_cast<std::int64_t>(most) ? text : text.substr(0, most - 2) + "..";
}

void draw_sample(Image& sheet, const Sample& sample, std::int64_t top, std::int64_t left)
{
  auto image = fitted(sample.image);
  convert_channels(image, sheet.channels);
  copy_into(sheet, image, top + (tile - image.height) / 2, left + (tile - image.width) / 2);
  const auto text = shortened(sample.class_name);
  const auto width = drawn_characters(text) * glyph_advance * text_scale - text_scale;
  draw_text(sheet, top + tile + text_gap, left + std::max<std::int64_t>(0, (tile - width) / 2), text, text_scale, ink);
}

} // namespace

Image contact_sheet(const std::vector<Sample>& samples)
{
  const auto count = static_cast<std::int64_t>(samples.size());
  const auto columns =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(count)))), 1, 16);
  const auto rows = (count + columns - 1) / columns;
  constexpr auto row_height = tile + text_gap + text_height + gap;
  Image sheet;
  sheet.reshape(gap + rows * row_height, gap + columns * (tile + gap), samples.front().image.channels);
  std::ranges::fill(sheet.pixels, paper);
  for (std::int64_t i = 0; i < count; ++i)
    draw_sample(sheet, samples[static_cast<std::size_t>(i)], gap + i / columns * row_height, gap + i % columns * (tile + gap));
  return sheet;
}

} // namespace dt::data
