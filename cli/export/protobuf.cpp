#include "cli/export/protobuf.hpp"

#include <bit>

namespace dt::cli {
namespace {

// How the bytes of a field end.
constexpr unsigned varint = 0, eight_bytes = 1, length_delimited = 2, four_bytes = 5;

} // namespace

std::string little_endian(std::uint64_t value, int width)
{
  std::string bytes;
  for (int byte = 0; byte < width; ++byte) bytes += static_cast<char>((value >> (8 * byte)) & 0xFF);
  return bytes;
}

Message& Message::add_integer(int field, std::int64_t value)
{
  add_tag(field, varint);
  add_varint(static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::add_double(int field, double value)
{
  add_tag(field, eight_bytes);
  bytes_ += little_endian(std::bit_cast<std::uint64_t>(value), 8);
  return *this;
}

Message& Message::add_float(int field, float value)
{
  add_tag(field, four_bytes);
  bytes_ += little_endian(std::bit_cast<std::uint32_t>(value), 4);
  return *this;
}

Message& Message::add_bytes(int field, std::string_view value)
{
  add_tag(field, length_delimited);
  add_varint(value.size());
  bytes_ += value;
  return *this;
}

// Seven bits a byte, the lowest first; the high bit says that more follow.
void Message::add_varint(std::uint64_t value)
{
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
}

void Message::add_tag(int field, unsigned wire_type) { add_varint((static_cast<std::uint64_t>(field) << 3) | wire_type); }

} // namespace dt::cli
