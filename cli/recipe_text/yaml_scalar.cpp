#include "cli/recipe_text/yaml_scalar.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace dt::cli {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_safe(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/'; }

// Words that some reader of YAML takes for a boolean or for nothing.
bool is_reserved(std::string_view text)
{
  constexpr std::array words{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"};
  const auto lower = lower_case(text);
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return lower == word; });
}

} // namespace

bool is_plain_line(std::string_view text) { return printable(text) == text; }

std::string yaml_scalar(std::string_view text)
{
  // A text that begins with a letter is no number.
  const bool is_plain = !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_safe);
  if (is_plain && !is_reserved(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

} // namespace dt::cli
