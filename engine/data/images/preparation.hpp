// Preparation: makes the network's input of an image: crop, resize, mirror, normalise.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/data/images/image.hpp"
#include "engine/data/source.hpp"

#include <vector>

namespace dt::data {

// Mean and standard deviation of a channel's bytes, divided by 255, over the training images. They are constants of the data set
// and do not depend on the samples that a run uses, so a run on a part of the set has the same inputs.
struct ChannelScale {
  float mean, deviation;
};

// (p/255 - mean) / deviation of a byte p, written as one multiplication and one addition.
struct ChannelLine {
  explicit ChannelLine(const ChannelScale& scale)
      : slope(1.0f / (255.0f * scale.deviation)), offset(-scale.mean / scale.deviation)
  {
  }
  float operator()(std::uint8_t byte) const { return static_cast<float>(byte) * slope + offset; }
  float slope, offset;
};

class Preparation {
 public:
  // height, width: of the network's images. scales: one per channel. Takes crop, pad and flip from the recipe.
  Preparation(std::int64_t height, std::int64_t width, const std::vector<ChannelScale>& scales, const DataSpec& spec);

  std::int64_t channels() const { return static_cast<std::int64_t>(lines_.size()); }
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }

  // The part of an image of old_height x old_width pixels that is used (and resized to the network's size if it has another).
  Rectangle part(std::int64_t old_height, std::int64_t old_width, const SampleRequest& request) const;
  // Writes channels x height x width floats: `place` of `image`, which holds the part above, perhaps at a lower resolution.
  // `resized` is memory for an image between.
  void write(const Image& image, const Rectangle& place, const SampleRequest& request, Image& resized, float* floats) const;

 private:
  Rectangle central_part(std::int64_t old_height, std::int64_t old_width, double share) const;

  std::int64_t height_, width_;
  std::vector<ChannelLine> lines_;
  ImageCrop crop_;
  std::int64_t pad_;
  bool flip_;
};

// The side of the network's images as the recipe says, or that of the set's images.
struct ImageSides {
  std::int64_t height, width;
};
inline ImageSides sides_of(const DataSpec& spec, std::int64_t own_height, std::int64_t own_width)
{
  return spec.image_size > 0 ? ImageSides{spec.image_size, spec.image_size} : ImageSides{own_height, own_width};
}

} // namespace dt::data
