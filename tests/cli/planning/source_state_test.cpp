#include "cli/planning/source_state.hpp"

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/program/program_files.hpp"
#include "core/text.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <map>

#include <unistd.h>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using namespace dt;
using Catch::Contains;
using Catch::EndsWith;
using dt::cli::source_state;
using dt::test::TemporaryFolder;

namespace {

// A repository with one commit of study/train.py and notes.
struct Repository {
  TemporaryFolder folder;
  fs::path root = folder.path() / "work", study = root / "study", sources = folder.path() / "sources";
  Repository()
  {
    make_folders(study);
    write_file_atomic(study / "train.py", "print(1)\n");
    write_file_atomic(root / "notes", "one\n");
    git("init -q -b main .");
    commit("begin");
  }
  // All that is in the folder.
  void commit(const std::string& message) const
  {
    git("add . && git -c user.name=me -c user.email=me@example.org commit -q -m " + message);
  }
  void git(const std::string& words) const
  {
    REQUIRE(std::system(("cd " + shell_quote(root.string()) + " && git " + words).c_str()) == 0);
  }
  std::string state() const { return source_state(study, sources); }
  // With a program of this file of the study.
  std::string state_with(const std::string& file) const
  {
    ProgramSpec program;
    program.files = {program_entry(study, file)};
    return source_state(study, sources, {program});
  }
  // Applies the kept diff to a fresh clone. Returns what differs then from the working tree; empty: nothing.
  std::string difference_after_apply() const
  {
    const auto given = state();
    INFO(given);
    CHECK(given.find("incomplete") == std::string::npos);
    const auto at = given.find("sources/") + 8;
    const auto file = sources / given.substr(at, given.find(' ', at) - at);
    const auto clone = folder.path() / "clone";
    fs::remove_all(clone);
    const auto outcome = run_command({"sh", "-c",
                                      "git -c protocol.file.allow=always clone -q --recurse-submodules \"$1\" \"$2\" && cd "
                                      "\"$2\" && git apply --whitespace=nowarn "
                                      "\"$3\" && diff -r -x .git -x ignored \"$1\" \"$2\" && find . -name .git -prune -o -type f "
                                      "-perm -100 -print | sort > ../modes && cd "
                                      "\"$1\" && find . -name .git -prune -o -type f -perm -100 -print | sort | diff - ../modes",
                                      "sh", root.string(), clone.string(), file.string()});
    return outcome.out + outcome.err;
  }
  std::string patch(const std::string& state) const
  {
    const auto at = state.find("sources/") + 8;
    return read_file(sources / state.substr(at, state.find(' ', at) - at));
  }
};

} // namespace

