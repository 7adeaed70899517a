#include "cli/planning/source_state.hpp"

#include "core/file.hpp"
#include "core/text.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using namespace dt;
using Catch::Contains;
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
    git("add .");
    git("-c user.name=me -c user.email=me@example.org commit -q -m begin");
  }
  void git(const std::string& words) const
  {
    REQUIRE(std::system(("cd " + shell_quote(root.string()) + " && git " + words).c_str()) == 0);
  }
  std::string state() const { return source_state(study, sources); }
  std::string patch(const std::string& state) const
  {
    const auto at = state.find("sources/") + 8;
    return read_file(sources / state.substr(at, state.find(' ', at) - at));
  }
};

} // namespace

TEST_CASE("the state of a clean repository is its commit and branch")
{
  const Repository repository;
  const auto state = repository.state();
  CHECK(state.find(" (main), clean") == 40);
  CHECK(!is_there(repository.sources));
}

TEST_CASE("changes that are not committed are counted, and their diff is kept for the owner alone")
{
  const Repository repository;
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
  CHECK(state.ends_with(", cut"));
  CHECK(repository.patch(state).size() < (1 << 20) + 1000);
  CHECK_THAT(repository.patch(state), Contains("this is its first MiB"));
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
