// A set of images held in memory as bytes, as files of this kind store them.
#pragma once

#include "engine/data/source.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace dt::engine {

// count images of channels x height x width bytes, one after the other, and a label each.
struct ImageSet {
  std::int64_t count = 0, channels = 0, height = 0, width = 0, classes = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  std::int64_t image_bytes() const { return channels * height * width; }
};

// Mean and standard deviation of the bytes of a channel, divided by 255, over the training images. They are constants of
// the data set, not of the samples a run uses: a run on a part of it sees the same inputs.
struct ChannelScale {
  float mean, deviation;
};

// Serves pixel p of channel c as (p/255 - mean_c) / deviation_c. scales: one a channel.
std::unique_ptr<Source> make_byte_source(ImageSet set, std::vector<ChannelScale> scales);

// What a data set's reader found in its folder.
struct ImageSets {
  ImageSet train, test;
};

// The sources of a folder's sets, cut to data.train_samples and data.test_samples. A recipe error when these ask for more
// than there are.
Sources make_byte_sources(ImageSets sets, const std::vector<ChannelScale>& scales, const DataSpec& spec,
                          const std::filesystem::path& folder);

} // namespace dt::engine
