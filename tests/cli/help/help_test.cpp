#include "cli/help/help.hpp"

#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <functional>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;
using dt::test::Dtctl;
using dt::test::Words;

namespace {

// Every visible verb, and every one below it.
std::vector<const CLI::App*> all_verbs(const CLI::App& root)
{
  std::vector<const CLI::App*> verbs;
  const std::function<void(const CLI::App&)> add = [&](const CLI::App& family) {
    for (const auto* verb : visible_verbs(family)) {
      verbs.push_back(verb);
      add(*verb);
    }
  };
  add(root);
  return verbs;
}

} // namespace

TEST_CASE("the help of every verb has an example, under 40 lines and at most 110 columns")
{
  Commands commands;
  register_verbs(commands);
  for (const auto* verb : all_verbs(commands.root())) {
    auto page = verb->help();
    INFO(page);
    CHECK(page.find("Example") != std::string::npos);
    while (page.ends_with('\n')) page.pop_back();
    const auto lines = split(page, '\n');
    CHECK(lines.size() < 40);
    for (const auto& line : lines) {
      CAPTURE(line);
      CHECK(display_width(line) <= 110);
    }
  }
}

TEST_CASE("the list of verbs has their tasks as headings, in the order in which a study goes")
{
  const auto page = Dtctl().run({"--help"}).out;
  std::size_t before = 0;
  for (const auto* heading : {"\nWrite:\n", "\nRun:\n", "\nFollow:\n", "\nUnderstand:\n", "\nShow:\n", "\nKeep:\n"}) {
    const auto found = page.find(heading);
    CAPTURE(heading);
    REQUIRE(found != std::string::npos);
    CHECK(found > before);
    before = found;
  }
}

TEST_CASE("dtctl alone says how to begin, and is no error")
{
  const auto result = Dtctl().run({});
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
  CHECK(split(result.out, '\n').size() < 16);
  for (const auto* part : {"dtctl data make digits", "dtctl sweep quickstart --wait", "dtctl results", "dtctl help VERB"})
    CHECK(result.out.find(part) != std::string::npos);
}

TEST_CASE("dtctl help prints the same pages as option --help, and of words after a verb that has none below it says what to type")
{
  const Dtctl dtctl;
  CHECK(dtctl.run({"help"}).out == dtctl.run({"--help"}).out);
  CHECK(dtctl.run({"help", "sweep"}).out == dtctl.run({"sweep", "--help"}).out);
  CHECK(dtctl.run({"help", "data", "pack"}).out == dtctl.run({"data", "pack", "--help"}).out);
  CHECK(dtctl.run({"help", "data", "pakc"}).err.find("did you mean `dtctl data pack`?") != std::string::npos);
  const auto both = dtctl.run({"help", "status", "logs"});
  CHECK(both.exit_code == 2);
  CHECK(both.out.empty());
  CHECK(both.err.ends_with("Type: dtctl help status, or: dtctl help logs\n"));
  CHECK(dtctl.run({"help", "data", "pack", "digits"}).err.ends_with("Type: dtctl help data pack\n"));
}

TEST_CASE("the verbs of earlier releases stand for today's")
{
  const Dtctl dtctl;
  CHECK(dtctl.run({"help", "baseline", "set"}).out == dtctl.run({"help", "note"}).out);
  for (const auto& [old, verb] : std::map<std::string, std::string>{
           {"submit", "sweep"}, {"plan", "sweep"}, {"watch", "status"}, {"trace", "export"}, {"export-weights", "export"}}) {
    const auto page = dtctl.run({"help", verb}).out;
    CHECK(dtctl.run({"help", old}).out == page);
    CHECK(dtctl.run({old, "--help"}).out == page);
    CHECK(dtctl.run({"__complete", "--", old, "--w"}).out == dtctl.run({"__complete", "--", verb, "--w"}).out);
  }
}

TEST_CASE("a word from habit, or one that dtctl had before, is answered with the command that does what it means")
{
  const Dtctl dtctl;
  const std::vector<std::pair<std::string, std::string>> words{
      {"ls", "status --all"}, {"list", "status --all"},    {"wait", "status --follow --quiet"},
      {"run", "sweep"},       {"models", "recipe models"}, {"strategies", "recipe strategies"}};
  for (const auto& [word, command] : words) {
    const auto result = dtctl.run({word});
    CHECK(result.exit_code == 2);
    CHECK(result.err.find("; did you mean `dtctl " + command + "`? ") != std::string::npos);
  }
}

TEST_CASE("help names every argument and option of a verb")
{
  const auto page = Dtctl().run({"sweep", "--help"}).out;
  for (const char* part : {"Usage: dtctl sweep [OPTIONS] RECIPE", "--set KEY=VALUE", "--over KEY=A,B,...", "--profile NAME",
                           "-n, --dry-run", "--wait", "--json", "Example"})
    CHECK(page.find(part) != std::string::npos);
}
