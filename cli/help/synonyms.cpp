#include "cli/help/synonyms.hpp"

#include <algorithm>
#include <iterator>

namespace dt::cli {
namespace {

struct Synonym {
  std::vector<std::string> words, stands_for;
};

const std::vector<Synonym>& synonyms()
{
  static const std::vector<Synonym> all{{{"submit"}, {"sweep"}},
                                        {{"plan"}, {"sweep", "--dry-run"}},
                                        {{"watch"}, {"status", "--follow"}},
                                        {{"trace"}, {"export", "--format", "trace"}},
                                        {{"export-weights"}, {"export", "--format", "weights"}},
                                        {{"baseline", "set"}, {"note", "--baseline"}},
                                        {{"baseline", "list"}, {"note", "--baselines"}},
                                        {{"baseline", "remove"}, {"note", "--forget-baseline"}}};
  return all;
}

} // namespace

std::vector<std::string> with_todays_verb(std::vector<std::string> words)
{
  const auto verb = std::ranges::find_if(words, [](const auto& word) { return !word.starts_with('-'); });
  for (const auto& [old, stands_for] : synonyms()) {
    if (std::distance(verb, words.end()) < std::ssize(old) || !std::equal(old.begin(), old.end(), verb)) continue;
    const auto rest = words.erase(verb, verb + std::ssize(old));
    words.insert(rest, stands_for.begin(), stands_for.end());
    break;
  }
  return words;
}

} // namespace dt::cli
