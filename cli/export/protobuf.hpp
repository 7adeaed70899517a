// Protocol Buffers' wire format, as far as event files need it: fields of a message, written in the order of the calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dt::cli {

// The `width` lowest bytes of the value, the lowest first.
std::string little_endian(std::uint64_t value, int width);

class Message {
 public:
  Message& add_integer(int field, std::int64_t value); // int64
  Message& add_double(int field, double value);
  Message& add_float(int field, float value);
  Message& add_bytes(int field, std::string_view value); // string, bytes
  Message& add_message(int field, const Message& value) { return add_bytes(field, value.bytes()); }
  const std::string& bytes() const { return bytes_; }

 private:
  void add_varint(std::uint64_t value);
  void add_tag(int field, unsigned wire_type);
  std::string bytes_;
};

} // namespace dt::cli
