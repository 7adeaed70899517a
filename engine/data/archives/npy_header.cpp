#include "engine/data/archives/npy_header.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace dt::data {

std::string_view npy_value(std::string_view words, std::string_view key)
{
  const auto at = words.find(fmt::format("'{}':", key));
  if (at == words.npos) return {};
  words.remove_prefix(at + key.size() + 3);
  words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
  return words;
}

bool read_npy_shape(std::string_view words, std::vector<std::int64_t>& dims)
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

} // namespace dt::data
