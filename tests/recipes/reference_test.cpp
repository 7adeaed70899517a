#include "recipes/recipe.hpp"

#include "core/spec/spec_schema.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

TEST_CASE("the reference has a row for every key and a line for every choice")
{
  const auto text = reference_markdown();
  for (const auto& key : spec_keys()) {
    INFO(key.path);
    CHECK(text.find("| `" + std::string(key.path.substr(key.path.find('.') + 1)) + "` | ") != std::string::npos);
    for (const auto& name : key.choices)
      CHECK(text.find("- `" + std::string(name.name) + "`: " + std::string(name.help) + "\n") != std::string::npos);
  }
}

TEST_CASE("a row of the reference shows value, unit, default and meaning")
{
  const auto text = reference_markdown();
  CHECK(text.find("| `momentum` | number, 0 to 0.999999 |  | `0.9` | yes | Momentum coefficient (mu). |\n") != std::string::npos);
  CHECK(text.find("| `time_limit` | duration with its unit, 1s or more | s | `1h` |  | ") != std::string::npos);
  CHECK(text.find("| `steps` | integer, 1 to 1000000000000000 | steps |  | yes | ") != std::string::npos);
  CHECK(text.find("| `version` | 1 |  | required |  | ") != std::string::npos);
  CHECK(text.find("&lt;home>/data/&lt;name>") != std::string::npos);
}

TEST_CASE("the recipes that the reference shows are good ones")
{
  const auto text = reference_markdown();
  const auto block_after = [&](std::string_view heading) {
    const auto begin = text.find("```yaml\n", text.find(heading)) + 8;
    return text.substr(begin, text.find("```", begin) - begin);
  };
  CHECK(errors_of(block_after("# Recipe reference")).empty());
  CHECK(errors_of(minimal(block_after("## Sweeps"))).empty());
  CHECK(errors_of(minimal(block_after("## Ladders"))).empty());
  const TemporaryFolder folder;
  LoadOptions options;
  options.user_config = folder.write("config.yaml", block_after("## Machine profiles"));
  CHECK(list_profiles(options).size() == 2);
}
