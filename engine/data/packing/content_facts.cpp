#include "engine/data/packing/content_facts.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

// "3 of 40 images have", "The only image has"
std::string images_have(std::int64_t count, std::int64_t images)
{
  if (images == 1) return "The only image has";
  if (count == images) return fmt::format("All {} images have", images);
  return fmt::format("{} of {} images {}", count, images, count == 1 ? "has" : "have");
}

// How many of the 256 levels of 8 bits the values from `least` to `greatest` reach.
std::uint32_t levels(const ContentFacts& facts, const ColourRules& rules)
{
  return (rules.scaled(facts.greatest) + 128) / 257 - (rules.scaled(facts.least) + 128) / 257 + 1;
}

std::string depth_remark(const ContentFacts& facts, const ColourRules& rules, std::int64_t images)
{
  constexpr std::uint32_t few_levels = 64;
  if (facts.least > facts.greatest) return ""; // all pixels are transparent
  const auto found =
      fmt::format("{} 16 bits, with values from {} to {}", images_have(facts.deep, images), facts.least, facts.greatest);
  if (facts.least < rules.black || facts.greatest > rules.white)
    return fmt::format("{}. Those outside of --range {}..{} became black or white.", found, rules.black, rules.white);
  if (levels(facts, rules) > few_levels) return "";
  const auto count = levels(facts, rules);
  const auto advice =
      facts.least == facts.greatest ? "" : fmt::format("; --range {}..{} uses all of them", facts.least, facts.greatest);
  return fmt::format("{}. Because {} to {} become black to white, they are {} of 256 levels{}.", found, rules.black, rules.white,
                     count, advice);
}

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

std::string lines_of(const std::vector<CorruptItem>& corrupt, const std::function<std::string(std::int64_t)>& name)
{
  constexpr std::size_t listed = 10;
  std::string text;
  for (const auto& [item, cause] : std::span(corrupt).first(std::min(listed, corrupt.size())))
    text += fmt::format("\n  {}: {}", printable(name(item)), printable(cause));
  if (corrupt.size() > listed) text += fmt::format("\n  and {} more", corrupt.size() - listed);
  return text;
}

bool is_constant(const Image& image)
{
  if (image.height * image.width < 2) return false;
  return std::equal(image.pixels.begin() + image.channels, image.pixels.end(), image.pixels.begin());
}

void ContentFacts::add(std::int64_t number, const Image& image, const DecodedFacts& decoded)
{
  transparent += decoded.is_transparent ? 1 : 0;
  deep += decoded.has_16_bits ? 1 : 0;
  least = std::min(least, decoded.least);
  greatest = std::max(greatest, decoded.greatest);
  if (!is_constant(image)) return;
  ++constant;
  if (constant_images.size() < most_named) constant_images.push_back(number);
}

void ContentFacts::add(const ContentFacts& later)
{
  transparent += later.transparent;
  deep += later.deep;
  least = std::min(least, later.least);
  greatest = std::max(greatest, later.greatest);
  constant += later.constant;
  for (const auto number : later.constant_images)
    if (constant_images.size() < most_named) constant_images.push_back(number);
}

std::vector<std::string> decoding_remarks(const ContentFacts& facts, const ColourRules& rules, std::int64_t images)
{
  std::vector<std::string> remarks;
  if (facts.transparent > 0)
    remarks.push_back(fmt::format("{} transparent pixels, which show the background #{:02x}; --background chooses another.",
                                  images_have(facts.transparent, images), fmt::join(rules.background, "")));
  if (const auto remark = facts.deep > 0 ? depth_remark(facts, rules, images) : ""; !remark.empty()) remarks.push_back(remark);
  if (facts.deep == 0 && (rules.black != 0 || rules.white != 65535))
    remarks.emplace_back("No image has 16 bits, so --range has changed nothing.");
  return remarks;
}

std::string constant_remark(const ContentFacts& facts, std::int64_t images, const std::function<std::string(std::int64_t)>& name)
{
  if (facts.constant == 0) return "";
  std::vector<std::string> names;
  for (const auto number : facts.constant_images) names.push_back(printable(name(number)));
  if (facts.constant > static_cast<std::int64_t>(names.size())) names.emplace_back("…");
  return fmt::format("{} the same colour in every pixel, so there is nothing to see in {}: {}.",
                     images_have(facts.constant, images), facts.constant == 1 ? "it" : "them", fmt::join(names, ", "));
}

std::string channels_remark(const std::vector<double>& mean, const std::vector<double>& deviation)
{
  constexpr double level = 1.0 / 255;
  constexpr std::array colours{"red", "green", "blue"};
  std::vector<std::string> words;
  for (std::size_t c = 0; c < deviation.size(); ++c)
    if (deviation[c] < level)
      words.push_back(fmt::format("{} (mean {:.4f}, deviation {:.4f})", deviation.size() == 1 ? "grey" : colours.at(c), mean[c],
                                  deviation[c]));
  if (words.empty()) return "";
  return fmt::format(
      "Over all training images, {} nearly constant: {}. A deviation below 1/255 is less than one of 256 levels, so "
      "there is next to nothing to learn from.",
      words.size() == 1 ? "this channel is" : "these channels are", fmt::join(words, ", "));
}

} // namespace dt::data
