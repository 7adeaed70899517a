#include "core/files/paths.hpp"
#include "core/home/home.hpp"

#include "core/files/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/core/variable.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <map>

#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
namespace fs = std::filesystem;
using test::error_of;
using test::TemporaryFolder;

namespace {

// The variables that decide where things are: unset at first, put back at the end.
struct Environment {
  void set(const char* name, const std::string& value) { variables.at(name).set(value); }
  std::map<std::string, test::Variable> variables;
  Environment()
  {
    for (const char* name : {"DTCTL_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME", "DTCTL_ENGINE"})
      variables.try_emplace(name, name);
  }
};

} // namespace

TEST_CASE("the home is DTCTL_HOME, absolute, else below XDG_DATA_HOME if that is absolute, else below HOME, and without any the "
          "error says what helps")
{
  Environment environment;
  const auto error = error_of([] { Home::from_environment(); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(std::string(error.what()) == "HOME is not set; set it, or name a folder in DTCTL_HOME");
  environment.set("DTCTL_HOME", "/my/home"); // then HOME is not needed
  CHECK(Home::from_environment().root() == "/my/home");
  environment.set("HOME", "/users/a");
  environment.set("DTCTL_HOME", "");
  for (const auto* none : {"", "relative/data", "./x", "~/data"}) {
    environment.set("XDG_DATA_HOME", none);
    CHECK(Home::from_environment().root() == "/users/a/.local/share/dtctl");
  }
  environment.set("XDG_DATA_HOME", "/xdg/data");
  CHECK(Home::from_environment().root() == "/xdg/data/dtctl");
  environment.set("DTCTL_HOME", "/my/home");
  CHECK(Home::from_environment().root() == "/my/home");
  environment.set("DTCTL_HOME", "state");
  CHECK(Home::from_environment().root() == fs::current_path() / "state");
}

TEST_CASE("everything of a home lies below its root, and a data set's folder is the one the recipe names, else the home's own")
{
  const Home home("/h");
  CHECK(home.root() == "/h");
  CHECK(home.runs() == "/h/runs");
  CHECK(home.run("abc") == "/h/runs/abc");
  CHECK(home.studies() == "/h/studies");
  CHECK(home.study("id") == "/h/studies/id");
  CHECK(home.database() == "/h/results.db");
  CHECK(home.local_queue() == "/h/local");
  DataSpec data;
  data.name = "digits";
  CHECK(home.data_place(data) == "/h/data/digits");
  data.path = "/scratch/mnist";
  CHECK(home.data_place(data) == "/scratch/mnist");
}

TEST_CASE("the user's configuration follows XDG_CONFIG_HOME when it is absolute, else HOME")
{
  Environment environment;
  environment.set("HOME", "/users/a");
  CHECK(user_config_path() == "/users/a/.config/dtctl/config.yaml");
  environment.set("XDG_CONFIG_HOME", "/xdg/config");
  CHECK(user_config_path() == "/xdg/config/dtctl/config.yaml");
  environment.set("XDG_CONFIG_HOME", "relative");
  CHECK(user_config_path() == "/users/a/.config/dtctl/config.yaml");
}

TEST_CASE("a project's configuration is the nearest one upwards")
{
  const TemporaryFolder folder;
  const auto deep = folder.path() / "a" / "b" / "c";
  make_folders(deep);
  CHECK(find_project_config(deep).file.empty());
  write_file_atomic(folder.path() / "dtctl.yaml", "");
  CHECK(find_project_config(deep).file == folder.path() / "dtctl.yaml");
  write_file_atomic(folder.path() / "a" / "b" / "dtctl.yaml", "");
  CHECK(find_project_config(deep).file == folder.path() / "a" / "b" / "dtctl.yaml");
  CHECK(find_project_config(folder.path() / "a" / "b").file == folder.path() / "a" / "b" / "dtctl.yaml");
  CHECK(find_project_config(folder.path() / "a").file == folder.path() / "dtctl.yaml");
  CHECK(find_project_config(deep).ignored.empty());
}

TEST_CASE("the search for a project's configuration ends at a repository's root and at the home folder")
{
  Environment environment;
  const TemporaryFolder folder;
  const auto root = folder.path() / "root", deep = root / "a" / "b";
  make_folders(deep);
  write_file_atomic(folder.path() / "dtctl.yaml", "");
  CHECK(find_project_config(deep).file == folder.path() / "dtctl.yaml");
  environment.set("HOME", root.string());
  CHECK(find_project_config(deep).file.empty());
  write_file_atomic(root / "dtctl.yaml", "");
  CHECK(find_project_config(deep).file == root / "dtctl.yaml");
  environment.set("HOME", "/none");
  write_file_atomic(root / "a" / ".git", "gitdir: elsewhere"); // of a worktree
  CHECK(find_project_config(deep).file.empty());
}

namespace {

// A folder tree a/b with a project's file in a, and what the search from b says of it.
struct Project {
  TemporaryFolder folder;
  fs::path a = folder.path() / "a", file = a / "dtctl.yaml", b = a / "b";

  Project()
  {
    make_folders(b);
    write_file_atomic(file, "");
    fs::permissions(a, fs::perms(0755));
    fs::permissions(file, fs::perms(0644));
  }
  // Why it is ignored; empty when it is used.
  std::string objection() const
  {
    const auto found = find_project_config(b);
    if (found.ignored.empty()) return found.file == file ? "" : "not found";
    const auto prefix = file.string() + " is ignored: ";
    if (!found.file.empty() || found.ignored.size() != 1 || !found.ignored[0].starts_with(prefix))
      return "another: " + found.ignored[0];
    return found.ignored[0].substr(prefix.size());
  }
};

constexpr uid_t another_user = 54321;

} // namespace

TEST_CASE("a project's configuration that others can write is ignored, and it is said why and what to do")
{
  const Project project;
  CHECK(project.objection().empty());
  fs::permissions(project.file, fs::perms(0666));
  CHECK_THAT(project.objection(), Catch::Contains("mode 0666") && Catch::EndsWith("chmod go-w " + project.file.string()));
  fs::permissions(project.file, fs::perms(0644));
  fs::permissions(project.a, fs::perms(0777));
  CHECK_THAT(project.objection(), Catch::Contains("folder (mode 0777)") && Catch::EndsWith("chmod go-w " + project.a.string()));
  fs::permissions(project.a, fs::perms(01777)); // sticky: only owners rename and remove
  CHECK(project.objection().empty());
}

TEST_CASE("a project's configuration of another user is ignored, as is one in a folder of another user")
{
  const Project project;
  if (::geteuid() != 0) {
    WARN("not shown here: giving a file away needs root");
    return;
  }
  REQUIRE(::chown(project.file.c_str(), another_user, another_user) == 0);
  CHECK(project.objection() ==
        "it belongs to another user (uid 54321), whose commands it could run as you; to use it, copy it to a folder of your own");
  REQUIRE(::chown(project.file.c_str(), 0, 0) == 0);
  REQUIRE(::chown(project.a.c_str(), another_user, another_user) == 0);
  CHECK_THAT(project.objection(), Catch::StartsWith("its folder belongs to another user (uid 54321)"));
}

TEST_CASE("what is ignored does not hide a project's configuration further up")
{
  const Project project;
  write_file_atomic(project.b / "dtctl.yaml", "");
  fs::permissions(project.b / "dtctl.yaml", fs::perms(0646));
  const auto found = find_project_config(project.b);
  CHECK(found.file == project.file);
  CHECK(found.ignored.size() == 1);
}

TEST_CASE("a link to another user's file and a FIFO are no project's configuration")
{
  const Project project;
  fs::remove(project.file);
  REQUIRE(::mkfifo(project.file.c_str(), 0600) == 0);
  CHECK(project.objection() == "it is not a regular file");
  if (::geteuid() != 0) return;
  fs::remove(project.file);
  write_file_atomic(project.b / "theirs", "");
  REQUIRE(::chown((project.b / "theirs").c_str(), another_user, another_user) == 0);
  fs::create_symlink(project.b / "theirs", project.file);
  CHECK(project.objection().starts_with("it belongs to another user (uid 54321)"));
}

TEST_CASE(
    "the engine is the program DTCTL_ENGINE names, and a missing one is the environment's fault, with where it was looked for")
{
  CHECK(own_program().is_absolute());
  CHECK(own_program().filename() == "test_core");
  CHECK(fs::is_regular_file(own_program()));
  Environment environment;
  if (const auto beside = own_program().parent_path() / "dtengine"; !fs::exists(beside))
    CHECK_THAT(error_of([] { engine_program(); }).what(), Catch::Contains("is not at " + beside.string()));
  environment.set("DTCTL_ENGINE", own_program().string());
  CHECK(engine_program() == own_program());
  const auto impossible = "/" + std::string(5000, 'x'); // longer than any path may be
  for (const auto& missing : {std::string("/none/such"), impossible}) {
    environment.set("DTCTL_ENGINE", missing);
    const auto error = error_of([] { engine_program(); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Catch::Contains("is not at " + missing) && Catch::Contains("DTCTL_ENGINE"));
  }
  CHECK(find_project_config(impossible).file == find_project_config("/").file);
}

TEST_CASE("from the build tree the shipped recipes are the source tree's")
{
  const auto library = recipe_library();
  INFO(library);
  CHECK((library.empty() || library == fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library"));
  CHECK(library.empty() == !fs::exists(fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library"));
}
