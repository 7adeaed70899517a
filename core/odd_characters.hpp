// Finds characters that look like other characters, or like nothing, in what a user has typed or copied: a no-break space, a
// minus sign of typography, quotation marks of a word processor.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dt {

struct OddCharacter {
  std::size_t offset = 0;    // of its first byte
  std::string words;         // "U+2212, which looks like `-`"; "U+200B, which is invisible"
  bool is_invisible = false; // or a blank that is not the usual one
  bool looks_like_dash = false;
};

// The first such character of a UTF-8 text.
std::optional<OddCharacter> find_odd_character(std::string_view text);

} // namespace dt
