// --json: exactly one JSON value with "schema": 1 on standard output, whatever happens.
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::tiny_recipe;
using dt::test::with;
using dt::test::Words;

namespace {

// Every verb, from the program itself, so that a new one is tested too.
std::vector<Words> all_verbs(const Dtctl& dtctl)
{
  std::vector<Words> verbs;
  const auto names_below = [&](Words words) {
    words.insert(words.begin(), {"__complete", "--"});
    words.push_back("");
    Words names;
    for (const auto& line : dt::split(dtctl.run(words).out, '\n'))
      if (line.find('\t') != std::string::npos) names.push_back(line.substr(0, line.find('\t')));
    return names;
  };
  for (const auto& verb : names_below({})) {
    const bool is_family = verb == "recipe" || verb == "data" || verb == "config" || verb == "db";
    if (!is_family) verbs.push_back({verb});
    if (is_family)
      for (const auto& below : names_below({verb})) verbs.push_back({verb, below});
  }
  return verbs;
}

// make, pack, check, show, list, import, remove: each uses the set of those before.
Words arguments_of_data(const std::string& verb)
{
  if (verb == "make") return {"digits", "--train", "20", "--test", "10"};
  if (verb == "pack") return {"home/data/digits", "-o", "set"};
  if (verb == "import") return {"home/data/set.pack", "--as", "copy"};
  if (verb == "remove") return {"copy", "--yes"};
  return verb == "list" ? Words{} : Words{"set"};
}

Words with_arguments(Words words)
{
  const auto verb = words.back();
  if (verb == "validate" || verb == "sweep") words.push_back("tiny.yaml");
  if (verb == "query") words.push_back("select count(*) as runs from runs_flat");
  if (verb == "simulate") words.insert(words.end(), {"--platform", "ethernet-10g"});
  if (verb == "plot") words.insert(words.end(), {"--kind", "efficiency"});
  if (words.front() == "data") return with(words, arguments_of_data(verb)); // in the order of the verbs
  if (verb == "remove") words.push_back("last");
  if (verb == "note") words.push_back("last");
  if (verb == "trend") words.push_back("throughput");
  if (verb == "completion") words.push_back("bash");
  if (verb == "sweep") words.push_back("--dry-run");
  return words;
}

} // namespace

TEST_CASE("every verb answers in one JSON value, on an empty home")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto verbs = all_verbs(dtctl);
  CHECK(verbs.size() == 43);
  for (const auto& words : verbs) {
    INFO(dt::join(words, " "));
    const auto value = dtctl.json(with_arguments(words));
    CHECK(value.at("verb") == dt::join(words, " "));
    if (value.contains("error") && words != Words{"serve"}) // which runs until it is ended, and so has no value to print
      CHECK(value.at("error").at("message").get<std::string>().find("nothing has been submitted yet") == 0);
  }
}

TEST_CASE("every verb answers a wrong option in one JSON value, and so are help, unknown words and texts that are not UTF-8")
{
  const Dtctl dtctl;
  CHECK(dtctl.json({"sweep", "--help"}).at("help").get<std::string>().find("Usage: ") != std::string::npos);
  for (const Words& words : {Words{"statsu"}, {"status", "caf\xE9"}, {"caf\xE9"}}) CHECK(dtctl.json(words).at("exit_code") == 2);
  CHECK(dtctl.json({"recipe", "schema"}).at("properties").contains("train")); // itself the value, so that editors can read it
  for (auto words : all_verbs(dtctl)) {
    INFO(dt::join(words, " "));
    words.push_back("--nonsense");
    const auto value = dtctl.json(words);
    CHECK(value.at("exit_code") == 2);
    CHECK(value.at("error").at("kind") == "usage");
  }
}

TEST_CASE("a recipe's mistakes are listed one by one in JSON")
{
  const Dtctl dtctl;
  dtctl.write("wrong.yaml", tiny_recipe("sync: {stratgy: sync-sgd}\noptimizer: {momentum: 2}\n"));
  const auto error = dtctl.json({"validate", "wrong.yaml"}).at("error");
  CHECK(error.at("kind") == "recipe");
  REQUIRE(error.at("diagnostics").size() == 2);
  CHECK(error.at("diagnostics")[1].at("file") == "wrong.yaml");
  CHECK(error.at("diagnostics")[1].at("line") == 7);
}
