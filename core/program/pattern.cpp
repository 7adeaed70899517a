#include "core/program/pattern.hpp"

#include "core/error.hpp"
#include "core/program/printed_text.hpp"
#include "core/program/printed_unit.hpp"
#include "core/text.hpp"

#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

namespace dt {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view separators = ",_'"; // between two numbers if the expression names them, else between groups of digits

// RE2 quotes the expression, which may be of any length.
Error refusal(const std::string& why)
{
  constexpr std::size_t longest = 200;
  return {ErrorKind::recipe, why.size() <= longest ? why : why.substr(0, longest) + "..."};
}

struct Lacking {
  std::string_view begin, words;
};

// Constructs of other dialects.
constexpr std::array lacking{
    Lacking{"(?=", "look-ahead, `(?=`, is not supported: write what follows behind the group"},
    Lacking{"(?!", "negative look-ahead, `(?!`, is not supported"},
    Lacking{"(?<=", "look-behind, `(?<=`, is not supported: write what comes before in front of the group"},
    Lacking{"(?<!", "negative look-behind, `(?<!`, is not supported"},
    Lacking{"(?>", "atomic groups, `(?>`, are not supported; no expression needs them, because none is slow here"},
    Lacking{"(?#", "comments, `(?#`, are not supported"},
    Lacking{"(?(", "conditions, `(?(`, are not supported"},
    Lacking{"(?P=", "back references, `(?P=`, are not supported"},
    Lacking{"(?<", "groups that begin with `(?<` are not supported: write `(?P<name>…)`"},
};

// Calls `visit` for each position that is not escaped and not in a bracket expression.
template<class Visit> void walk(std::string_view text, Visit visit)
{
  for (std::size_t i = 0; i < text.size(); ++i) {
    visit(i);
    if (text[i] == '\\') ++i;
    if (text[i] != '[' || (i > 0 && text[i - 1] == '\\')) continue;
    i += text.substr(i + 1).starts_with('^') ? 2 : 1;
    for (bool is_first = true; i < text.size() && (is_first || text[i] != ']'); ++i, is_first = false) {
      if (text[i] == '\\') ++i;
      if (text.substr(i).starts_with("[:")) i = std::min(text.find(":]", i), text.size() - 2) + 1;
    }
  }
}

void require_supported(std::string_view text)
{
  walk(text, [&](std::size_t i) {
    const auto rest = text.substr(i);
    for (const auto& [begin, words] : lacking)
      if (rest.starts_with(begin)) throw refusal(std::string(words));
    if (rest.size() > 1 && rest[0] == '\\' && rest[1] >= '1' && rest[1] <= '9')
      throw refusal(fmt::format("back references such as `{}` are not supported", rest.substr(0, 2)));
    if (rest.starts_with("\\Z")) throw refusal("`\\Z` is not supported: write `$`");
  });
}

// Where the capturing group stands in the text of the expression: its "(" and the byte behind its ")".
TextPart place_of_group(std::string_view text)
{
  TextPart place{text.size(), text.size()};
  int depth = 0, group_depth = -1;
  walk(text, [&](std::size_t i) {
    if (text[i] == '(') {
      const bool captures = !text.substr(i + 1).starts_with('?') || text.substr(i).starts_with("(?P<");
      if (captures && group_depth < 0) place.begin = i, group_depth = depth;
      ++depth;
    }
    if (text[i] == ')' && --depth == group_depth && place.end == text.size()) place.end = i + 1;
  });
  return place;
}

char separator_or_nothing(std::string_view text)
{
  return text.size() == 1 && separators.find(text[0]) != std::string_view::npos ? text[0] : '\0';
}

// The expression's text in front of the group, without the blanks that may stand there.
std::string_view without_blanks_at_end(std::string_view text)
{
  for (const std::string_view blank : {"\\s*", "\\s+", "\\s?", " *", " ?", " "})
    if (text.ends_with(blank)) return text.substr(0, text.size() - blank.size());
  return text;
}

std::string_view in(std::string_view line, TextPart part) { return line.substr(part.begin, part.end - part.begin); }

// The group without blanks, without a percent sign or a unit, and without what ends a sentence, a list or a quotation behind the
// number.
TextPart number_part(std::string_view line, TextPart group)
{
  const auto drop_last = [&](std::string_view unwanted) {
    while (group.begin < group.end && unwanted.find(line[group.end - 1]) != std::string_view::npos) --group.end;
  };
  drop_last(" \t.,;:)]}>|'\"");
  drop_last(" \t%");
  while (group.begin < group.end && blanks.find(line[group.begin]) != std::string_view::npos) ++group.begin;
  const auto text = in(line, group);
  const auto end = text.find_last_of("0123456789.");
  const bool has_unit = end != std::string_view::npos && end + 1 < text.size() && parse_printed_number(text.substr(0, end + 1)) &&
                        unit_behind(line.substr(group.begin + end + 1));
  if (has_unit) group.end = group.begin + end + 1;
  return group;
}

std::optional<TextPart> group_in(const RE2& expression, std::string_view line)
{
  std::array<re2::StringPiece, 2> places;
  const re2::StringPiece piece(line.data(), line.size());
  if (expression.NumberOfCapturingGroups() == 0) return std::nullopt;
  if (!expression.Match(piece, 0, line.size(), RE2::UNANCHORED, places.data(), static_cast<int>(places.size())))
    return std::nullopt;
  if (places[1].data() == nullptr) return std::nullopt;
  const auto begin = static_cast<std::size_t>(places[1].data() - line.data());
  return TextPart{begin, begin + places[1].size()};
}

} // namespace

