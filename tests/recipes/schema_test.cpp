#include "recipes/recipe.hpp"

#include "core/files/file.hpp"
#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "tests/recipes/json_check.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;
using Json = nlohmann::json;
using Lines = std::vector<std::string>;

namespace {

const Json& schema()
{
  static const auto parsed = Json::parse(json_schema());
  return parsed;
}

Lines check(const std::string& recipe) { return violations(schema(), json_of_yaml(recipe)); }

Json entry_of(std::string_view path)
{
  auto entry = schema();
  for (const auto& name : split(path, '.')) entry = entry.at("properties").at(name);
  return entry;
}

} // namespace

TEST_CASE("the schema accepts every shipped recipe")
{
  const auto library = std::filesystem::path(DTCTL_SOURCE_DIR) / "recipes" / "library";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(library)) {
    const auto path = entry.path().string();
    const bool is_recipe = path.ends_with(".yaml") && path.find("/platforms/") == path.npos;
    if (!is_recipe) continue;
    INFO(entry.path());
    CHECK(check(read_file(entry.path())) == Lines{});
  }
}

TEST_CASE("the schema has an entry with help for every key, no unknown keyword, and a value that it shows and accepts")
{
  CHECK(schema().at("$schema") == "http://json-schema.org/draft-07/schema#");
  for (const auto& key : spec_keys()) {
    INFO(key.path);
    const auto entry = entry_of(key.path);
    CHECK_THAT(entry.at("description").get<std::string>(), Catch::StartsWith(std::string(key.help)));
    CHECK(entry.value("x-unit", "") == key.unit);
    CHECK_NOTHROW(violations(entry, Json("x")));
    const bool is_yes_or_no = key.type == KeyType::boolean || key.path == "version";
    CHECK((is_yes_or_no || entry.contains("enum") || entry.contains("default") || entry.contains("examples")));
    if (entry.contains("default")) CHECK(violations(entry, entry["default"]) == Lines{});
    for (const auto& example : entry.value("examples", Json::array())) CHECK(violations(entry, example) == Lines{});
  }
  CHECK(entry_of("resources.time_limit").at("default") == "1h");
  CHECK(entry_of("platform.message_time").at("default") == "1us");
}

TEST_CASE("the schema has ranges, defaults and choices")
{
  CHECK(
      entry_of("optimizer.momentum") ==
      Json::parse(
          R"({"type": "number", "minimum": 0, "maximum": 0.999999, "description": "Momentum coefficient (mu).", "default": 0.9})"));
  CHECK(entry_of("study.mode").at("enum") == Json::array({"strong", "weak", "partition", "scaling"}));
  CHECK_FALSE(entry_of("study.mode").contains("default"));
  CHECK_FALSE(entry_of("train.steps").contains("default"));
  CHECK_FALSE(entry_of("study.vary_seed").contains("default")); // other keys decide
  CHECK(entry_of("train.warmup_steps").at("default") == 5);
}

TEST_CASE("the schema refuses what the reader refuses in one file")
{
  CHECK(check("{}") == Lines{": required"});
  CHECK(check(minimal("optimiser: {}\n")) == Lines{"/optimiser: additionalProperties"});
  CHECK(check(minimal("optimizer: { momentum: 2 }\n")) == Lines{"/optimizer/momentum: maximum"});
  CHECK(check("version: 1\ntrain: { epochs: \"3\", seed: 1.5 }\n") == Lines{"/train/epochs: type", "/train/seed: type"});
  CHECK(check("version: 1\ntrain: { epochs: 3, steps: 4 }\n") == Lines{"/train: allOf"});
  CHECK(check("version: 1\nmodel: { name: lennet }\n") == Lines{"/model/name: enum"});
  CHECK(check("version: 1\nresources: { time_limit: soon }\n") == Lines{"/resources/time_limit: pattern"});
  CHECK(check("version: 1\nsweep: { matrix: { train.sede: [1], train.seed: [] } }\n") ==
        Lines{"/sweep/matrix/train.sede: additionalProperties", "/sweep/matrix/train.seed: minItems"});
  CHECK(check("version: 1\nsweep: { exclude: [foo, resources.nodes>=4 ranks<3, { train.seed: 1 }] }\n") ==
        Lines{"/sweep/exclude/0: anyOf"});
}

TEST_CASE("the schema accepts what the reader accepts")
{
  CHECK(check(minimal("x-anything: [1, { a: b }]\nsweep: { exclude: [{ train.seed: [1, 2], ranks: 3 }] }\n")) == Lines{});
  CHECK(check(minimal("sweep: { exclude: [{ train.seed: [] }] }\n")) == Lines{"/sweep/exclude/0: anyOf"});
  CHECK(check(minimal(
            "optimizer:\nresources: { time_limit: 1h30m, account: 12, env: { A: 1, B: yes } }\n"
            "sweep: { matrix: { resources.env.A: [1, 2], resources.modules: [[a], [b]] }, include: [{ train.seed: 3 }] }\n")) ==
        Lines{});
  for (const auto* limit : {"90s", "2d", "01:30:00", "1-00:00:00", "1-12", "2-00:00", "05:00"})
    CHECK(check("version: 1\nresources: { time_limit: " + std::string(limit) + " }\n") == Lines{});
  CHECK(check("version: 1\ntrain: { stall_after: 0 }\n") == Lines{});
  for (const auto* key : {"resources: { time_limit", "train: { stall_after"}) // a number needs a unit, as in the reader
    CHECK(check("version: 1\n" + std::string(key) + ": 90 }\n").size() == 1);
}
