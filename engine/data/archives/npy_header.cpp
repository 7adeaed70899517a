#include "engine/data/archives/npy_header.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace dt::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the length is read as it lies in memory");

// The text behind 'key': in the dictionary; empty if the key is missing.
std::string_view value_of(std::string_view words, std::string_view key)
{
  const auto at = words.find(fmt::format("'{}':", key));
  if (at == words.npos) return {};
  words.remove_prefix(at + key.size() + 3);
  words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
  return words;
}

// Reads the numbers of "(6, 1, 5, 5)". Returns false for any other text, for negative numbers, and for more than NumPy's 32
// dimensions.
bool read_shape(std::string_view words, std::vector<std::int64_t>& dims)
{
  constexpr std::size_t most_dims = 32;
  if (!words.starts_with('(')) return false;
  words.remove_prefix(1);
  while (true) {
    words.remove_prefix(std::min(words.find_first_not_of(", "), words.size()));
    if (words.starts_with(')')) return true;
    std::int64_t dim = -1;
    const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), dim);
    if (error != std::errc() || dim < 0 || dims.size() == most_dims) return false;
    dims.push_back(dim);
    words.remove_prefix(static_cast<std::size_t>(end - words.data()));
  }
}

// "<f4" for "'<f4', …".
std::string type_in(std::string_view words)
{
  if (!words.starts_with('\'')) return std::string(words.substr(0, words.find(']') + 1));
  return std::string(words.substr(1, words.find('\'', 1) - 1));
}

} // namespace

NpyHeader read_npy_header(ArchiveFile& archive)
{
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::uint32_t longest = 1 << 20;
  std::string prefix, length, words;
  if (archive.size() < 10) throw archive.refusal("is not an array of NumPy.");
  archive.read(8, prefix);
  const char version = prefix[magic.size()];
  if (!prefix.starts_with(magic) || version < 1 || version > 3) throw archive.refusal("is not an array of NumPy.");
  archive.read(version == 1 ? 2 : 4, length);
  std::uint32_t words_bytes = 0;
  std::memcpy(&words_bytes, length.data(), length.size());
  if (words_bytes > longest || words_bytes > archive.size() - archive.position())
    throw archive.refusal("has a header that is too long.");
  archive.read(words_bytes, words);
  NpyHeader header{type_in(value_of(words, "descr")), false, {}};
  const auto order = value_of(words, "fortran_order");
  header.is_fortran = order.starts_with("True");
  if (!header.is_fortran && !order.starts_with("False")) throw archive.refusal("does not say whether it is in Fortran's order.");
  if (!read_shape(value_of(words, "shape"), header.shape)) throw archive.refusal("has a header without a shape.");
  return header;
}

} // namespace dt::data