TEST_CASE("changes that are not committed are counted, and their diff is kept for the owner alone")
{
  const Repository repository;
  CHECK(repository.state().find(" (main), clean") == 40); // behind the commit
  CHECK(!is_there(repository.sources));
  write_file_atomic(repository.study / "train.py", "print(2)\n");
  write_file_atomic(repository.root / "notes", "two\n");
  write_file_atomic(repository.study / "new.py", "print(3)\n");
  write_file_atomic(repository.root / "elsewhere", "not of this study\n");
  const auto state = repository.state();
  CHECK_THAT(state, Contains(" (main), 2 files changed, 1 not in git; diff: sources/"));
  const auto patch = repository.patch(state);
  CHECK_THAT(patch, Contains("-print(1)\n+print(2)") && Contains("+two") && Contains("  new.py\n") && !Contains("elsewhere"));
  for (const auto& name : names_in(repository.sources))
    CHECK((fs::status(repository.sources / name).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
          fs::perms::none);
  CHECK(repository.state() == state); // named after its content
}

TEST_CASE("of a long diff the first MiB is kept, and the state says that it is cut")
{
  const Repository repository;
  write_file_atomic(repository.study / "train.py", std::string(3 << 20, 'x') + "\n");
  const auto state = repository.state();
  CHECK(state.ends_with(", incomplete: it lacks what follows the first MiB"));
  CHECK(repository.patch(state).size() < (1 << 20) + 1000);
  CHECK_THAT(repository.patch(state), Contains("The diff is incomplete."));
}

TEST_CASE("a repository without a commit and a folder outside of any are told apart, and $DTCTL_GIT_STATE comes first")
{
  const TemporaryFolder folder;
  CHECK(source_state(folder.path(), folder.path() / "sources").empty());
  REQUIRE(std::system(("git init -q " + shell_quote(folder.path().string())).c_str()) == 0);
  CHECK(source_state(folder.path(), folder.path() / "sources") == "no commit yet, clean");
  ::setenv("DTCTL_GIT_STATE", "by hand", 1);
  CHECK(source_state(folder.path(), folder.path() / "sources") == "by hand");
  ::unsetenv("DTCTL_GIT_STATE");
}

TEST_CASE("the kept diff gives the changed files to a clean checkout, whatever the settings of git are")
{
  const auto* setting =
      GENERATE("", "config diff.noprefix true", "config diff.mnemonicPrefix true", "config color.ui always",
               "config color.diff always", "config diff.external false", "config diff.renames copies", "config diff.context 0",
               "config diff.relative true", "config diff.algorithm patience", "config diff.orderFile /no/such/file",
               "config core.quotePath false", "config core.autocrlf input", "config core.safecrlf true",
               "config diff.autoRefreshIndex false", "config core.pager false", "config diff.wordRegex .",
               "config diff.interHunkContext 50", "config diff.suppressBlankEmpty true", "config diff.submodule log",
               "config diff.ignoreSubmodules all", "config diff.up.textconv 'tr a-z A-Z <'", "config diff.up.command false",
               "config diff.up.binary true", "config diff.colorMoved zebra", "config core.fsmonitor false");
  const Repository repository;
  write_file_atomic(repository.root / ".gitattributes", "*.py diff=up\n");
  write_file_atomic(repository.root / "blob", std::string("\0\1\2", 3));
  write_file_atomic(repository.root / "gone", "one\ntwo\nthree\n");
  repository.commit("more");
  INFO(setting);
  if (*setting != '\0') repository.git(setting);
  write_file_atomic(repository.study / "train.py", "print(2)\n\nprint('\xc3\xa4')\n");
  write_file_atomic(repository.root / "blob", std::string("\0\1\3\xff", 4));
  fs::rename(repository.root / "gone", repository.root / "\xc3\xa4 moved");
  write_file_atomic(repository.root / "new\ttab", "no line feed");
  fs::permissions(repository.root / "notes", fs::perms::owner_all);
  fs::create_symlink("notes", repository.root / "link");
  repository.git("add -N .");
  CHECK(repository.difference_after_apply().empty());
}

TEST_CASE("variables of git do not change what is recorded")
{
  const Repository repository;
  write_file_atomic(repository.study / "train.py", "print(2)\n");
  const auto state = repository.state();
  for (const auto& [name, value] : std::map<std::string, std::string>{{"GIT_DIR", "/nowhere"},
                                                                      {"GIT_WORK_TREE", "/"},
                                                                      {"GIT_INDEX_FILE", "/nowhere"},
                                                                      {"GIT_DIFF_OPTS", "-u0"},
                                                                      {"GIT_EXTERNAL_DIFF", "false"},
                                                                      {"GIT_CONFIG_COUNT", "1"},
                                                                      {"GIT_CONFIG_KEY_0", "diff.noprefix"},
                                                                      {"GIT_CONFIG_VALUE_0", "true"},
                                                                      {"GIT_PAGER", "false"},
                                                                      {"GIT_TRACE", "1"},
                                                                      {"GIT_CEILING_DIRECTORIES", repository.root.string()}}) {
    INFO(name);
    ::setenv(name.c_str(), value.c_str(), 1);
    if (name == "GIT_CONFIG_COUNT") ::setenv("GIT_CONFIG_KEY_0", "diff.noprefix", 1), ::setenv("GIT_CONFIG_VALUE_0", "true", 1);
    CHECK(repository.state() == state);
    ::unsetenv(name.c_str());
  }
}

TEST_CASE("the changes of submodules are in the diff: edited, committed there, nested, and with ignoreSubmodules")
{
  const Repository outer, middle, inner;
  const auto add = [](const Repository& to, const Repository& module) {
    to.git("-c protocol.file.allow=always submodule add -q " + shell_quote(module.root.string()) + " sub 2>/dev/null");
    to.commit("submodule");
  };
  add(middle, inner);
  add(outer, middle);
  outer.git("-c protocol.file.allow=always submodule update -q --init --recursive 2>/dev/null");
  CHECK(outer.state().ends_with(" (main), clean"));
  outer.git("config diff.ignoreSubmodules all && git config -f .gitmodules submodule.sub.ignore all");
  outer.commit("ignore");
  write_file_atomic(outer.root / "sub/sub/notes", "changed\n");
  write_file_atomic(outer.root / "sub/study/train.py", "print(3)\n");
  CHECK_THAT(outer.state(),
             Contains(" (main), 2 files changed; diff: ") && EndsWith(", with files of the submodules sub, sub/sub"));
  CHECK_THAT(outer.patch(outer.state()), Contains("Before `git apply`: git submodule update --init --recursive\n"));
  CHECK(outer.difference_after_apply().empty());
  outer.git("-C sub -c user.name=me -c user.email=me@example.org commit -q -a -m there");
  CHECK(outer.difference_after_apply().empty());
  write_file_atomic(outer.root / "sub/new", "x\n");
  CHECK_THAT(outer.state(), Contains(" (main), 2 files changed, 1 not in git; diff: "));
  CHECK_THAT(outer.patch(outer.state()), Contains("\n  sub/new\n"));
}

TEST_CASE("what the diff cannot hold is named: filtered contents, hidden changes, a submodule that was added")
{
  const Repository repository, other;
  write_file_atomic(repository.root / ".gitattributes", "*.bin filter=lfs\n");
  write_file_atomic(repository.root / "big.bin", "one\n");
  repository.git("config filter.lfs.clean 'sed s/^/pointer:/'");
  repository.commit("lfs");
  write_file_atomic(repository.root / "big.bin", "two\n");
  CHECK_THAT(repository.state(), Contains("incomplete: it lacks the contents of big.bin"));
  write_file_atomic(repository.root / "big.bin", "one\n");
  repository.git("update-index --assume-unchanged notes");
  CHECK_THAT(repository.state(), Contains(" (main); diff: ") && Contains("incomplete: it lacks changes of 1 file"));
  repository.git("update-index --no-assume-unchanged notes");
  repository.git("-c protocol.file.allow=always submodule add -q " + shell_quote(other.root.string()) + " sub 2>/dev/null");
  CHECK_THAT(repository.state(), Contains("incomplete: it lacks the submodule sub, which was added"));
}

TEST_CASE("a program that is not in git is named: ignored, never added, or linked from elsewhere")
{
  const Repository repository;
  CHECK(repository.state_with("train.py").ends_with(" (main), clean"));
  write_file_atomic(repository.study / "main.py", "print(3)\n");
  CHECK_THAT(repository.state_with("main.py"), Contains(" (main), main.py is not in git, 1 not in git; diff: "));
  write_file_atomic(repository.root / ".git/info/exclude", "*.pyc\nmain.py\nnet\n");
  CHECK(repository.state_with("main.py").ends_with(" (main), main.py is not in git"));
  CHECK(repository.state_with("train.py").ends_with(" (main), clean"));
  for (const auto* name : {"a.py", "b.py", "c.py", "d.py"}) {
    make_folders(repository.study / "net");
    write_file_atomic(repository.study / "net" / name, "");
  }
  CHECK(repository.state_with("net").ends_with(" (main), net/a.py, net/b.py and 2 more are not in git"));
  write_file_atomic(repository.folder.path() / "elsewhere.py", "print(3)\n");
  fs::remove(repository.study / "main.py");
  fs::create_symlink(repository.folder.path() / "elsewhere.py", repository.study / "main.py");
  CHECK(repository.state_with("main.py").ends_with(" (main), main.py is not in git"));
}

TEST_CASE("a repository that git cannot read is unknown and says why, and one without a commit has its files in the diff")
{
  const Repository repository;
  const auto head = read_file(repository.root / ".git/HEAD");
  write_file_atomic(repository.root / ".git/HEAD", "garbage\n");
  CHECK_THAT(repository.state(), Contains("unknown: git says: not a git repository"));
  write_file_atomic(repository.root / ".git/HEAD", head);
  write_file_atomic(repository.root / ".git/refs/heads/main", "garbage\n");
  CHECK(repository.state() == "unknown: HEAD of the repository is broken: it names no commit");
  write_file_atomic(repository.root / ".git/refs/heads/main", std::string(40, '1') + "\n");
  CHECK_THAT(repository.state(), Contains("unknown: git says: "));
  repository.git("symbolic-ref HEAD refs/heads/unborn");
  CHECK_THAT(repository.state(), Contains("no commit yet, 2 files changed; diff: "));
  CHECK_THAT(repository.patch(repository.state()), Contains("+print(1)"));

  const TemporaryFolder bare;
  REQUIRE(std::system(("git init -q --bare " + shell_quote(bare.path().string())).c_str()) == 0);
  CHECK(source_state(bare.path(), bare.path() / "sources") == "unknown: git says: this operation must be run in a work tree");
}

TEST_CASE("without git, and where git refuses the owner of the repository, the state is unknown")
{
  const Repository repository;
  const std::string path = std::getenv("PATH");
  const auto tools = repository.folder.path() / "tools";
  make_folders(tools);
  for (const auto* tool : {"sh", "head"}) fs::create_symlink(fs::path("/bin") / tool, tools / tool);
  ::setenv("PATH", tools.c_str(), 1);
  const auto without = repository.state();
  ::setenv("PATH", path.c_str(), 1);
  CHECK(without == "unknown: git is not installed here");
  if (::geteuid() != 0) return;
  REQUIRE(::chown(repository.root.c_str(), 12345, 12345) == 0);
  CHECK_THAT(repository.state(), Contains("unknown: git says: detected dubious ownership in repository at"));
}

TEST_CASE("linked worktrees and shallow clones are recorded like any other, and so is a detached HEAD")
{
  const Repository repository;
  repository.git("worktree add -q ../linked 2>/dev/null");
  const auto linked = repository.folder.path() / "linked";
  CHECK(source_state(linked, repository.sources).ends_with(" (linked), clean"));
  repository.git("-C ../linked checkout -q --detach");
  CHECK(source_state(linked, repository.sources).size() == 40 + std::string(", clean").size());
  repository.git("clone -q --depth 1 file://" + shell_quote(repository.root.string()) + " ../shallow");
  write_file_atomic(repository.folder.path() / "shallow/notes", "two\n");
  CHECK_THAT(source_state(repository.folder.path() / "shallow", repository.sources), Contains(" (main), 1 file changed; diff: "));
}
