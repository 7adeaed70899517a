// Vector sums, and numbers as bfloat16.
#include "engine/comm/vectors.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

float once_rounded(float value)
{
  Bfloat16 rounded = 0;
  float back = 0;
  round_to_bfloat16({&value, 1}, {&rounded, 1});
  widen({&rounded, 1}, {&back, 1});
  return back;
}

} // namespace

TEST_CASE("vectors of any length are added, and nothing beside them")
{
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<float> into(n + 1, 1.0F), from(n + 1);
    std::iota(from.begin(), from.end(), 0.0F);
    add_to(std::span(into).first(n), std::span<const float>(from).first(n));
    for (std::size_t i = 0; i < n; ++i) REQUIRE(into[i] == 1.0F + static_cast<float>(i));
    CHECK(into[n] == 1.0F);
  }
}

TEST_CASE("a sum of vectors of any length has each source once, and nothing beside it is written")
{
  for (const std::size_t n : {0, 1, 70, 1024, 1025, 3000}) {
    CAPTURE(n);
    std::vector<float> sums(n + 1, -1.0F), first(n), second(n, 1000.0F), third(n, 0.5F);
    std::iota(first.begin(), first.end(), 0.0F);
    sum_to(std::array<const float*, 3>{first.data(), second.data(), third.data()}, std::span(sums).first(n));
    for (std::size_t i = 0; i < n; ++i) REQUIRE(sums[i] == static_cast<float>(i) + 1000.5F);
    CHECK(sums[n] == -1.0F);
  }
}

TEST_CASE("bfloat16 rounds to the nearest, ties to even")
{
  CHECK(once_rounded(1.0F) == 1.0F);
  CHECK(once_rounded(-0.0F) == 0.0F);
  CHECK(std::signbit(once_rounded(-0.0F)));
  // Neighbours of 1 are 2^-7 apart.
  CHECK(once_rounded(1.0F + 0.0039062F) == 1.0F);
  CHECK(once_rounded(1.0F + 0.00390625F) == 1.0F); // a tie; 1.0 is even
  CHECK(once_rounded(1.0F + 0.0039064F) == 1.0078125F);
  CHECK(once_rounded(1.0078125F + 0.00390625F) == 1.015625F); // a tie; 1.015625 is even
  CHECK(once_rounded(-1.0078125F - 0.00390625F) == -1.015625F);
}

TEST_CASE("bfloat16 keeps infinities and NaNs, and rounds the largest numbers to infinity")
{
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(once_rounded(infinity) == infinity);
  CHECK(once_rounded(-infinity) == -infinity);
  CHECK(once_rounded(std::numeric_limits<float>::max()) == infinity);
  for (const std::uint32_t bits : {0x7F800001U, 0x7FFFFFFFU, 0xFFFFFFFFU, 0xFF800001U})
    CHECK(std::isnan(once_rounded(std::bit_cast<float>(bits))));
}

TEST_CASE("rounding twice is rounding once, and errs by 2^-8 at most")
{
  std::uint32_t bits = 1;
  for (int i = 0; i < 100'000; ++i) {
    bits = bits * 1664525U + 1013904223U;
    const auto value = std::bit_cast<float>((bits & 0x807FFFFFU) | ((64U + (bits >> 24U) % 128U) << 23U));
    const float rounded = once_rounded(value);
    REQUIRE(once_rounded(rounded) == rounded);
    REQUIRE(std::abs(rounded - value) <= std::ldexp(std::abs(value), -8));
  }
}

TEST_CASE("bfloat16 numbers are added in float32")
{
  const std::vector<float> values{1.0F, 2.5F, -3.0F};
  std::vector<Bfloat16> rounded(3);
  round_to_bfloat16(values, rounded);
  std::vector<float> sums(3, 1e-6F);
  add_arrival_to(sums, std::span<const Bfloat16>(rounded));
  CHECK(sums == std::vector<float>{1.0F + 1e-6F, 2.5F + 1e-6F, -3.0F + 1e-6F});
}
