#include "engine/data/packing/record_maker.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/data/images/channels.hpp"
#include "engine/data/images/resize.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

std::string_view colours(std::int64_t channels) { return channels == 1 ? "grey" : "in colour"; }

} // namespace

std::string_view RecordMaker::make(std::int64_t index, std::string_view bytes)
{
  const auto& item = listing_.items[static_cast<std::size_t>(index)];
  decode(bytes);
  require_channels(item);
  if (plan_.encoding == PackedEncoding::jpeg) return bytes;
  plan_.resizes ? resize_image() : require_size(item);
  return {reinterpret_cast<const char*>(image_.pixels.data()), image_.pixels.size()};
}

void RecordMaker::decode(std::string_view bytes)
{
  const auto channels = plan_.converts_channels ? plan_.channels : 0;
  if (listing_.is_array()) {
    image_.reshape(listing_.height, listing_.width, listing_.channels);
    std::ranges::copy(bytes, image_.pixels.begin());
    if (channels != 0) convert_channels(image_, channels);
    return;
  }
  const auto format = format_of(bytes);
  if (plan_.encoding == PackedEncoding::jpeg && format && format != ImageFormat::jpeg)
    throw Error(ErrorKind::recipe, fmt::format("the file is a {} image, but its name says JPEG", name_of(*format)));
  decoder_.decode(bytes, channels, image_);
}

void RecordMaker::require_channels(const SourceItem& item) const
{
  if (image_.channels == plan_.channels) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} is {}, but {} is {}. A set has images of one kind: --channels 3 makes all of them colour images, "
                          "--channels 1 grey ones.",
                          printable(item.name), colours(image_.channels), printable(plan_.first_name), colours(plan_.channels)));
}

void RecordMaker::require_size(const SourceItem& item) const
{
  if (image_.height == plan_.height && image_.width == plan_.width) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} has {} x {} pixels (height x width), but {} has {} x {}. Records of pixels need one size: give one "
                          "with --size, for example --size {}x{}.",
                          printable(item.name), image_.height, image_.width, printable(plan_.first_name), plan_.height,
                          plan_.width, plan_.height, plan_.width));
}

void RecordMaker::resize_image()
{
  const auto part = centre_crop(image_.height, image_.width, plan_.height, plan_.width);
  if (part == Rectangle{0, 0, plan_.height, plan_.width} && part == image_.whole()) return;
  resize(image_, part, plan_.height, plan_.width, resized_);
  std::swap(image_, resized_);
}

Rectangle centre_crop(std::int64_t height, std::int64_t width, std::int64_t new_height, std::int64_t new_width)
{
  // height / width > new_height / new_width: too tall
  Rectangle part{0, 0, height, width};
  if (height * new_width > new_height * width)
    part.height = std::max<std::int64_t>(1, (width * new_height + new_width / 2) / new_width);
  else
    part.width = std::max<std::int64_t>(1, (height * new_width + new_height / 2) / new_height);
  part.height = std::min(part.height, height);
  part.width = std::min(part.width, width);
  part.top = (height - part.height) / 2;
  part.left = (width - part.width) / 2;
  return part;
}

} // namespace dt::data
