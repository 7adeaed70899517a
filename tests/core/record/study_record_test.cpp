#include "core/record/study_record.hpp"

#include "tests/core/put_file.hpp"
#include "tests/core/sample_spec.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace dt;
using test::TemporaryFolder;

namespace {

StudyRecord sample_study()
{
  StudyRecord study;
  study.id = "0011";
  study.name = test::nasty;
  study.description = "a line";
  study.kind = "strong";
  study.recipe_path = "/some/where/lenet.yaml";
  study.recipe_text = "version: 1\nname: " + test::nasty + "\n";
  study.created_unix_s = 1795233906.125;
  study.submitted_unix_s = 1795233907.5;
  study.run_keys = {"aa", "bb"};
  study.run_names = {"n/ranks=1/#0", test::nasty};
  study.race = {.metric = "time-to-target", .margin = 0.05, .first = 3, .most = 12};
  return study;
}

} // namespace

TEST_CASE("a study written is read back whole")
{
  const TemporaryFolder folder;
  const auto study = sample_study();
  test::put_file(folder.path() / "study.json", to_json(study));
  const auto back = read_study(folder.path());
  REQUIRE(back);
  CHECK(back->id == study.id);
  CHECK(back->name == study.name);
  CHECK(back->description == study.description);
  CHECK(back->kind == study.kind);
  CHECK(back->recipe_path == study.recipe_path);
  CHECK(back->recipe_text == study.recipe_text);
  CHECK(back->created_unix_s == study.created_unix_s);
  CHECK(back->submitted_unix_s == study.submitted_unix_s);
  CHECK(back->run_keys == study.run_keys);
  CHECK(back->run_names == study.run_names);
  CHECK(back->race.metric == study.race.metric);
  CHECK(back->race.margin == study.race.margin);
  CHECK(back->race.first == study.race.first);
  CHECK(back->race.most == study.race.most);
}

TEST_CASE("a study's file says its format first, ends in a line, and holds a recipe that is not UTF-8, too")
{
  const TemporaryFolder folder;
  auto study = sample_study();
  study.recipe_text = "caf\xE9";
  test::put_file(folder.path() / "study.json", to_json(study));
  const auto back = read_study(folder.path());
  REQUIRE(back);
  CHECK(back->recipe_text == "caf\xEF\xBF\xBD");
  const auto text = to_json(sample_study());
  CHECK(nlohmann::ordered_json::parse(text).begin().key() == "schema");
  CHECK(nlohmann::json::parse(text)["schema"] == 1);
  CHECK(text.back() == '\n');
}

TEST_CASE("a study cut off anywhere before its last bracket is no study")
{
  const TemporaryFolder folder;
  const auto whole = to_json(sample_study());
  for (std::size_t size = 0; size + 2 <= whole.size(); ++size) {
    test::put_file(folder.path() / "study.json", std::string_view(whole).substr(0, size));
    INFO(size << " of " << whole.size());
    REQUIRE_FALSE(read_study(folder.path()));
  }
}

TEST_CASE("what is missing, of another format or of wrong types is no study")
{
  const TemporaryFolder folder;
  CHECK_FALSE(read_study(folder.path()));
  CHECK_FALSE(read_study(folder.path() / "none"));
  const auto text = GENERATE(as<std::string>{}, "[]", "null", "1", "{}", R"({"schema": 2})", R"({"schema": 1})",
                             R"({"schema": "1"})", R"({"schema": null})", R"({"schema": [1]})", R"({"schema": 1, "id": 7})");
  INFO(text);
  test::put_file(folder.path() / "study.json", text);
  CHECK_FALSE(read_study(folder.path()));
}

TEST_CASE(
    "a study's id is frozen: the same recipe submitted again is the same study, and another name, other runs or order another")
{
  CHECK(study_id("lenet", {"00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"}) ==
        "5925c6484ce7d8a94dd3c02d07bf530e");
  const auto id = study_id("a", {"k1", "k2"});
  CHECK(study_id("a", {"k1", "k2"}) == id);
  CHECK(study_id("b", {"k1", "k2"}) != id);
  CHECK(study_id("a", {"k2", "k1"}) != id);
  CHECK(study_id("a", {"k1"}) != id);
  CHECK(study_id("ak1", {"k2"}) != id);
}
