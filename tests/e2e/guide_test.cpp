// Every command of docs/guide and of docs/installing.md, as a reader would type it: each page in an empty folder with an empty
// home.
//
// In a block ```console a line "$ …" is a command, which a backslash at its end continues in the next line; all other lines are
// example output. A block ```console exit=N expects that exit code of its commands; without it they must succeed. A line
// <!-- file: NAME --> above a block writes the block into that file.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/e2e/python.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <utility>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using dt::test::Dtctl;

namespace {

// A command to run, or a file to write.
struct Action {
  int line = 0;          // of the page, from 1
  std::string file;      // name; empty for a command
  std::string text;      // the command or the file's content
  int expected_exit = 0; // of the command
};

fs::path guide() { return fs::path(DTCTL_SOURCE_DIR) / "docs" / "guide"; }

// "small.yaml" of "<!-- file: small.yaml -->"; empty for other lines.
std::string named_file(std::string_view line)
{
  constexpr std::string_view before = "<!-- file: ", after = " -->";
  if (!line.starts_with(before) || !line.ends_with(after)) return "";
  return std::string(line.substr(before.size(), line.size() - before.size() - after.size()));
}

// Reads one page from its first line to its last.
class PageReader {
 public:
  explicit PageReader(std::string_view page) : lines_(dt::split(page, '\n')) {}
  std::vector<Action> read()
  {
    while (at_ < lines_.size()) {
      const auto& line = lines_[at_++];
      if (!named_file(line).empty())
        file_ = named_file(line);
      else if (line.starts_with("```"))
        read_block(line.substr(3));
    }
    if (!file_.empty()) throw std::runtime_error("no block follows <!-- file: " + file_ + " -->");
    return std::move(actions_);
  }

 private:
  // All up to the closing fence. `info` is what stands behind the opening one.
  void read_block(const std::string& info)
  {
    const auto first = at_;
    while (at_ < lines_.size() && lines_[at_] != "```") ++at_;
    if (at_ == lines_.size()) throw std::runtime_error("the block at line " + std::to_string(first) + " has no end");
    if (!file_.empty())
      add_file(first);
    else if (info.starts_with("console"))
      add_commands(first, exit_code_of(info));
    ++at_;
  }

  static int exit_code_of(const std::string& info)
  {
    if (info == "console") return 0;
    constexpr std::string_view before = "console exit=";
    if (!info.starts_with(before)) throw std::runtime_error("a block is marked ```" + info);
    return std::stoi(info.substr(before.size()));
  }

  void add_file(std::size_t first)
  {
    Action action{.line = static_cast<int>(first), .file = std::exchange(file_, {}), .text = {}};
    for (auto i = first; i < at_; ++i) action.text += lines_[i] + "\n";
    actions_.push_back(std::move(action));
  }

