// 128-bit content hashes (XXH3): for keys and identities, not for secrets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace dt {

// 32 lower-case hexadecimal digits.
std::string hash_hex(std::string_view bytes);

// The same digest over bytes given piece by piece.
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
