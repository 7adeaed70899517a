// Files with a few bytes made something else.
#pragma once

#include "core/error.hpp"
#include "core/files/file.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace dt::test {

// One to three bytes, two-byte or four-byte fields made something else, or the end cut off; `begin` bytes stay.
inline std::string mutated(std::string bytes, std::size_t begin, std::mt19937& random)
{
  const auto below = [&](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
  if (below(10) == 0) return bytes.substr(0, begin + below(bytes.size() - begin));
  for (auto times = 1 + below(3); times > 0; --times) {
    constexpr std::array<std::size_t, 4> widths{1, 1, 2, 4};
    const auto width = widths[below(widths.size())], at = begin + below(bytes.size() - begin - width);
    for (std::size_t i = 0; i < width; ++i) {
      const auto choice = below(4);
      bytes[at + i] = static_cast<char>(choice == 0   ? 0
                                        : choice == 1 ? 0xff
                                        : choice == 2 ? bytes[at + i] ^ (1 << below(8))
                                                      : static_cast<int>(below(256)));
    }
  }
  return bytes;
}

// Writes into the file what `content` makes of each number below `times`, and reads that: it is read, or refused with an error
// that names the file. Returns how often it was refused.
template<class Content, class Read>
int times_refused(const std::filesystem::path& path, std::size_t times, Content content, Read read)
{
  int refused = 0;
  for (std::size_t i = 0; i < times; ++i) {
    replace_file(path, content(i));
    try {
      read();
    } catch (const Error& error) {
      REQUIRE_THAT(error.what(), Catch::Contains(path.string() + ": "));
      ++refused;
    }
  }
  return refused;
}

} // namespace dt::test
