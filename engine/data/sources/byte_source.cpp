#include "engine/data/sources/byte_source.hpp"

#include "core/error.hpp"
#include "engine/data/sources/scratch_pool.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace dt::data {
namespace {

// Image and resized image of a thread.
struct Scratch {
  Image image, resized;
};

class ByteSource final : public Source {
 public:
  ByteSource(ImageSet set, const std::vector<ChannelScale>& scales, const DataSpec& spec)
      : set_(std::move(set)), lines_(scales.begin(), scales.end()), sides_(sides_of(spec, set_.height, set_.width)),
        preparation_(sides_.height, sides_.width, scales, spec),
        keeps_size_(sides_.height == set_.height && sides_.width == set_.width && spec.crop != ImageCrop::random_resized),
        is_varied_(spec.crop != ImageCrop::none || spec.flip)
  {
  }

  std::int64_t size() const override { return set_.count; }
  std::int64_t channels() const override { return set_.channels; }
  std::int64_t height() const override { return sides_.height; }
  std::int64_t width() const override { return sides_.width; }
  std::int64_t classes() const override { return set_.classes; }
  std::int64_t bytes_per_sample() const override { return set_.image_bytes(); }

  SampleRead read(const SampleRequest& request, float* floats) const override
  {
    const bool is_plain = keeps_size_ && !(request.is_varied && is_varied_);
    is_plain ? write_plain(request.index, floats) : write_prepared(request, floats);
    return {set_.labels[static_cast<std::size_t>(request.index)]};
  }

 private:
  const std::uint8_t* pixels_of(std::int64_t index) const { return set_.pixels.data() + index * set_.image_bytes(); }

  void write_plain(std::int64_t index, float* floats) const
  {
    const std::int64_t plane = set_.height * set_.width;
    const auto* pixel = pixels_of(index);
    for (const auto& line : lines_)
      for (std::int64_t i = 0; i < plane; ++i) *floats++ = line(*pixel++);
  }

  void write_prepared(const SampleRequest& request, float* floats) const
  {
    const auto scratch = scratch_.lease();
    auto& image = scratch->image;
    image.reshape(set_.height, set_.width, set_.channels);
    const std::int64_t plane = set_.height * set_.width;
    const auto* pixel = pixels_of(request.index);
    for (std::int64_t c = 0; c < set_.channels; ++c)
      for (std::int64_t i = 0; i < plane; ++i) image.pixels[static_cast<std::size_t>(i * set_.channels + c)] = *pixel++;
    preparation_.write(image, preparation_.part(set_.height, set_.width, request), request, scratch->resized, floats);
  }

  ImageSet set_;                   // channels x height x width bytes an image
  std::vector<ChannelLine> lines_; // one per channel
  ImageSides sides_;
  Preparation preparation_;
  bool keeps_size_, is_varied_;
  mutable ScratchPool<Scratch> scratch_;
};

void keep_first(ImageSet& set, std::int64_t wanted)
{
  if (wanted == 0) return;
  set.count = wanted;
  set.pixels.resize(static_cast<std::size_t>(set.count * set.image_bytes()));
  set.labels.resize(static_cast<std::size_t>(set.count));
  set.pixels.shrink_to_fit();
}

} // namespace

void require_samples(const DataSpec& spec, const std::filesystem::path& place, const SampleCounts& counts)
{
  const auto require = [&](std::string_view key, std::int64_t wanted, std::int64_t found, std::string_view purpose) {
    if (wanted > found)
      throw Error(ErrorKind::recipe,
                  fmt::format("{} asks for {} samples, but data set {} in {} has {} for {}. Ask for at most {}, or 0 for all.",
                              key, wanted, spec.name, place.string(), found, purpose, found));
  };
  require("data.train_samples", spec.train_samples, counts.train, "training");
  require("data.test_samples", spec.test_samples, counts.test, "evaluation");
}

std::unique_ptr<Source> make_byte_source(ImageSet set, const std::vector<ChannelScale>& scales, const DataSpec& spec)
{
  return std::make_unique<ByteSource>(std::move(set), scales, spec);
}

Sources make_byte_sources(ImageSets sets, const std::vector<ChannelScale>& scales, const DataSpec& spec,
                          const std::filesystem::path& folder)
{
  require_samples(spec, folder, {sets.train.count, sets.test.count});
  keep_first(sets.train, spec.train_samples);
  keep_first(sets.test, spec.test_samples);
  return {make_byte_source(std::move(sets.train), scales, spec), make_byte_source(std::move(sets.test), scales, spec)};
}

} // namespace dt::data