  void add_commands(std::size_t first, int expected_exit)
  {
    for (auto i = first; i < at_; ++i) {
      if (!lines_[i].starts_with("$ ")) continue;
      Action action{.line = static_cast<int>(i + 1), .file = {}, .text = lines_[i].substr(2), .expected_exit = expected_exit};
      while (action.text.ends_with('\\') && i + 1 < at_) action.text += "\n" + lines_[++i];
      actions_.push_back(std::move(action));
    }
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::string file_; // the block that comes next is written into it
  std::vector<Action> actions_;
};

// Ends what a page that failed has left running.
struct Cancelled {
  const Dtctl& dtctl;
  ~Cancelled() { dtctl.run({"cancel", "all"}); }
};

// Through bash, in the page's folder, with the built dtctl first in PATH and the Python package as if it were installed. /usr/bin
// comes next: the distribution's python3 may have PyTorch.
dt::CommandResult run_in_bash(const Dtctl& dtctl, const std::string& command)
{
  const auto* path = std::getenv("PATH");
  auto words = dtctl.command({}, {"PATH=" DTCTL_BINARY_DIR "/bin:/usr/bin:" + std::string(path ? path : "/usr/bin:/bin"),
                                  "PYTHONPATH=" DTCTL_SOURCE_DIR "/python", "PYTHONDONTWRITEBYTECODE=1"});
  words.back() = "bash"; // in place of dtctl itself
  return dt::run_command(dt::test::with(std::move(words), {"-c", command}), 180);
}

void perform(const Dtctl& dtctl, const std::string& page, const Action& action)
{
  if (!action.file.empty()) {
    dtctl.write(action.file, action.text);
    return;
  }
  const auto result = run_in_bash(dtctl, action.text);
  INFO("docs/guide/" << page << ":" << action.line << "\n$ " << action.text << "\n" << result.out << result.err);
  CHECK_FALSE(result.timed_out);
  REQUIRE(result.exit_code == action.expected_exit);
}

void check_page(const std::string& page)
{
  const auto actions = PageReader(dt::read_file(guide() / page)).read();
  REQUIRE(std::any_of(actions.begin(), actions.end(), [](const Action& action) { return action.file.empty(); }));
  const Dtctl dtctl;
  const Cancelled cancelled{dtctl};
  for (const auto& action : actions) perform(dtctl, page, action);
}

const std::set<std::string>& tested_pages()
{
  static const auto names = dt::split(
      "first-study.md your-own-recipe.md reading-the-results.md comparing-studies.md comparing-strategies.md your-own-data.md "
      "going-on-from-weights.md on-a-cluster.md when-something-fails.md questions.md simulating-a-machine.md which-strategy.md "
      "reports.md figures.md data.md own-program.md printed-figures.md pytorch.md python.md",
      ' ');
  static const std::set<std::string> pages(names.begin(), names.end());
  return pages;
}

} // namespace

TEST_CASE("commands, exit codes and files are found in a page of the guide")
{
  const auto actions = PageReader("text\n<!-- file: a.yaml -->\n```yaml\nx: 1\n```\n```console exit=2\n$ one \\\n  two\nprinted\n"
                                  "$ three\n```\n```sh\n$ not run\n```\n")
                           .read();
  REQUIRE(actions.size() == 3);
  CHECK(actions[0].file == "a.yaml");
  CHECK(actions[0].text == "x: 1\n");
  CHECK(actions[1].text == "one \\\n  two");
  CHECK(actions[1].line == 7);
  CHECK(actions[1].expected_exit == 2);
  CHECK(actions[2].text == "three");
  CHECK(actions[2].line == 10);
  CHECK_THROWS(PageReader("```console\n$ one\n").read());
  CHECK_THROWS(PageReader("<!-- file: a.yaml -->\n").read());
  CHECK_THROWS(PageReader("```console quietly\n$ one\n```\n").read());
}

TEST_CASE("every page of the guide is tested, and the contents page leads to it")
{
  const auto contents = dt::read_file(guide() / "README.md");
  std::set<std::string> pages;
  for (const auto& entry : fs::directory_iterator(guide()))
    if (entry.is_regular_file() && entry.path().filename() != "README.md") pages.insert(entry.path().filename().string());
  CHECK(pages == tested_pages());
  for (const auto& page : pages) {
    INFO(page);
    CHECK(contents.find("(" + page + ")") != std::string::npos);
  }
}

TEST_CASE("the guide's commands work: first-study.md") { check_page("first-study.md"); }
TEST_CASE("the guide's commands work: installing.md") { check_page("../installing.md"); }
TEST_CASE("the guide's commands work: your-own-recipe.md") { check_page("your-own-recipe.md"); }
TEST_CASE("the guide's commands work: reading-the-results.md") { check_page("reading-the-results.md"); }
TEST_CASE("the guide's commands work: reports.md") { check_page("reports.md"); }
TEST_CASE("the guide's commands work: comparing-studies.md") { check_page("comparing-studies.md"); }
TEST_CASE("the guide's commands work: comparing-strategies.md") { check_page("comparing-strategies.md"); }
TEST_CASE("the guide's commands work: your-own-data.md") { check_page("your-own-data.md"); }
TEST_CASE("the guide's commands work: data.md") { check_page("data.md"); }
TEST_CASE("the guide's commands work: going-on-from-weights.md") { check_page("going-on-from-weights.md"); }
TEST_CASE("the guide's commands work: on-a-cluster.md") { check_page("on-a-cluster.md"); }
TEST_CASE("the guide's commands work: when-something-fails.md") { check_page("when-something-fails.md"); }
TEST_CASE("the guide's commands work: questions.md") { check_page("questions.md"); }
TEST_CASE("the guide's commands work: simulating-a-machine.md")
{
  if (!fs::exists(fs::path(Dtctl::program()).parent_path() / "dtsim")) return; // built without SimGrid or with sanitizers
  check_page("simulating-a-machine.md");
}
TEST_CASE("the guide's commands work: own-program.md") { check_page("own-program.md"); }
TEST_CASE("the guide's commands work: printed-figures.md") { check_page("printed-figures.md"); }
TEST_CASE("the guide's commands work: pytorch.md")
{
  if (!dt::test::has_torch("/usr/bin/python3")) return;
  check_page("pytorch.md");
}
TEST_CASE("the guide's commands work: python.md") { check_page("python.md"); }
TEST_CASE("the guide's commands work: figures.md") { check_page("figures.md"); }
TEST_CASE("the guide's commands work: which-strategy.md") { check_page("which-strategy.md"); }
