#include "engine/data/sources/byte_source.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace dt::data {
namespace {

class ByteSource final : public Source {
 public:
  ByteSource(ImageSet set, const std::vector<ChannelScale>& scales) : set_(std::move(set))
  {
    for (const auto& scale : scales) lines_.push_back({1.0f / (255.0f * scale.deviation), -scale.mean / scale.deviation});
  }

  std::int64_t size() const override { return set_.count; }
  std::int64_t channels() const override { return set_.channels; }
  std::int64_t height() const override { return set_.height; }
  std::int64_t width() const override { return set_.width; }
  std::int64_t classes() const override { return set_.classes; }

  std::int32_t read(std::int64_t index, float* image) const override
  {
    const std::int64_t plane = set_.height * set_.width;
    const std::uint8_t* pixel = set_.pixels.data() + index * set_.image_bytes();
    for (const auto [slope, offset] : lines_)
      for (std::int64_t i = 0; i < plane; ++i) *image++ = static_cast<float>(*pixel++) * slope + offset;
    return set_.labels[static_cast<std::size_t>(index)];
  }

 private:
  // (p/255 - mean) / deviation, written as one multiplication and one addition.
  struct Line {
    float slope, offset;
  };
  ImageSet set_;
  std::vector<Line> lines_; // one per channel
};

struct Wanted {
  std::string_view key; // "data.train_samples"
  std::string_view purpose;
  std::int64_t samples;
};

void keep_first(ImageSet& set, const Wanted& wanted, const DataSpec& spec, const std::filesystem::path& folder)
{
  if (wanted.samples == 0) return;
  if (wanted.samples > set.count)
    throw Error(ErrorKind::recipe,
                fmt::format("{} asks for {} samples, but data set {} in {} has {} for {}. Ask for at most {}, or 0 for all.",
                            wanted.key, wanted.samples, spec.name, folder.string(), set.count, wanted.purpose, set.count));
  set.count = wanted.samples;
  set.pixels.resize(static_cast<std::size_t>(set.count * set.image_bytes()));
  set.labels.resize(static_cast<std::size_t>(set.count));
  set.pixels.shrink_to_fit();
}

} // namespace

std::unique_ptr<Source> make_byte_source(ImageSet set, std::vector<ChannelScale> scales)
{
  return std::make_unique<ByteSource>(std::move(set), scales);
}

Sources make_byte_sources(ImageSets sets, const std::vector<ChannelScale>& scales, const DataSpec& spec,
                          const std::filesystem::path& folder)
{
  keep_first(sets.train, {"data.train_samples", "training", spec.train_samples}, spec, folder);
  keep_first(sets.test, {"data.test_samples", "evaluation", spec.test_samples}, spec, folder);
  return {make_byte_source(std::move(sets.train), scales), make_byte_source(std::move(sets.test), scales)};
}

} // namespace dt::data
