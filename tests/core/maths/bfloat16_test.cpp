#include "core/maths/bfloat16.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace {

typedef std::uint32_t Words __attribute__((vector_size(16)));

float rounded(std::uint32_t bits) { return std::bit_cast<float>(dt::bfloat16_bits(bits) & 0xFFFF0000U); }

} // namespace

TEST_CASE("bfloat16 rounds to the nearest value, and a tie to the value whose last bit is 0")
{
  CHECK(rounded(0x3F800000) == 1.0F);
  CHECK(rounded(0x3F807FFF) == 1.0F);                                   // just below the middle
  CHECK(rounded(0x3F808000) == 1.0F);                                   // the middle: 1.0 has an even last bit
  CHECK(rounded(0x3F808001) == std::bit_cast<float>(0x3F810000U));      // just above the middle
  CHECK(rounded(0x3F818000) == std::bit_cast<float>(0x3F820000U));      // the middle again, to the even neighbour above
  CHECK(rounded(0x7F7FFFFF) == std::numeric_limits<float>::infinity()); // the largest float
}

TEST_CASE("no NaN becomes a number or an infinity in bfloat16, alone or in a vector")
{
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
    CHECK(std::isnan(rounded(nan)));
    const Words words = dt::bfloat16_bits(Words{nan, 0x3F800000U, 0x7F800000U, nan});
    CHECK(std::isnan(std::bit_cast<float>(words[0] & 0xFFFF0000U)));
    CHECK((words[1] >> 16) == 0x3F80U);
    CHECK((words[2] >> 16) == 0x7F80U);
  }
}
