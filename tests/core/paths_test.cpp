#include "core/home/home.hpp"
#include "core/paths.hpp"

#include "core/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
namespace fs = std::filesystem;
using test::error_of;
using test::TemporaryFolder;

namespace {

// The variables that decide where things are: unset at first, put back at the end.
class Environment {
 public:
  Environment()
  {
    for (const char* name : {"DTCTL_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME", "DTCTL_ENGINE"}) {
      const char* value = std::getenv(name);
      before_[name] = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
      ::unsetenv(name);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment()
  {
    for (const auto& [name, value] : before_) value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

} // namespace

TEST_CASE("the home is DTCTL_HOME, else below XDG_DATA_HOME, else below HOME")
{
  Environment environment;
  environment.set("HOME", "/users/a");
  CHECK(Home::from_environment().root() == "/users/a/.local/share/dtctl");
  environment.set("XDG_DATA_HOME", "/xdg/data");
  CHECK(Home::from_environment().root() == "/xdg/data/dtctl");
  environment.set("DTCTL_HOME", "/my/home");
  CHECK(Home::from_environment().root() == "/my/home");
}

TEST_CASE("an empty or relative XDG_DATA_HOME and an empty DTCTL_HOME count as unset")
{
  Environment environment;
  environment.set("HOME", "/users/a");
  environment.set("DTCTL_HOME", "");
  environment.set("XDG_DATA_HOME", GENERATE("", "relative/data", "./x", "~/data"));
  CHECK(Home::from_environment().root() == "/users/a/.local/share/dtctl");
}

TEST_CASE("a relative DTCTL_HOME is taken from the current folder and becomes absolute")
{
  Environment environment;
  environment.set("DTCTL_HOME", "state");
  CHECK(Home::from_environment().root() == fs::current_path() / "state");
}

TEST_CASE("without any home the error says which variables help")
{
  Environment environment;
  const auto error = error_of([] { Home::from_environment(); });
  CHECK(error.kind() == ErrorKind::environment);
  CHECK(std::string(error.what()) == "HOME is not set; set it, or name a folder in DTCTL_HOME");
  environment.set("DTCTL_HOME", "/my/home"); // then HOME is not needed
  CHECK(Home::from_environment().root() == "/my/home");
}

TEST_CASE("everything of a home lies below its root")
{
  const Home home("/h");
  CHECK(home.root() == "/h");
  CHECK(home.runs() == "/h/runs");
  CHECK(home.run("abc") == "/h/runs/abc");
  CHECK(home.studies() == "/h/studies");
  CHECK(home.study("id") == "/h/studies/id");
  CHECK(home.database() == "/h/results.db");
  CHECK(home.local_queue() == "/h/local");
}

TEST_CASE("a data set's folder is the one the recipe names, else the home's own")
{
  const Home home("/h");
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
  CHECK(project.objection() ==
        "other users can write it (mode 0666) and so run commands as you; to use it: chmod go-w " + project.file.string());
  fs::permissions(project.file, fs::perms(0644));
  fs::permissions(project.a, fs::perms(0777));
  CHECK(project.objection() ==
        "other users can write to its folder (mode 0777), replace the file and so run commands as you; to use it: chmod go-w " +
            project.a.string());
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
  CHECK(project.objection() ==
        "its folder belongs to another user (uid 54321), who can replace it and so run commands as you; keep the file in a "
        "folder of your own");
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

TEST_CASE("own_program is this test program's file")
{
  CHECK(own_program().is_absolute());
  CHECK(own_program().filename() == "test_core");
  CHECK(fs::is_regular_file(own_program()));
}

TEST_CASE("the engine is the program DTCTL_ENGINE names")
{
  Environment environment;
  environment.set("DTCTL_ENGINE", own_program().string());
  CHECK(engine_program() == own_program());
}

TEST_CASE("a missing engine is the environment's fault, and the error says where it was looked for and what to do")
{
  Environment environment;
  const auto beside = own_program().parent_path() / "dtengine";
  if (!fs::exists(beside)) {
    const auto error = error_of([] { engine_program(); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(std::string(error.what()) ==
          "the training engine is not at " + beside.string() + "; build or install dtengine, or name it in DTCTL_ENGINE");
  }
  environment.set("DTCTL_ENGINE", "/none/such");
  CHECK(std::string(error_of([] { engine_program(); }).what()) ==
        "the training engine is not at /none/such; build or install dtengine, or name it in DTCTL_ENGINE");
}

TEST_CASE("a place that cannot even be looked at is no engine and no project configuration, not a crash")
{
  Environment environment;
  const auto impossible = "/" + std::string(5000, 'x'); // longer than any path may be
  environment.set("DTCTL_ENGINE", impossible);
  CHECK(error_of([] { engine_program(); }).kind() == ErrorKind::environment);
  CHECK(find_project_config(impossible).file == find_project_config("/").file);
}

TEST_CASE("from the build tree the shipped recipes are the source tree's")
{
  const auto library = recipe_library();
  INFO(library);
  CHECK((library.empty() || library == fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library"));
  CHECK(library.empty() == !fs::exists(fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library"));
}
