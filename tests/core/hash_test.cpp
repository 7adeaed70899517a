#include "core/hash.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("the hash, after which run folders are named, stays: XXH3's 128 bits in 32 lower-case digits, high half first")
{
  // The published digest of no bytes with seed 0.
  CHECK(hash_hex("") == "99aa06d3014798d86001c324468d497f");
  CHECK(hash_hex("dtctl") == "5415a4f1fd4c7c950c5f5bda832badf0");
  for (int i = 0; i < 100; ++i) {
    const auto hex = hash_hex(std::to_string(i));
    CHECK(hex.size() == 32);
    CHECK(hex.find_first_not_of("0123456789abcdef") == std::string::npos);
  }
}

TEST_CASE("bytes given piece by piece have the hash of the whole, wherever they are cut, and asking for a digest does not end it")
{
  std::string bytes(5000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 % 251);
  for (const std::size_t piece : {1UL, 7UL, 64UL, 255UL, 256UL, 1024UL, 4999UL, 5000UL}) {
    Hasher hasher;
    for (std::size_t at = 0; at < bytes.size(); at += piece) hasher.update(std::string_view(bytes).substr(at, piece));
    CHECK(hasher.hex() == hash_hex(bytes));
  }
  Hasher asked;
  CHECK(asked.hex() == hash_hex(""));
  asked.update("a");
  CHECK(asked.hex() == hash_hex("a"));
  asked.update("b");
  CHECK(asked.hex() == hash_hex("ab"));
}

TEST_CASE("one bit changes the hash, also at the end of a long text and in a zero byte")
{
  const std::string zeros(3000, '\0');
  auto changed = zeros;
  changed.back() = 1;
  CHECK(hash_hex(zeros) != hash_hex(changed));
  CHECK(hash_hex(zeros) != hash_hex(zeros.substr(1)));
}
