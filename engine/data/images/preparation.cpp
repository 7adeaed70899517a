#include "engine/data/images/preparation.hpp"

#include "core/maths/random.hpp"
#include "engine/data/images/resize.hpp"

#include <algorithm>
#include <cmath>

namespace dt::data {
namespace {

// The parts of a sample's key for its three chances.
enum Chance : std::uint64_t { chance_of_part, chance_of_place, chance_of_mirror };

Random random_of(const SampleRequest& request, Chance chance) { return Random(sub_key(request.chance, chance)); }

// Uniform in 0 … most.
std::int64_t whole_number(Random& random, std::int64_t most)
{
  return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most) + 1));
}

// A part of 8 to 100 % of the area with an aspect ratio of 3/4 to 4/3 [Szegedy2015]. Empty if ten draws do not fit into the
// image.
Rectangle random_part(std::int64_t height, std::int64_t width, Random random)
{
  constexpr float least_area = 0.08f;
  constexpr double widest = 4.0 / 3;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(height * width) * static_cast<double>(random.between(least_area, 1));
    const double ratio = std::exp(std::log(widest) * static_cast<double>(random.between(-1, 1)));
    const auto part_width = std::llround(std::sqrt(area * ratio)), part_height = std::llround(std::sqrt(area / ratio));
    if (part_width < 1 || part_height < 1 || part_width > width || part_height > height) continue;
    const auto top = whole_number(random, height - part_height);
    return {top, whole_number(random, width - part_width), part_height, part_width};
  }
  return {};
}

} // namespace

Preparation::Preparation(std::int64_t height, std::int64_t width, const std::vector<ChannelScale>& scales, const DataSpec& spec)
    : height_(height), width_(width), lines_(scales.begin(), scales.end()), crop_(spec.crop), pad_(spec.pad), flip_(spec.flip)
{
}

Rectangle Preparation::part(std::int64_t old_height, std::int64_t old_width, const SampleRequest& request) const
{
  if (crop_ != ImageCrop::random_resized) {
    const bool has_size = old_height == height_ && old_width == width_;
    return has_size ? Rectangle{0, 0, height_, width_} : central_part(old_height, old_width, 1);
  }
  constexpr double share_of_tests = 0.875; // 224 of 256 pixels
  if (!request.is_varied) return central_part(old_height, old_width, share_of_tests);
  const auto part = random_part(old_height, old_width, random_of(request, chance_of_part));
  return part.height > 0 ? part : central_part(old_height, old_width, 1);
}

// The largest part in the centre with the network's aspect ratio, times `share`.
Rectangle Preparation::central_part(std::int64_t old_height, std::int64_t old_width, double share) const
{
  const double scale = share * std::min(static_cast<double>(old_height) / static_cast<double>(height_),
                                        static_cast<double>(old_width) / static_cast<double>(width_));
  const auto side = [&](std::int64_t own, std::int64_t most) {
    return std::clamp<std::int64_t>(std::llround(static_cast<double>(own) * scale), 1, most);
  };
  const auto height = side(height_, old_height), width = side(width_, old_width);
  return {(old_height - height) / 2, (old_width - width) / 2, height, width};
}

void Preparation::write(const Image& image, const Rectangle& place, const SampleRequest& request, Image& resized,
                        float* floats) const
{
  const bool has_size = place.height == height_ && place.width == width_;
  if (!has_size) resize(image, place, height_, width_, resized);
  const Image& source = has_size ? image : resized;
  const auto top = has_size ? place.top : 0, left = has_size ? place.left : 0;
  const bool is_mirrored = request.is_varied && flip_ && random_of(request, chance_of_mirror).chance(0.5f);
  std::int64_t down = 0, right = 0; // by which the image is moved against its edges
  if (request.is_varied && crop_ == ImageCrop::pad) {
    auto random = random_of(request, chance_of_place);
    down = whole_number(random, 2 * pad_) - pad_;
    right = whole_number(random, 2 * pad_) - pad_;
  }
  const auto first = std::clamp<std::int64_t>(-right, 0, width_), end = std::clamp<std::int64_t>(width_ - right, 0, width_);
  for (std::int64_t c = 0; c < channels(); ++c) {
    const auto line = lines_[static_cast<std::size_t>(c)];
    for (std::int64_t y = 0; y < height_; ++y, floats += width_) {
      const auto row = y + down;
      std::fill(floats, floats + width_, line(0));
      if (row < 0 || row >= height_) continue;
      const auto* bytes = source.at(top + row, left) + c;
      if (is_mirrored)
        for (auto x = first; x < end; ++x) floats[width_ - 1 - x] = line(bytes[(x + right) * source.channels]);
      else
        for (auto x = first; x < end; ++x) floats[x] = line(bytes[(x + right) * source.channels]);
    }
  }
}

} // namespace dt::data
