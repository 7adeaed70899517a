#include "core/spec/point_label.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace dt {
namespace {

constexpr std::string_view varied_mark = "assumed=", tried_mark = "tried=";

// The length of the key that the word begins with; 0 if it begins with none.
std::size_t key_length(std::string_view word)
{
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::find_if_not(word.begin(), word.end(),
                                    [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; });
  if (word.empty() || !is_letter(word.front()) || end == word.end() || *end != '=') return 0;
  return static_cast<std::size_t>(end - word.begin());
}

// Returns "nodes" for "resources.nodes=2" and for "nodes=2". Empty if the value is not a number.
std::string_view counted(std::string_view word)
{
  const auto equals = word.find('=');
  if (equals == std::string_view::npos || !is_digits(word.substr(equals + 1))) return {};
  auto key = word.substr(0, equals);
  if (key.starts_with("resources.")) key.remove_prefix(10);
  return key;
}

bool is_size(std::string_view word)
{
  const auto what = counted(word);
  return what == "ranks" || what == "nodes" || what == "parts";
}
bool is_density(std::string_view word) { return counted(word) == "ranks_per_node"; }

} // namespace

std::vector<LabelWord> label_words(std::string_view label)
{
  std::vector<LabelWord> words;
  if (label.empty()) return words;
  for (const auto& part : split(label, ' ')) {
    const auto length = key_length(part);
    if (length > 0)
      words.push_back({part.substr(0, length), part.substr(length + 1)});
    else if (!words.empty())
      words.back().value += " " + part;
    else
      words.push_back({"", part});
  }
  return words;
}

std::string series_of(std::string_view label)
{
  auto words = split(label, ' ');
  // If no other size is given, ranks per node are the size; otherwise they distinguish series.
  if (std::none_of(words.begin(), words.end(), is_size)) std::erase_if(words, is_density);
  std::erase_if(words, is_size);
  return join(words, " ");
}

std::string sized_label(const RunSpec& run)
{
  auto label = run.label;
  const auto add_size = [&](const char* unit, std::int64_t size) {
    label += (label.empty() ? "" : " ") + (unit + std::to_string(size));
  };
  if (!run.study.ranks.empty()) add_size("ranks=", run.ranks());
  if (!run.study.nodes.empty()) add_size("nodes=", run.resources.nodes);
  if (!run.study.parts.empty()) add_size("parts=", run.resources.ranks_per_node);
  return label;
}

std::string varied_word(std::string_view key, double change)
{
  return fmt::format("{}{}{:+.3g}%", varied_mark, key, change * 100);
}

std::optional<VariedFigure> varied_figure(std::string_view series)
{
  auto words = split(series, ' ');
  const auto word = std::find_if(words.begin(), words.end(), [](const auto& text) { return text.starts_with(varied_mark); });
  if (word == words.end()) return std::nullopt;
  const auto text = std::string(*word).substr(varied_mark.size());
  const auto sign = text.find_last_of("+-");
  if (sign == std::string::npos) return std::nullopt;
  VariedFigure figure{.key = text.substr(0, sign), .change = std::strtod(text.c_str() + sign, nullptr) / 100, .series = {}};
  words.erase(word);
  figure.series = join(words, " ");
  return figure;
}

std::string tried_word(const std::map<std::string, std::string>& values)
{
  std::vector<std::string> parts;
  for (const auto& [key, value] : values) parts.push_back(key + ":" + value);
  return std::string(tried_mark) + join(parts, ",");
}

std::optional<TriedSetting> tried_setting(std::string_view series)
{
  auto words = split(series, ' ');
  const auto word = std::find_if(words.begin(), words.end(), [](const auto& text) { return text.starts_with(tried_mark); });
  if (word == words.end()) return std::nullopt;
  TriedSetting setting;
  for (const auto& part : split(std::string_view(*word).substr(tried_mark.size()), ',')) {
    const auto colon = part.find(':');
    if (colon == std::string::npos) return std::nullopt;
    setting.values.emplace(part.substr(0, colon), part.substr(colon + 1));
  }
  words.erase(word);
  setting.series = join(words, " ");
  return setting;
}

} // namespace dt
