// The makers of data sets, one file each. A new maker needs a function here and a row in make.cpp.
#pragma once

#include "core/maths/random.hpp"
#include "engine/data/makers/make.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace dt::data {

// Receives each finished file of the set.
using FileSink = std::function<void(std::string_view name, std::string_view bytes)>;

// Counts the rendered images of both parts, and reports them as MakeOptions::progress says.
class ImageCount {
 public:
  explicit ImageCount(const MakeOptions& options)
      : report_(options.progress), all_(options.train + options.test), step_(all_ / reports + 1)
  {
  }
  // Call this after every image.
  void add_one()
  {
    ++done_;
    if (report_ && (done_ % step_ == 0 || done_ == all_)) report_(done_, all_);
  }

 private:
  static constexpr std::int64_t reports = 200;
  const std::function<void(std::int64_t, std::int64_t)>& report_;
  std::int64_t all_, step_, done_ = 0;
};

// 28x28 digits in MNIST's four IDX files.
void make_digits(const MakeOptions& options, const FileSink& sink);
// 3x32x32 shapes in CIFAR-10's six files, with the training images in equal parts.
void make_shapes(const MakeOptions& options, const FileSink& sink);

inline constexpr std::int64_t made_classes = 10;

// The training or test part of a set. Sample i does not depend on the number of samples, so a smaller set is the beginning of a
// larger one.
class MadePart {
 public:
  MadePart(std::uint64_t seed, bool is_test) : key_(sub_key(seed, is_test ? 1 : 0)) {}
  // Every ten samples from a multiple of ten contain each class once, in random order.
  std::uint8_t label(std::int64_t index) const;
  // The random numbers for a sample's image.
  Random random(std::int64_t index) const { return Random(sub_key(sub_key(key_, 0), static_cast<std::uint64_t>(index))); }

 private:
  std::uint64_t key_;
};

} // namespace dt::data
