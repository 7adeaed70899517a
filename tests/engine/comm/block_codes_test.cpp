#include "engine/comm/block_codes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace dt;
using namespace dt::comm;

namespace {

std::vector<float> decoded(Wire wire, const std::vector<float>& values)
{
  std::vector<std::byte> codes(coded_bytes(wire, values.size()));
  encode(wire, values, codes);
  std::vector<float> result(values.size(), -1.0F);
  decode(wire, codes, result);
  return result;
}

// Numbers of both signs whose magnitudes differ by block.
std::vector<float> numbers(std::size_t count)
{
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] =
        static_cast<float>(std::sin(static_cast<double>(i) * 1.7) * std::pow(10.0, static_cast<double>(i / coded_block) - 3));
  return values;
}

float limit_of(Wire wire) { return wire == Wire::int8 ? 127.0F : 7.0F; }

} // namespace

TEST_CASE("a coded number is off by at most half of its block's scale, and some are off by nearly as much")
{
  for (const auto wire : {Wire::int8, Wire::int4})
    for (const std::size_t count : {1U, 2U, 255U, 256U, 257U, 1000U}) {
      const auto values = numbers(count), result = decoded(wire, values);
      double worst = 0; // in scales
      for (std::size_t begin = 0; begin < count; begin += coded_block) {
        const auto end = std::min(count, begin + coded_block);
        float largest = 0;
        for (auto i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
        for (auto i = begin; largest > 0 && i < end; ++i)
          worst = std::max(worst,
                           std::abs(static_cast<double>(values[i]) - static_cast<double>(result[i])) * limit_of(wire) / largest);
      }
      CAPTURE(name_of(wire), count);
      CHECK(worst <= 0.5 * (1 + 1e-4));
      if (count > 100) CHECK(worst > 0.45);
    }
}

TEST_CASE("whole multiples of the scale, the largest magnitudes and zeros are exact")
{
  for (const auto wire : {Wire::int8, Wire::int4}) {
    std::vector<float> values;
    for (float code = -limit_of(wire); code <= limit_of(wire); ++code) values.push_back(0.125F * code);
    CHECK(decoded(wire, values) == values);
    CHECK(decoded(wire, std::vector<float>(300, 0.0F)) == std::vector<float>(300, 0.0F));
  }
}

TEST_CASE("a block with NaN or infinity is NaN, the next one is not, and tiny blocks are zero")
{
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto wire : {Wire::int8, Wire::int4})
    for (const float odd : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> values(2 * coded_block, 1.0F);
      values[3] = odd;
      const auto result = decoded(wire, values);
      CHECK(std::all_of(result.begin(), result.begin() + coded_block, [](float value) { return std::isnan(value); }));
      CHECK(std::all_of(result.begin() + coded_block, result.end(), [](float value) { return value == 1; }));
      CHECK(decoded(wire, {5e-38F, -1e-45F}) == std::vector<float>{0, 0});
    }
}

TEST_CASE("coded numbers take a byte or half a byte each, and a scale for each block")
{
  CHECK(coded_bytes(Wire::int8, 0) == 0);
  CHECK(coded_bytes(Wire::int8, 256) == 260);
  CHECK(coded_bytes(Wire::int8, 257) == 265);
  CHECK(coded_bytes(Wire::int4, 256) == 132);
  CHECK(coded_bytes(Wire::int4, 257) == 137);
  for (const auto wire : {Wire::int8, Wire::int4})
    CHECK(static_cast<double>(coded_bytes(wire, 25600)) == 25600 * bytes_per_number(wire));
}

TEST_CASE("an arrival is added to what is there")
{
  for (const auto wire : {Wire::int8, Wire::int4}) {
    const std::vector<float> values{7, -3, 1};
    std::vector<std::byte> codes(coded_bytes(wire, 3));
    encode(wire, values, codes);
    std::vector<float> into{1, 2, 3};
    add_decoded_arrival(wire, codes, into);
    CHECK(into[0] == Approx(8));
    CHECK(into[1] == Approx(-1).margin(0.03));
    CHECK(into[2] == Approx(4).margin(0.03));
  }
}
