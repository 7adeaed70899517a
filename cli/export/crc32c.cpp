#include "cli/export/crc32c.hpp"

#include <array>
#include <bit>

namespace dt::cli {
namespace {

constexpr std::uint32_t reflected_polynomial = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> make_table()
{
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    auto rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? reflected_polynomial : 0);
    table[byte] = rest;
  }
  return table;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes)
{
  static constexpr auto table = make_table();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8U; }

} // namespace dt::cli
