// Files as somebody could craft them: a checkpoint with a header or values of their choice, and a hash that fits.
#pragma once

#include "core/hash.hpp"
#include "engine/train/weights/checkpoint.hpp"
#include "tests/engine/train/weights/mutation.hpp"

#include <cstring>
#include <filesystem>
#include <string>

namespace dt::test {

inline constexpr std::size_t length_bytes = 8; // of a safetensors file's header

// A safetensors file.
inline std::string with_header(const std::string& header, const std::string& data)
{
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), length_bytes) + header + data;
}

inline std::string header_of(const std::string& bytes)
{
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  return bytes.substr(length_bytes, length);
}

// The bytes with their hash in them, as a whole checkpoint has it.
inline std::string sealed(std::string bytes)
{
  bytes.replace(checkpoint_hash_begin, checkpoint_hash_digits, checkpoint_hash_digits, '0');
  return bytes.replace(checkpoint_hash_begin, checkpoint_hash_digits, hash_hex(bytes));
}

// Replaces the first `from` in a checkpoint's header.
inline void alter(const std::filesystem::path& path, const std::string& from, const std::string& to)
{
  const auto bytes = read_file(path), header = header_of(bytes);
  auto altered = header;
  altered.replace(altered.find(from), from.size(), to);
  replace_file(path, sealed(with_header(altered, bytes.substr(length_bytes + header.size()))));
}

} // namespace dt::test
