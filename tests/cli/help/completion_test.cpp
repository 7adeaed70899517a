#include "cli/help/completion.hpp"

#include "cli/help/help.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"

#include <algorithm>
#include <regex>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;

namespace {

std::vector<Candidate> values(const std::string& kind) { return {{kind + "-1", ""}, {kind + "-2", ""}}; }

std::vector<std::string> offered(const std::vector<std::string>& words)
{
  Commands commands;
  register_verbs(commands);
  std::vector<std::string> found;
  for (const auto& candidate : complete(commands.root(), words, values).candidates) found.push_back(candidate.word);
  return found;
}

using Strings = std::vector<std::string>;

} // namespace

TEST_CASE("every verb that help shows is offered, and no hidden one")
{
  Commands commands;
  register_verbs(commands);
  Strings visible;
  for (const auto* verb : visible_verbs(commands.root())) visible.push_back(verb->get_name());
  CHECK(offered({""}) == visible);
  CHECK(std::find(visible.begin(), visible.end(), "supervise") == visible.end());
  CHECK(visible.size() == 28);
}

TEST_CASE("verbs are completed below verbs, and options after a dash")
{
  CHECK(offered({"db", "m"}) == Strings{"migrate"});
  CHECK(offered({"status", "--follow", "--t"}) == Strings{"--timeout"});
  CHECK(offered({"status", "--follow", "last", "--fail"}) == Strings{"--failed"});
}

TEST_CASE("an option's value is completed by what the option takes, and an argument by what the verb takes, once")
{
  CHECK(offered({"export", "--format", ""}) == Strings{"csv", "json", "jsonl", "prometheus", "extra-p", "trace", "weights"});
  CHECK(offered({"plot", "--kind", "p"}) == Strings{});
  CHECK(offered({"plot", "--kind", "F"}) == Strings{"FIGURE-1", "FIGURE-2"});
  CHECK(offered({"sweep", "--set", ""}) == Strings{"KEY=VALUE-1", "KEY=VALUE-2"});
  CHECK(offered({"sweep", "--profile", ""}) == Strings{"NAME-1", "NAME-2"});
  CHECK(offered({"new", "--model", ""}) == Strings{"MODEL-1", "MODEL-2"});
  CHECK(offered({"new", "--study", ""}) == Strings{"strong", "weak", "partition", "scaling", "none"});
  CHECK(offered({"remove", ""}) == Strings{"STUDY-1", "STUDY-2"});
  CHECK(offered({"status", ""}) == Strings{"SELECTOR-1", "SELECTOR-2"});
  CHECK(offered({"status", "--where", "ranks>=2", ""}) == Strings{"SELECTOR-1", "SELECTOR-2"});
  CHECK(offered({"status", "last", ""}).empty());
  CHECK(offered({"completion", "z"}) == Strings{"zsh"});
  CHECK(offered({"help", ""}) == Strings{"VERB-1", "VERB-2"});
}

TEST_CASE("bash completes by the installed script")
{
  const test::Dtctl dtctl;
  CHECK(dtctl.run({"__complete", "--", "plot", "--kind", "ph"}).out == "phases\tphases of a step by size, stacked\n");
  const auto script = dtctl.folder() / "completion";
  write_file_atomic(script, dtctl.run({"completion", "bash"}).out);
  const auto result = run_command({"bash", "-c",
                                   "source '" + script.string() + "'; COMP_WORDS=('" + test::Dtctl::program() +
                                       "' 'recipe' 'sc'); COMP_CWORD=2; _dtctl; printf '%s\\n' \"${COMPREPLY[@]}\""});
  CHECK(result.err == "");
  CHECK(result.out == "schema\n");
}

TEST_CASE("the manual page describes every verb and every option")
{
  Commands commands;
  register_verbs(commands);
  const auto page = manual_page(commands.root());
  for (const auto* verb : visible_verbs(commands.root())) {
    INFO(verb->get_name());
    CHECK(page.find(".SS \"dtctl " + std::regex_replace(verb->get_name(), std::regex("-"), "\\-")) != std::string::npos);
  }
  CHECK(page.find(".B \\-\\-set KEY=VALUE\n") != std::string::npos);
  CHECK(page.find("\n.B '") == std::string::npos);
}
