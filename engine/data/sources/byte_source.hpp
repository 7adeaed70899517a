// A data set whose images are held in memory as bytes, in the form in which its files store them.
#pragma once

#include "engine/data/images/preparation.hpp"
#include "engine/data/source.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace dt::data {

// `count` images of channels x height x width bytes, one after another, and one label per image.
struct ImageSet {
  std::int64_t count = 0, channels = 0, height = 0, width = 0, classes = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
  std::int64_t image_bytes() const { return channels * height * width; }
};

// Makes a source that returns pixel p of channel c as (p/255 - mean_c) / deviation_c, cropped, resized and mirrored as the recipe
// says. scales: one per channel.
std::unique_ptr<Source> make_byte_source(ImageSet set, const std::vector<ChannelScale>& scales, const DataSpec& spec);

// The images that a data set's reader found in its folder.
struct ImageSets {
  ImageSet train, test;
  std::vector<std::filesystem::path> files{}; // that were read
};

// Makes the sources of a folder's sets, limited to data.train_samples and data.test_samples. Throws a recipe error if these
// exceed the number of images.
Sources make_byte_sources(ImageSets sets, const std::vector<ChannelScale>& scales, const DataSpec& spec,
                          const std::filesystem::path& folder);

// The numbers of images in the two halves of a data set.
struct SampleCounts {
  std::int64_t train = 0, test = 0;
};
// Throws a recipe error if data.train_samples or data.test_samples asks for more.
void require_samples(const DataSpec& spec, const std::filesystem::path& place, const SampleCounts& counts);

} // namespace dt::data
