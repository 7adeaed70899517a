#include "core/program/printed_unit.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <re2/re2.h>

namespace dt {
namespace {

struct TimeWord {
  std::string_view word;
  double seconds;
};
constexpr std::array time_words{
    TimeWord{"s", 1},         TimeWord{"sec", 1},         TimeWord{"secs", 1},           TimeWord{"second", 1},
    TimeWord{"seconds", 1},   TimeWord{"ms", 1e-3},       TimeWord{"msec", 1e-3},        TimeWord{"msecs", 1e-3},
    TimeWord{"millis", 1e-3}, TimeWord{"millisec", 1e-3}, TimeWord{"millisecond", 1e-3}, TimeWord{"milliseconds", 1e-3},
    TimeWord{"us", 1e-6},     TimeWord{"\u00b5s", 1e-6},  TimeWord{"\u03bcs", 1e-6},     TimeWord{"usec", 1e-6},
    TimeWord{"usecs", 1e-6},  TimeWord{"micros", 1e-6},   TimeWord{"microsecond", 1e-6}, TimeWord{"microseconds", 1e-6},
    TimeWord{"ns", 1e-9},     TimeWord{"nsec", 1e-9},     TimeWord{"nanosecond", 1e-9},  TimeWord{"nanoseconds", 1e-9},
    TimeWord{"m", 60},        TimeWord{"min", 60},        TimeWord{"mins", 60},          TimeWord{"minute", 60},
    TimeWord{"minutes", 60},  TimeWord{"h", 3600},        TimeWord{"hr", 3600},          TimeWord{"hrs", 3600},
    TimeWord{"hour", 3600},   TimeWord{"hours", 3600},
};
constexpr std::array<std::string_view, 13> step_words{"it",    "its",   "iter",    "iters",  "iteration", "iterations", "step",
                                                      "steps", "batch", "batches", "update", "updates",   "upd"};
constexpr std::array<std::string_view, 24> sample_words{
    "sample", "samples", "smp",       "img",     "imgs",     "im", "image", "images", "tok",   "toks", "token",  "tokens",
    "seq",    "seqs",    "sequences", "example", "examples", "ex", "item",  "items",  "words", "w",    "frames", "records"};
constexpr std::array<std::string_view, 8> device_words{"gpu", "gpus", "device", "rank", "worker", "chip", "node", "core"};

constexpr std::array<std::string_view, 6> statistics{"max", "mean", "avg", "median", "std", "last"}; // of "min/max"

template<class List> bool is_among(const List& list, std::string_view word)
{
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string in_lower_case(std::string_view text)
{
  std::string result(text);
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// Seconds of a unit of time; 0 for other words. "S" and "Ms" are units where a name joins its words by capitals.
double seconds_of(std::string_view word)
{
  const auto found = std::find_if(time_words.begin(), time_words.end(), [&](const TimeWord& w) { return w.word == word; });
  if (found != time_words.end()) return found->seconds;
  const bool is_capital = word.size() > 2 || (word.size() == 2 && word[1] == 's');
  return is_capital && word != in_lower_case(word) ? seconds_of(in_lower_case(word)) : 0;
}

double factor_of_prefix(std::string_view prefix)
{
  if (prefix.size() != 1) return 0;
  switch (prefix[0]) {
  case 'k':
  case 'K':
    return 1e3;
  case 'M':
    return 1e6;
  case 'G':
    return 1e9;
  case 'T':
    return 1e12;
  default:
    return 0;
  }
}

// The thing of a rate, with the prefix that may be a part of its word: "Ktok", "tok", "K", "".
struct Thing {
  double factor = 1;
  std::string name;
};
Thing thing_of(std::string_view word)
{
  if (const auto prefix = factor_of_prefix(word); prefix > 0) return {prefix, {}};
  const auto name = in_lower_case(word);
  if (is_among(step_words, name) || is_among(sample_words, name) || word.empty()) return {1, name};
  const auto rest = in_lower_case(word.substr(1));
  const auto prefix = factor_of_prefix(word.substr(0, 1));
  if (prefix > 0 && (is_among(step_words, rest) || is_among(sample_words, rest))) return {prefix, rest};
  return {1, name};
}

// What the parts of a unit mean: "K", "tok", "s", "gpu" of "K tok/s/gpu". `is_label`: it may end a label, in which "time/ms" is a
// time in ms.
std::optional<PrintedUnit> unit_of(std::string_view prefix, std::string_view first, std::string_view second,
                                   std::string_view third, bool is_label)
{
  using Kind = PrintedUnit::Kind;
  const double scale = prefix.empty() ? 1 : factor_of_prefix(prefix);
  const auto thing = thing_of(first);
  if (const double each_s = seconds_of(second); each_s > 0) {
    const bool is_known =
        first.empty() || thing.factor != 1 || is_among(step_words, thing.name) || is_among(sample_words, thing.name);
    if (is_label && !is_known) return PrintedUnit{.kind = Kind::time, .factor = each_s};
    return PrintedUnit{.kind = Kind::rate,
                       .factor = scale * thing.factor / each_s,
                       .is_per_step = is_among(step_words, thing.name),
                       .is_per_device = is_among(device_words, in_lower_case(third))};
  }
  if (const double own_s = seconds_of(first); own_s > 0 && !is_among(statistics, second))
    return PrintedUnit{.kind = Kind::time, .factor = scale * own_s, .is_per_step = is_among(step_words, in_lower_case(second))};
  if (second.empty() && prefix.empty() && factor_of_prefix(first) > 0)
    return PrintedUnit{.kind = Kind::prefix, .factor = factor_of_prefix(first)};
  return std::nullopt;
}

const std::string letters = R"([A-Za-z\x{b5}\x{3bc}]+)";
const std::string optional_letters = "(?:" + letters + ")?";
const std::string per = R"((?: ?/ ?|[ _][pP]er[ _]))";

re2::StringPiece re2_piece(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const re2::StringPiece& text) { return {text.data(), text.size()}; }

bool is_word_character(char c)
{
  return static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::string_view without_end(std::string_view text, std::string_view unwanted)
{
  while (!text.empty() && unwanted.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

// The unit that is all of this text.
std::optional<PrintedUnit> whole_unit(std::string_view text, bool is_label)
{
  static const RE2 expression(
      "(?:in )?(?:([kKMGT]) )?(" + letters + "|)(?:" + per + "(" + letters + ")(?:" + per + "(" + letters + "))?)?", RE2::Quiet);
  re2::StringPiece prefix, first, second, third;
  if (text.empty() || !RE2::FullMatch(re2_piece(text), expression, &prefix, &first, &second, &third)) return std::nullopt;
  auto unit = unit_of(view(prefix), view(first), view(second), view(third), is_label);
  if (unit) unit->text = text;
  return unit;
}

// The text in the bracket that ends or begins `text`; empty if there is none.
std::string_view bracketed(std::string_view text, bool at_end)
{
  constexpr std::string_view opening = "([{", closing = ")]}";
  if (text.empty()) return {};
  const auto kind = (at_end ? closing : opening).find(at_end ? text.back() : text.front());
  if (kind == std::string_view::npos) return {};
  const auto other = at_end ? text.rfind(opening[kind]) : text.find(closing[kind]);
  if (other == std::string_view::npos) return {};
  return at_end ? text.substr(other + 1, text.size() - other - 2) : text.substr(1, other - 1);
}

// A name that joins its words by capitals: "Ms" of "stepTimeMs".
std::string_view last_capital_word(std::string_view word)
{
  const auto at = word.find_last_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const bool is_joined = at != std::string_view::npos && at > 0 && word[at - 1] >= 'a' && word[at - 1] <= 'z';
  return is_joined ? word.substr(at) : std::string_view();
}

// Words that are also something else where no bracket says that they are units: the minimum, a name of one letter.
bool is_rarely_a_unit(std::string_view word) { return word == "min" || word == "m" || word == "h" || factor_of_prefix(word) > 0; }

} // namespace

std::optional<PrintedUnit> unit_behind(std::string_view behind)
{
  const bool is_beside = !behind.empty() && behind.front() != ' ' && behind.front() != '\t';
  const auto text = trim(behind);
  if (auto unit = whole_unit(trim(bracketed(text, false)), false)) return unit;
  // The longest first: "K tok/s/gpu", then "K tok/s", then "K".
  static const std::array<RE2, 3> forms{
      RE2("((?:[kKMGT] )?" + optional_letters + per + letters + per + letters + ")", RE2::Quiet),
      RE2("((?:[kKMGT] )?" + optional_letters + per + letters + ")", RE2::Quiet), RE2("(" + letters + ")", RE2::Quiet)};
  for (const auto& form : forms) {
    re2::StringPiece found;
    if (!RE2::PartialMatch(re2_piece(text), form, &found) || found.data() != text.data()) continue;
    const auto rest = text.substr(found.size());
    if (!rest.empty() && (is_word_character(rest.front()) || rest.front() == '_')) continue;
    auto unit = whole_unit(view(found), false);
    if (!unit) continue;
    const bool is_next_label = !is_beside && !trim(rest).empty() && (trim(rest).front() == ':' || trim(rest).front() == '=');
    const bool is_other_word = !is_beside && unit->kind == PrintedUnit::Kind::prefix;
    if (is_next_label || is_other_word) return std::nullopt;
    return unit;
  }
  return std::nullopt;
}

std::optional<PrintedUnit> unit_in_front(std::string_view before)
{
  constexpr std::string_view unwanted = " \t'\"";
  const auto with_separator = without_end(before, unwanted);
  const auto label = without_end(without_end(with_separator, ":=|"), unwanted);
  const bool is_separated = label.size() != with_separator.size();
  if (const auto inside = trim(bracketed(label, true)); !inside.empty()) return whole_unit(inside, true);
  static const RE2 last("(?:^|[^A-Za-z\\x{b5}\\x{3bc}])(" + optional_letters + per + letters + per + letters + "|" +
                            optional_letters + per + letters + "|" + letters + ")$",
                        RE2::Quiet);
  re2::StringPiece found;
  if (!RE2::PartialMatch(re2_piece(label), last, &found)) return std::nullopt;
  auto word = view(found);
  auto unit = whole_unit(word, true);
  if (!unit) {
    const auto inner = last_capital_word(word);
    unit = whole_unit(inner, true);
    if (!unit) return std::nullopt;
    word = inner;
  }
  const auto at = static_cast<std::size_t>(word.data() - label.data());
  const char joint = at > 0 ? label[at - 1] : ' ';
  if (is_rarely_a_unit(word)) {
    const bool may_be = word != "m" && factor_of_prefix(word) == 0 && joint == '_';
    if (!may_be) return std::nullopt;
    unit->is_doubtful = true;
  }
  const auto left = trim(label.substr(0, at));
  const bool follows_number = !left.empty() && std::isdigit(static_cast<unsigned char>(left.back())) != 0;
  if (follows_number && !is_separated && (joint == ' ' || joint == left.back())) unit->is_doubtful = true;
  return unit;
}

bool says_per_step(std::string_view before)
{
  static const RE2 per_step(R"((?i)(?:\bper[ _]|/ ?)(?:it|iter|iteration|step|batch|update)(?:[^a-z]|$))", RE2::Quiet);
  const auto begin = before.find_last_of("|,;");
  return RE2::PartialMatch(re2_piece(begin == std::string_view::npos ? before : before.substr(begin)), per_step);
}

std::optional<std::string> with_rates_turned(std::string_view text)
{
  static const RE2 rate("([A-Za-z]+)/([A-Za-z]+)", RE2::Quiet);
  std::string result(text);
  bool has_any = false;
  re2::StringPiece rest = re2_piece(text), first, second;
  while (RE2::FindAndConsume(&rest, rate, &first, &second)) {
    if ((seconds_of(view(first)) == 1) == (seconds_of(view(second)) == 1)) continue;
    const auto at = static_cast<std::size_t>(first.data() - text.data());
    has_any = true;
    result.replace(at, first.size() + 1 + second.size(), std::string(view(second)) + "/" + std::string(view(first)));
  }
  return has_any ? std::optional(result) : std::nullopt;
}

} // namespace dt
