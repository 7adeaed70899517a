// Text: the lines of a recipe, with comments between them.
#pragma once

#include "core/text.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace dt::cli {

// Collects lines. Comments are broken into lines of at most `width` columns.
class Text {
 public:
  void line(const std::string& text, std::size_t indent = 0) { text_ += std::string(indent, ' ') + text + "\n"; }
  void gap() { text_ += "\n"; }

  void comment(std::string_view sentences, std::size_t indent = 0)
  {
    constexpr std::size_t width = 100;
    std::string current = "#";
    for (const auto& word : split(sentences, ' ')) {
      if (current.size() > 1 && indent + display_width(current) + 1 + display_width(word) > width) {
        line(current, indent);
        current = "#";
      }
      current += " " + word;
    }
    line(current, indent);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

} // namespace dt::cli
