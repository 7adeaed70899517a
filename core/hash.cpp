#include "core/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dt {
namespace {

std::string to_hex(XXH128_hash_t digest)
{
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    text[15 - i] = digits[(digest.high64 >> (4 * i)) & 15];
    text[31 - i] = digits[(digest.low64 >> (4 * i)) & 15];
  }
  return text;
}

} // namespace

std::string hash_hex(std::string_view bytes) { return to_hex(XXH3_128bits(bytes.data(), bytes.size())); }

std::string hash_hex(std::span<const float> numbers) { return to_hex(XXH3_128bits(numbers.data(), numbers.size_bytes())); }

std::uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;
void Hasher::update(std::string_view bytes) { XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()); }
std::string Hasher::hex() const { return to_hex(XXH3_128bits_digest(&state_->xxh)); }

} // namespace dt
