#include "core/program/pattern.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <array>
#include <charconv>

#include <regex.h>

namespace dt {

struct Pattern::Compiled {
  regex_t expression{};
  bool is_whole = false; // regcomp has succeeded
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled()
  {
    if (is_whole) ::regfree(&expression);
  }
};

namespace {

constexpr std::size_t most_groups = 1;

Error refusal(const std::string& why) { return {ErrorKind::recipe, why}; }

// The expression in the syntax of regcomp, which does not know \d.
std::string translated(std::string_view text)
{
  std::string result;
  bool in_brackets = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && !in_brackets && i + 1 < text.size()) {
      const char next = text[++i];
      if (next >= '1' && next <= '9') throw refusal("back references such as `\\1` are not supported");
      result += next == 'd' ? "[0-9]" : std::string{c, next};
      continue;
    }
    if (c == '(' && !in_brackets && i + 1 < text.size() && text[i + 1] == '?')
      throw refusal("groups that begin with `(?` are not supported: expressions are POSIX extended regular expressions");
    // In a bracket expression a first `]` is a character like others.
    if (c == '[' && !in_brackets) {
      in_brackets = true;
      result += c;
      if (i + 1 < text.size() && text[i + 1] == '^') result += text[++i];
      if (i + 1 < text.size() && text[i + 1] == ']') result += text[++i];
      continue;
    }
    if (c == ']') in_brackets = false;
    result += c;
  }
  return result;
}

std::string_view without_plus(std::string_view text) { return text.substr(text.starts_with('+') ? 1 : 0); }

} // namespace

Pattern::Pattern(std::string_view text)
{
  auto compiled = std::make_shared<Compiled>();
  if (text.empty()) throw refusal("it is empty");
  const int code = ::regcomp(&compiled->expression, translated(text).c_str(), REG_EXTENDED);
  if (code != 0) {
    std::array<char, 256> words{};
    ::regerror(code, &compiled->expression, words.data(), words.size());
    throw refusal(words.data());
  }
  compiled->is_whole = true;
  if (compiled->expression.re_nsub > most_groups)
    throw refusal("it has " + std::to_string(compiled->expression.re_nsub) +
                  " groups in parentheses; put only the number in "
                  "parentheses");
  compiled_ = std::move(compiled);
}

bool Pattern::has_group() const { return compiled_->expression.re_nsub > 0; }

std::optional<double> Pattern::number_in(const std::string& line) const
{
  std::array<regmatch_t, most_groups + 1> places{};
  if (::regexec(&compiled_->expression, line.c_str(), places.size(), places.data(), 0) != 0) return std::nullopt;
  const auto& place = places[1];
  if (!has_group() || place.rm_so < 0) return std::nullopt;
  const auto begin = static_cast<std::size_t>(place.rm_so), end = static_cast<std::size_t>(place.rm_eo);
  const auto digits = without_plus(trim(std::string_view(line).substr(begin, end - begin)));
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  return value;
}

bool Pattern::is_in(const std::string& line) const { return ::regexec(&compiled_->expression, line.c_str(), 0, nullptr, 0) == 0; }

} // namespace dt
