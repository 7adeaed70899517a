// Recipes come from people, generators and broken disks: whatever stands in the file, the reader ends with a plan or a
// RecipeError. Every file in corpus/ is read as it is and as the seed of mutations; a failure that is found joins it.
#include "recipes/recipe.hpp"

#include "core/files/file.hpp"
#include "recipes/expansion/expand.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> corpus()
{
  std::vector<fs::path> files;
  for (const auto* folder : {"tests/recipes/corpus", "recipes/library"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(DTCTL_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) texts.push_back(read_file(file));
  return texts;
}

// A stretch of a text, cut where it ends.
std::string piece_of(const std::string& text, Random& random)
{
  const auto begin = random.below(text.size() + 1);
  return text.substr(begin, random.below(40));
}

std::string mutated(std::string text, const std::vector<std::string>& seeds, Random& random)
{
  using Tokens = std::vector<std::string>;
  static const Tokens syntax{"[",  "]",   "{",      "}",    ":",  ": ", "- ", "? ", "&a ",
                             "*a", "!x ", "!!str ", "<<: ", ", ", "~",  "#",  "\\"},
      lines{"\"", "'", "|\n", ">\n", "\n", "\n  ", "\t", "---\n", "...\n", "\r\n", "%YAML 1.2\n"},
      odd{"\xEF\xBB\xBF", "\xff", "é", {"\0", 1}, "null", ".nan", "-.inf", "1e999", "99999999999999999999", "-1", "0"},
      keys{"version: 1\n", "extends: self.yaml\n", "profile: p\n"};
  const auto& tokens = *std::array{&syntax, &lines, &odd, &keys}.at(random.below(4));
  const auto at = random.below(text.size() + 1);
  switch (random.below(6)) {
  case 0:
    return text.insert(at, tokens.at(random.below(tokens.size())));
  case 1:
    return text.erase(at, random.below(20));
  case 2:
    return text.insert(at, piece_of(text, random));
  case 3:
    return text.insert(at, piece_of(seeds.at(random.below(seeds.size())), random));
  case 4:
    return text.substr(0, at);
  default:
    if (at < text.size()) text[at] = static_cast<char>(random.below(256));
    return text;
  }
}

// The text as recipe, as configuration and as options. Anything but a RecipeError escapes and fails the test.
void read_every_way(const TemporaryFolder& folder, const std::string& text)
{
  const auto file = folder.write("self.yaml", text);
  LoadOptions as_config;
  as_config.user_config = as_config.project_config = file;
  LoadOptions as_options;
  as_options.set = {text, "train.seed=" + text, "resources.modules=" + text, "resources.env.A=" + text};
  as_options.over = {text, "train.seed=" + text};
  const std::array<std::pair<fs::path, const LoadOptions*>, 2> ways{
      {{file, &as_config}, {folder.path() / "good.yaml", &as_options}}};
  for (const auto& [recipe, options] : ways) {
    try {
      const auto plan = load_plan(recipe, *options);
      CHECK_FALSE(plan.runs.empty());
    } catch (const RecipeError& error) {
      CHECK_FALSE(error.diagnostics().empty());
    }
  }
}

} // namespace

TEST_CASE("every file of the corpus ends in a plan or a recipe error")
{
  const TemporaryFolder folder;
  folder.write("good.yaml", minimal());
  for (const auto& text : corpus()) read_every_way(folder, text);
}

TEST_CASE("three thousand mutated recipes end in a plan or a recipe error")
{
  const TemporaryFolder folder;
  folder.write("good.yaml", minimal());
  const auto seeds = corpus();
  Random random(20261121);
  for (int i = 0; i < 3000; ++i) {
    auto text = seeds.at(random.below(seeds.size()));
    for (auto changes = 1 + random.below(6); changes > 0; --changes) text = mutated(std::move(text), seeds, random);
    INFO("mutation " << i << ":\n" << text);
    read_every_way(folder, text);
  }
}