Pattern::Pattern(std::string_view text)
{
  if (text.empty()) throw refusal("it is empty");
  require_supported(text);
  auto expression = std::make_shared<RE2>(re2::StringPiece(text.data(), text.size()), RE2::Quiet);
  if (!expression->ok()) throw refusal(expression->error());
  if (expression->NumberOfCapturingGroups() > 1)
    throw refusal(
        fmt::format("it has {} groups in parentheses; put only the number in parentheses, and write `(?:` for the others",
                    expression->NumberOfCapturingGroups()));
  const auto group = place_of_group(text);
  const auto before = without_blanks_at_end(text.substr(0, group.begin));
  before_group_ = separator_or_nothing(before.substr(before.size() - std::min<std::size_t>(1, before.size())));
  const auto after = text.substr(group.end);
  const bool is_certain = after.size() < 2 || std::string_view("?*{").find(after[1]) == std::string_view::npos;
  after_group_ = is_certain ? separator_or_nothing(after.substr(0, 1)) : '\0';
  const bool excludes_commas = text.substr(group.begin, group.end - group.begin).find("[^,") != std::string_view::npos;
  if (excludes_commas) before_group_ = after_group_ = ',';
  expression_ = std::move(expression);
}

bool Pattern::has_group() const { return expression_->NumberOfCapturingGroups() > 0; }

bool Pattern::is_in(std::string_view line) const
{
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *expression_);
}

std::optional<Found> Pattern::find_not_finite(std::string_view line) const
{
  constexpr std::array<std::string_view, 9> forms{"0.0",     "0",        "0.00",    "0.000",       "0.0000",
                                                  "0.00000", "0.000000", "0.0e+00", "0.000000e+00"};
  for (const auto digits : forms) {
    const auto other = without_nan(line, digits);
    if (other.places.empty()) return std::nullopt;
    const auto group = group_in(*expression_, other.text);
    if (!group || in(other.text, number_part(other.text, *group)) != digits) continue;
    for (const auto& [part, value] : other.places)
      if (group->begin < part.end && part.begin < group->end) {
        const auto word = format_shortest(value);
        return Found{Found::Kind::number, value, word, word, other.text.substr(0, part.begin), other.text.substr(part.end)};
      }
  }
  return std::nullopt;
}

// The part of the line that may belong to the number in the group: all of it, or up to separators that the expression names.
TextPart Pattern::surroundings(std::string_view line, TextPart group, TextPart part) const
{
  const bool is_behind = before_group_ != 0 && part.begin > 0 && line[part.begin - 1] == before_group_;
  const bool is_in_front = after_group_ != 0 && group.end < line.size() && line[group.end] == after_group_;
  if (!is_behind && !is_in_front) return {0, line.size()};
  // "12,640" and "1,234.5" are more likely one number than two. In names, such as "step_10_200", `_` divides.
  const auto all = number_around(line, part);
  const bool is_one = all && parse_printed_number(in(line, *all)) && in(line, *all).find('_') == std::string_view::npos;
  if (is_one) return {0, line.size()};
  return {is_behind ? part.begin : 0, is_in_front ? group.end : line.size()};
}

std::optional<Found> Pattern::find(std::string_view line) const
{
  if (auto found = find_not_finite(line)) return found;
  const auto group = group_in(*expression_, line);
  if (!group) return std::nullopt;
  const auto part = number_part(line, *group);
  const auto around = surroundings(line, *group, part);
  const auto number = number_around(in(line, around), {part.begin - around.begin, part.end - around.begin});

  Found found;
  found.text = found.whole = in(line, part);
  if (!number) return found;
  const TextPart whole{number->begin + around.begin, number->end + around.begin};
  found.whole = in(line, whole);
  found.before = line.substr(0, whole.begin);
  found.behind = line.substr(whole.end);
  const auto value = parse_printed_number(found.text);
  const bool is_cut = whole.begin < part.begin || whole.end > part.end;
  found.kind = is_cut ? Found::Kind::cut : value ? Found::Kind::number : Found::Kind::unreadable;
  found.value = value.value_or(0);
  return found;
}

} // namespace dt
