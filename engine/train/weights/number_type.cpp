#include "engine/train/weights/number_type.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace dt::train {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in memory");

float from_float16(std::uint16_t half)
{
  const int exponent = (half >> 10) & 0x1f, fraction = half & 0x3ff;
  const float sign = half >> 15 ? -1.0F : 1.0F;
  if (exponent == 0x1f)
    return sign * (fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN());
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25));
}

float from_bfloat16(std::uint16_t upper_half) { return std::bit_cast<float>(std::uint32_t{upper_half} << 16); }
float from_float32(float value) { return value; }
float from_float64(double value) { return static_cast<float>(value); }

template<class Number, float (*Convert)(Number)> void convert(const char* bytes, std::span<float> values)
{
  for (float& value : values) {
    Number number;
    std::memcpy(&number, bytes, sizeof number);
    value = Convert(number);
    bytes += sizeof number;
  }
}

} // namespace

const NumberType float16{2, convert<std::uint16_t, from_float16>}, bfloat16{2, convert<std::uint16_t, from_bfloat16>},
    float32{4, convert<float, from_float32>}, float64{8, convert<double, from_float64>};

void read_numbers(const NumberType& type, std::span<float> values, const std::function<void(std::string&)>& read)
{
  constexpr std::size_t block_bytes = std::size_t{1} << 20;
  std::string block;
  for (std::size_t count = 0; !values.empty(); values = values.subspan(count)) {
    count = std::min(values.size(), block_bytes / type.bytes);
    block.resize(count * type.bytes);
    read(block);
    type.to_floats(block.data(), values.first(count));
  }
}

} // namespace dt::train
