// Checksums and messages of event files, against published values.
#include "cli/export/crc32c.hpp"
#include "cli/export/protobuf.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace dt::cli;

TEST_CASE("CRC-32C has the values of RFC 3720, appendix B.4")
{
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xE3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AA);
  CHECK(crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
}

TEST_CASE("a masked checksum is the rotated checksum plus a constant") { CHECK(masked_crc32c("") == 0xA282EAD8); }

TEST_CASE("fields of a message have the bytes of the wire format's description")
{
  CHECK(Message().add_integer(1, 150).bytes() == "\x08\x96\x01");
  CHECK(Message().add_bytes(2, "testing").bytes() == "\x12\x07testing");
  CHECK(Message().add_message(3, Message().add_integer(1, 150)).bytes() == "\x1a\x03\x08\x96\x01");
  CHECK(Message().add_integer(16, -1).bytes() == "\x80\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01");
  CHECK(Message().add_float(2, 1.0F).bytes() == std::string("\x15\x00\x00\x80\x3f", 5));
  CHECK(Message().add_double(1, 1.0).bytes() == std::string("\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", 9));
}
