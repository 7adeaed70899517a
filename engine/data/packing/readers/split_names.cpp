#include "engine/data/packing/readers/split_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

constexpr std::array<std::pair<std::string_view, Split>, 16> split_words{{{"train", Split::train},
                                                                          {"training", Split::train},
                                                                          {"trn", Split::train},
                                                                          {"test", Split::test},
                                                                          {"testing", Split::test},
                                                                          {"tst", Split::test},
                                                                          {"eval", Split::test},
                                                                          {"evaluation", Split::test},
                                                                          {"holdout", Split::test},
                                                                          {"heldout", Split::test},
                                                                          {"val", Split::validation},
                                                                          {"valid", Split::validation},
                                                                          {"validation", Split::validation},
                                                                          {"validate", Split::validation},
                                                                          {"dev", Split::validation},
                                                                          {"development", Split::validation}}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// In lower case.
std::vector<std::string> words_of(std::string_view name)
{
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = is_capital(name[i]) && i > 0 && is_letter(name[i - 1]) && !is_capital(name[i - 1]);
    if (!is_letter(name[i]) || begins) words.emplace_back();
    if (is_letter(name[i])) words.back() += static_cast<char>(name[i] | 0x20);
  }
  std::erase(words, "");
  return words;
}

// Also of a word that others are written to: "trainset", "testdata", "Xtrain".
SplitName split_in(std::string_view word)
{
  for (const std::string_view begin : {"", "x", "y"})
    for (const std::string_view end : {"", "set", "split", "data", "images", "labels", "x", "y"})
      for (const auto& [text, split] : split_words)
        if (word.size() == begin.size() + text.size() + end.size() && word.starts_with(begin) && word.ends_with(end) &&
            word.substr(begin.size(), text.size()) == text)
          return {split, std::string(begin) + std::string(end)};
  return {};
}

// "hold_out", "held-out" in one word.
void join_halves(std::vector<std::string>& words)
{
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i + 1] == "out" && (words[i] == "hold" || words[i] == "held")) {
      words[i] += "out";
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

} // namespace

SplitName read_split_name(std::string_view name)
{
  auto words = words_of(name);
  join_halves(words);
  SplitName found;
  for (auto& word : words)
    if (auto read = split_in(word); read.split != Split::none && found.split == Split::none) {
      found.split = read.split;
      word = std::move(read.rest);
    }
  std::erase(words, "");
  std::erase(words, "split");
  std::erase(words, "set");
  found.rest = fmt::format("{}", fmt::join(words, "_"));
  return found;
}

} // namespace dt::data
