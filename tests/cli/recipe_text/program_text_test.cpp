#include "cli/recipe_text/program_text.hpp"

#include "core/text.hpp"

#include <random>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;

TEST_CASE("words that were joined for a shell are read back unchanged, and a quote without an end is refused")
{
  std::mt19937 random(7);
  std::vector<std::string> words{"", "it's", "a\\b", "\"", "$x", "two words"};
  for (int i = 0; i < 200; ++i) {
    std::string word(random() % 24, ' ');
    for (auto& c : word) c = static_cast<char>(1 + random() % 255);
    words.push_back(word);
  }
  CHECK(shell_words(shell_join(words)) == words);
  CHECK(shell_words("  python3 \"my train.py\" a\\ b 'x'y '' ") ==
        std::vector<std::string>{"python3", "my train.py", "a b", "xy", ""});
  CHECK(shell_words("")->empty());
  CHECK_FALSE(shell_words("python3 'train.py"));
}
