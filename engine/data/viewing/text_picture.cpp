#include "core/text.hpp"
#include "engine/data/images/channels.hpp"
#include "engine/data/images/resize.hpp"
#include "engine/data/viewing/samples.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt::data {
namespace {

constexpr std::int64_t columns_between = 2;     // columns between two pictures
constexpr std::int64_t widest = 24;             // columns of a picture
constexpr std::string_view ramp = " .:-=+*#%@"; // from dark to bright, for bright letters on a dark ground

// Each character shows two pixels, one above the other, which are about as high as wide.
Image fitted(const Image& image, std::int64_t columns)
{
  Image result;
  const auto longest = std::max(image.height, image.width);
  const auto scaled = [&](std::int64_t side) { return std::max<std::int64_t>(1, (side * columns + longest / 2) / longest); };
  const auto height = (scaled(image.height) + 1) / 2 * 2;
  resize(image, image.whole(), height, scaled(image.width), result);
  return result;
}

void append_coloured(std::string& line, const Image& image, std::int64_t row)
{
  for (std::int64_t x = 0; x < image.width; ++x) {
    const auto *upper = image.at(row, x), *lower = image.at(row + 1, x);
    line += fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m▀", upper[0], upper[1], upper[2], lower[0], lower[1], lower[2]);
  }
  line += "\x1b[0m";
}

void append_grey(std::string& line, const Image& image, std::int64_t row)
{
  for (std::int64_t x = 0; x < image.width; ++x) {
    const auto brightness = static_cast<std::size_t>(*image.at(row, x) + *image.at(row + 1, x));
    line += ramp[brightness * (ramp.size() - 1) / 510];
  }
}

// The first characters of the text, with blanks behind them up to this width.
std::string padded(std::string text, std::int64_t columns)
{
  text = printable(text);
  const auto width = static_cast<std::size_t>(columns);
  while (display_width(text) > width) {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    text.pop_back();
  }
  return text + std::string(width - display_width(text), ' ');
}

// The pictures of one row.
std::string row_of(std::span<const Sample> samples, std::int64_t columns, bool colour)
{
  std::vector<Image> images;
  std::int64_t height = 0;
  for (const auto& sample : samples) {
    images.push_back(fitted(sample.image, columns));
    convert_channels(images.back(), colour ? 3 : 1);
    height = std::max(height, images.back().height);
  }
  std::string text;
  for (std::int64_t row = 0; row < height; row += 2) {
    for (const auto& image : images) {
      const bool is_inside = row < image.height;
      if (is_inside) colour ? append_coloured(text, image, row) : append_grey(text, image, row);
      text.append(static_cast<std::size_t>(columns - (is_inside ? image.width : 0) + columns_between), ' ');
    }
    text += '\n';
  }
  for (const auto& sample : samples) text += padded(sample.class_name, columns) + std::string(columns_between, ' ');
  return text + '\n';
}

} // namespace

std::string text_picture(const std::vector<Sample>& samples, const TerminalPicture& terminal)
{
  const auto columns = std::clamp<std::int64_t>(terminal.columns, 1, widest);
  const auto in_row =
      static_cast<std::size_t>(std::max<std::int64_t>(1, (terminal.columns + columns_between) / (columns + columns_between)));
  std::string text;
  for (std::size_t begin = 0; begin < samples.size(); begin += in_row)
    text += row_of(std::span(samples).subspan(begin, std::min(in_row, samples.size() - begin)), columns, terminal.colour) + '\n';
  return text;
}

} // namespace dt::data
