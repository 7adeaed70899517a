#include "cli/answers/grouped_texts.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <optional>

namespace dt::cli {
namespace {

using LineWords = std::vector<std::string>; // of one text

// A number in its sentence, and the labels that it holds for.
struct Variant {
  std::string word;
  LineWords labels;
};

// Texts that are equal but for the word at `place`.
struct Group {
  LineWords words;
  std::optional<std::size_t> place{}; // nothing: they are equal
  std::vector<Variant> variants{};    // at least one
};

bool is_number(std::string_view word)
{
  while (!word.empty() && (word.back() == ',' || word.back() == '.' || word.back() == ';')) word.remove_suffix(1);
  return number_of<double>(word).has_value();
}

// If `words` are those of the group but for one number, the index of that number; otherwise nothing.
std::optional<std::size_t> number_that_differs(const Group& group, const LineWords& words)
{
  if (words.size() != group.words.size()) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == group.words[i]) continue;
    if (found || !is_number(words[i]) || !is_number(group.words[i])) return std::nullopt;
    found = i;
  }
  return found;
}

// Whether the text belongs to the group; then its label is added.
bool take(Group& group, const LineWords& words, const std::string& label)
{
  const auto has_label = [&](const Variant& variant) {
    return std::find(variant.labels.begin(), variant.labels.end(), label) != variant.labels.end();
  };
  if (std::any_of(group.variants.begin(), group.variants.end(), has_label)) return false;
  if (words == group.words) {
    group.variants.front().labels.push_back(label);
    return true;
  }
  const auto place = number_that_differs(group, words);
  if (!place || (group.place && *group.place != *place)) return false;
  if (!group.place) group.variants.front().word = group.words[*place];
  group.place = place;
  for (auto& variant : group.variants)
    if (variant.word == words[*place]) {
      variant.labels.push_back(label);
      return true;
    }
  group.variants.push_back({words[*place], {label}});
  return true;
}

std::string text_of(const Group& group, std::size_t labels)
{
  auto words = group.words;
  std::size_t about = 0;
  LineWords numbers;
  for (const auto& variant : group.variants) {
    about += variant.labels.size();
    numbers.push_back(variant.word + " (" + join(variant.labels, ", ") + ")");
  }
  if (group.place) {
    words[*group.place] = join(numbers, ", ");
    return join(words, " ");
  }
  return (about == labels ? "" : join(group.variants.front().labels, ", ") + ": ") + join(words, " ");
}

} // namespace

std::vector<std::string> grouped_texts(std::span<const LabelledText> texts, const std::vector<std::string>& labels)
{
  std::vector<Group> groups;
  for (const auto& [label, text] : texts) {
    const auto words = split(text, ' ');
    if (std::none_of(groups.begin(), groups.end(), [&](auto& group) { return take(group, words, label); }))
      groups.push_back({.words = words, .variants = {{"", {label}}}});
  }
  const auto first_label = [&](const Group& group) { // what is about all labels comes before what is about the first one
    const auto& own = group.variants.front().labels;
    if (group.place || own.size() == labels.size()) return std::ptrdiff_t{-1};
    return std::find(labels.begin(), labels.end(), own.front()) - labels.begin();
  };
  std::stable_sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return first_label(a) < first_label(b); });
  std::vector<std::string> lines;
  for (const auto& group : groups) lines.push_back(text_of(group, labels.size()));
  return lines;
}

} // namespace dt::cli
