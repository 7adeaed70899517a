// 128-bit content hashes (XXH3), for keys and identities. Not cryptographic: do not use them for secrets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dt {

// Returns 32 lower-case hexadecimal digits.
std::string hash_hex(std::string_view bytes);
// The same of the bytes of numbers, such as a model's weights.
std::string hash_hex(std::span<const float> numbers);

// A 64-bit hash (XXH3), to find accidental changes of stored bytes.
std::uint64_t hash64(std::string_view bytes);

// Computes the digest of hash_hex over bytes that arrive in pieces.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void update(std::string_view bytes);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace dt
