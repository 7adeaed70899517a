// The kernels of maximum pooling for each instruction set of this processor, in fp32 and bfloat16, against the reference.
#include "core/maths/bfloat16.hpp"
#include "engine/nn/kernels/max_pooling.hpp"
#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/nn/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <catch2/catch.hpp>

using namespace dt::nn;
using reference::Values;
using reference::Windows;

namespace {

// Numbers of a few bits are exact in bfloat16 too.
template<class T> T number(double value);
template<> float number<float>(double value) { return static_cast<float>(value); }
template<> Bf16 number<Bf16>(double value)
{
  return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16)};
}
double value_of(float number) { return number; }
double value_of(Bf16 number) { return std::bit_cast<float>(static_cast<std::uint32_t>(number.bits) << 16); }

Values coarse(std::int64_t size, std::uint64_t stream)
{
  auto values = numbers(size, stream);
  for (auto& value : values) value = std::round(value * 32);
  return values;
}

// [channel][place] to [place][channel] and back.
template<class T> std::vector<T> channels_last(const Values& values, std::int64_t channels)
{
  const auto places = static_cast<std::int64_t>(values.size()) / channels;
  std::vector<T> all;
  for (std::int64_t place = 0; place < places; ++place)
    for (std::int64_t channel = 0; channel < channels; ++channel)
      all.push_back(number<T>(values[static_cast<std::size_t>(channel * places + place)]));
  return all;
}

template<class T> Values channels_first(const std::vector<T>& numbers, std::int64_t channels)
{
  const auto places = static_cast<std::int64_t>(numbers.size()) / channels;
  Values all;
  for (std::int64_t channel = 0; channel < channels; ++channel)
    for (std::int64_t place = 0; place < places; ++place)
      all.push_back(value_of(numbers[static_cast<std::size_t>(place * channels + channel)]));
  return all;
}

PlaneWindows plane(const Windows& s)
{
  return {.height = s.height,
          .width = s.width,
          .out_height = s.out_height(),
          .out_width = s.out_width(),
          .kernel_height = s.kernel,
          .kernel_width = s.kernel,
          .stride = s.stride,
          .padding = s.padding,
          .block = s.in_channels,
          .pixel_stride = s.in_channels};
}

struct Pooled {
  Values results, image_gradient;
};

template<class T> Pooled pooled(InstructionSet set, const Windows& s, const Values& x, const Values& c)
{
  const auto& kernels = max_pooling_kernels<T>(set);
  const auto image = channels_last<T>(x, s.in_channels), gradients = channels_last<T>(c, s.in_channels);
  std::vector<T> results(gradients.size(), number<T>(77)), image_gradient(image.size(), number<T>(77));
  std::vector<std::uint8_t> winners(results.size());
  kernels.pool(plane(s), image.data(), results.data(), winners.data());
  kernels.gradient(plane(s), gradients.data(), winners.data(), image_gradient.data());
  return {channels_first(results, s.in_channels), channels_first(image_gradient, s.in_channels)};
}

template<class T> void check(InstructionSet set, const Windows& s)
{
  INFO("set " << static_cast<int>(set) << ", " << sizeof(T) << " bytes, " << s.in_channels << " channels, " << s.height << "x"
              << s.width << ", kernel " << s.kernel << ", stride " << s.stride << ", padding " << s.padding);
  const auto x = coarse(s.inputs(), 1), c = coarse(s.outputs(), 2); // with many equal numbers
  const auto found = pooled<T>(set, s, x, c);
  CHECK(found.results == reference::max_pooling(s, x));
  CHECK(found.image_gradient == reference::max_pooling_gradient(s, x, c));
}

} // namespace

TEST_CASE(
    "maximum pooling is exact for every instruction set, type, window, stride and padding, and the first of equal numbers wins")
{
  for (const auto set : instruction_sets())
    for (const std::int64_t lanes : {8, 16})
      for (const std::int64_t kernel : {1, 2, 3, 4, 15})
        for (const std::int64_t stride : {1, 2, 3})
          for (const std::int64_t padding : {0, 1})
            for (const bool ceil : {false, true}) {
              if (padding >= kernel) continue;
              const Windows s{1, lanes, 16, 15, lanes, kernel, stride, padding, 1, ceil};
              check<float>(set, s);
              check<Bf16>(set, s);
            }
}

TEST_CASE("maximum pooling of images that are narrower than a window, or as large as one, is exact for every instruction set")
{
  for (const auto set : instruction_sets())
    for (const auto& s : {Windows{1, 8, 2, 2, 8, 3, 2, 1}, Windows{1, 8, 1, 5, 8, 3, 1, 1}, Windows{1, 16, 3, 3, 16, 3, 2, 0},
                          Windows{1, 8, 5, 1, 8, 3, 2, 1}, Windows{1, 8, 4, 2, 8, 3, 2, 1, 1, true}})
      check<float>(set, s);
}

TEST_CASE("NaN is the maximum of a window where it is the first pixel, and the gradient goes to it")
{
  const Windows s{1, 8, 2, 4, 8, 2, 2, 0};
  Values x = coarse(s.inputs(), 1);
  x[0] = x[3] = NAN; // first in its window, and second
  for (const auto set : instruction_sets()) {
    const auto found = pooled<float>(set, s, x, Values(static_cast<std::size_t>(s.outputs()), 1.0));
    CHECK(std::isnan(found.results[0]));
    CHECK(found.image_gradient[0] == 1);
    CHECK(found.results[1] == std::max({x[2], x[6], x[7]}));
    CHECK(found.image_gradient[3] == 0);
  }
}
