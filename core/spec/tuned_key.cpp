#include "core/spec/tuned_key.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/number.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace dt {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::string_view parameters = "program.parameters.";

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::recipe, what); }

bool is_number(const Key& key) { return key.type == KeyType::integer || key.type == KeyType::real; }
bool is_tunable(const Key& key)
{
  return is_number(key) && (key.path.starts_with("optimizer.") || key.path.starts_with("sync."));
}

std::vector<std::string> tunable_paths()
{
  std::vector<std::string> paths;
  for (const auto& key : spec_keys())
    if (is_tunable(key)) paths.emplace_back(key.path);
  return paths;
}

struct Ends {
  double from, to;
  bool is_whole; // both are written without a point or an exponent
  std::string word;
};

std::optional<Ends> ends_of(const std::string& range)
{
  const auto words = split(trim(range), ' ');
  const auto dots = words.front().find("..");
  if (dots == std::string::npos || words.size() > 2) return std::nullopt;
  const auto first = words.front().substr(0, dots), last = words.front().substr(dots + 2);
  const auto from = number_of<double>(first), to = number_of<double>(last);
  if (!from || !to || !std::isfinite(*from) || !std::isfinite(*to)) return std::nullopt;
  const auto is_whole = [](const std::string& text) { return text.find_first_of(".eE") == std::string::npos; };
  return Ends{*from, *to, is_whole(first) && is_whole(last), words.size() == 2 ? words[1] : ""};
}

// The key without its range.
TunedKey key_of(const std::string& path, bool has_whole_ends)
{
  TunedKey key{.path = path};
  if (path.starts_with(parameters) && path.size() > parameters.size()) {
    key.is_integer = has_whole_ends;
    key.least = -infinite;
    key.most = infinite;
    return key;
  }
  const auto* row = find_key(path);
  if (row == nullptr || !is_tunable(*row))
    refuse(fmt::format("cannot tune {}: it is no numeric key of optimizer or sync, and no entry of program.parameters{}",
                       printable(path), row == nullptr ? advice(path, tunable_paths()) : ""));
  key.is_integer = row->type == KeyType::integer;
  key.least = row->min;
  key.most = row->max;
  return key;
}

} // namespace

TunedKey tuned_key(const std::string& path, const std::string& range)
{
  const auto ends = ends_of(range);
  auto key = key_of(path, ends && ends->is_whole);
  const auto refuse_range = [&](const std::string& what) {
    refuse(fmt::format("the range \"{}\" of {} {}", printable(range), printable(path), what));
  };
  if (!ends || (!ends->word.empty() && ends->word != "log" && ends->word != "linear"))
    refuse_range("is no range; write `from..to`, such as 0.001..1, or `from..to linear`");
  key.from = ends->from;
  key.to = ends->to;
  if (key.from >= key.to) refuse_range("must begin with its smaller end");
  if (key.is_integer && (std::floor(key.from) != key.from || std::floor(key.to) != key.to))
    refuse_range("is of whole numbers, so both ends must be whole");
  if (key.from < key.least || key.to > key.most)
    refuse_range(fmt::format("is not within {} to {}", format_shortest(key.least), format_shortest(key.most)));
  key.is_logarithmic = ends->word.empty() ? key.from > 0 : ends->word == "log";
  if (key.is_logarithmic && key.from <= 0) refuse_range("has equal ratios (log), so both ends must be above 0");
  if (key.is_logarithmic && key.is_integer) key.least = std::max(key.least, 1.0);
  if (ends->word.empty() && key.from < 0) refuse_range("goes across 0, so it needs the word linear, such as -1..1 linear");
  return key;
}

std::vector<TunedKey> tuned_keys(const RunSpec& run)
{
  std::vector<TunedKey> keys;
  for (const auto& [path, range] : run.study.tune.keys)
    if (!path.starts_with("sync.") || reads(run.sync.strategy, path)) keys.push_back(tuned_key(path, range));
  return keys;
}

std::string tuned_text(const TunedKey& key, double value)
{
  return key.is_integer ? std::to_string(std::llround(value)) : format_shortest(value);
}

} // namespace dt
