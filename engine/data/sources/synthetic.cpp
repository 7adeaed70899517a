#include "core/maths/random.hpp"
#include "engine/data/sources/data_sets.hpp"

namespace dt::data {
namespace {

class SyntheticSource final : public Source {
 public:
  SyntheticSource(const DataSpec& spec, std::int64_t samples, std::uint64_t key)
      : channels_(spec.channels), height_(spec.height), width_(spec.width), classes_(spec.classes), samples_(samples), key_(key)
  {
  }

  std::int64_t size() const override { return samples_; }
  std::int64_t channels() const override { return channels_; }
  std::int64_t height() const override { return height_; }
  std::int64_t width() const override { return width_; }
  std::int64_t classes() const override { return classes_; }

  SampleRead read(const SampleRequest& request, float* image) const override
  {
    const std::uint64_t key = sub_key(key_, static_cast<std::uint64_t>(request.index));
    const auto label = static_cast<std::int64_t>(mix_bits(key) % static_cast<std::uint64_t>(classes_));
    const std::int64_t pixels = channels_ * height_ * width_;
    fill_noise(key, image, pixels);
    for (auto i = label * pixels / classes_; i < (label + 1) * pixels / classes_; ++i) image[i] += 1.0f;
    return {static_cast<std::int32_t>(label)};
  }

 private:
  // Takes four 16-bit pixels from each word, so that generating an image costs little compared with training on it.
  static void fill_noise(std::uint64_t key, float* image, std::int64_t pixels)
  {
    constexpr float step = 3.4641016f / 65535.0f, low = -1.7320508f; // uniform in [-sqrt 3, sqrt 3]: deviation 1
    std::uint64_t word = 0;
    for (std::int64_t i = 0; i < pixels; ++i, word >>= 16) {
      if (i % 4 == 0) word = counter_word(key, static_cast<std::uint64_t>(i / 4));
      image[i] = low + step * static_cast<float>(word & 0xffff);
    }
  }

  std::int64_t channels_, height_, width_, classes_, samples_;
  std::uint64_t key_;
};

} // namespace

Sources open_synthetic(const DataSpec& spec, std::int64_t seed)
{
  constexpr std::int64_t default_test = 1024; // the schema documents it for 0
  const auto make = [&](std::int64_t samples, std::uint64_t part) {
    return std::make_unique<SyntheticSource>(spec, samples, sub_key(static_cast<std::uint64_t>(seed), part));
  };
  return {make(spec.train_samples > 0 ? spec.train_samples : synthetic_train_samples, 0),
          make(spec.test_samples > 0 ? spec.test_samples : default_test, 1)};
}

} // namespace dt::data
