#include "recipes/expansion/ranges.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace dt::recipes {
namespace {

constexpr double most_numbers = 10000;
constexpr double largest_end = 1e15; // whole numbers up to here are exact

std::optional<double> number_in(std::string_view text)
{
  const auto value = number_of<double>(text);
  return value && std::abs(*value) <= largest_end ? value : std::nullopt;
}

struct Range {
  double from = 0, to = 0, count = 0;
  bool is_log = false, is_whole = false; // is_whole: each whole number
  double at(double i) const
  {
    if (i == 0 || i == count - 1) return i == 0 ? from : to; // exact ends
    const double share = i / (count - 1);
    return is_log ? from * std::pow(to / from, share) : from + share * (to - from);
  }
};

// Nothing if the text has not the form of a range.
std::optional<Range> parse(std::string_view text)
{
  const auto words = split(text, ' ');
  const auto& ends = words.front();
  const auto dots = ends.find("..");
  if (dots == ends.npos || (words.size() != 1 && words.size() != 3)) return std::nullopt;
  const auto from = number_in(std::string_view(ends).substr(0, dots)), to = number_in(std::string_view(ends).substr(dots + 2));
  if (!from || !to) return std::nullopt;
  if (words.size() == 1) return Range{*from, *to, std::abs(*to - *from) + 1, false, true};
  const auto count = number_in(words[2]);
  if (!count || (words[1] != "log" && words[1] != "linear")) return std::nullopt;
  return Range{*from, *to, *count, words[1] == "log", false};
}

// What is wrong with a range of the right form; empty if nothing is.
std::string mistake_in(const Key& key, const Range& range)
{
  if (range.is_whole &&
      (key.type != KeyType::integer || std::floor(range.from) != range.from || std::floor(range.to) != range.to))
    return "needs the number of its values, such as `0.001..1 log 4` or `0..1 linear 5`";
  if (range.from == range.to) return "begins and ends with the same number";
  if (range.count < 2 || range.count > most_numbers || std::floor(range.count) != range.count)
    return fmt::format("must have 2 to {:.0f} values", most_numbers);
  if (range.is_log && (range.from <= 0 || range.to <= 0)) return "has equal ratios (log), so both ends must be above 0";
  return {};
}

std::string text_of(const Key& key, double value)
{
  if (key.type == KeyType::integer) return std::to_string(std::llround(value));
  return format_shortest(*number_in(fmt::format("{:.6g}", value)));
}

} // namespace

bool is_range(const Key& key, const Node& item)
{
  const bool is_number = key.type == KeyType::integer || key.type == KeyType::real;
  return is_number && item.kind == Node::Kind::scalar && !item.quoted && item.text.find("..") != item.text.npos;
}

std::vector<Node> numbers_of_range(const Key& key, const Node& item, Diagnostics& diagnostics)
{
  const auto range = parse(trim(item.text));
  const auto mistake = range
                           ? mistake_in(key, *range)
                           : "is no range; write `from..to log count`, `from..to linear count`, or `from..to` for whole numbers";
  if (!mistake.empty()) {
    diagnostics.add(item.mark, ticked(item.text) + " " + mistake);
    return {};
  }
  std::vector<Node> numbers;
  for (double i = 0; i < range->count; ++i) {
    auto& number = numbers.emplace_back(item);
    number.text = text_of(key, range->at(i));
  }
  return numbers;
}

} // namespace dt::recipes
