#include "engine/data/images/channels.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::data {
namespace {

void make_grey(Image& image)
{
  const auto pixels = static_cast<std::size_t>(image.height * image.width);
  auto* bytes = image.pixels.data();
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint8_t* colour = bytes + 3 * i;
    bytes[i] = static_cast<std::uint8_t>((299 * colour[0] + 587 * colour[1] + 114 * colour[2] + 500) / 1000);
  }
  image.reshape(image.height, image.width, 1);
}

void make_colour(Image& image)
{
  image.reshape(image.height, image.width, 3);
  auto* bytes = image.pixels.data();
  for (auto i = static_cast<std::size_t>(image.height * image.width); i-- > 0;) {
    const auto grey = bytes[i];
    for (std::size_t c = 0; c < 3; ++c) bytes[3 * i + c] = grey;
  }
}

} // namespace

void convert_channels(Image& image, std::int64_t channels)
{
  if (image.channels == channels) return;
  channels == 1 ? make_grey(image) : make_colour(image);
}

std::uint32_t ColourRules::scaled(std::uint16_t value) const
{
  const std::uint32_t range = white - black, above = std::clamp(value, black, white) - black;
  return (above * 65535U + range / 2) / range;
}

void put_on_background(std::span<const std::uint8_t> pixels, const ColourRules& rules, Image& image, DecodedFacts& facts)
{
  auto* out = image.pixels.data();
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    const std::uint32_t opacity = pixels[i + 3];
    facts.is_transparent |= opacity != 255;
    for (std::size_t c = 0; c < 3; ++c)
      *out++ = static_cast<std::uint8_t>((pixels[i + c] * opacity + rules.background[c] * (255 - opacity) + 127) / 255);
  }
}

void put_on_background(std::span<const std::uint16_t> pixels, const ColourRules& rules, Image& image, DecodedFacts& facts)
{
  facts.has_16_bits = true;
  auto* out = image.pixels.data();
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    const std::uint64_t opacity = pixels[i + 3];
    facts.is_transparent |= opacity != 65535;
    for (std::size_t c = 0; c < 3; ++c) {
      const auto value = pixels[i + c];
      if (opacity != 0) {
        facts.least = std::min(facts.least, value);
        facts.greatest = std::max(facts.greatest, value);
      }
      const auto mixed = rules.scaled(value) * opacity + std::uint64_t{rules.background[c]} * 257 * (65535 - opacity);
      *out++ = static_cast<std::uint8_t>((mixed * 255 + 65535ULL * 65535 / 2) / (65535ULL * 65535));
    }
  }
}

void require_possible_size(std::string_view format, std::int64_t height, std::int64_t width)
{
  constexpr std::int64_t most_pixels = std::int64_t{1} << 27;
  if (height < 1 || width < 1) throw Error(ErrorKind::recipe, fmt::format("the {} has no pixels", format));
  if (height > most_pixels / width)
    throw Error(ErrorKind::recipe,
                fmt::format("the {} has {} x {} pixels, more than the limit of {}", format, height, width, most_pixels));
}

} // namespace dt::data
