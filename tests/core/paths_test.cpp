#include "core/paths.hpp"

#include "core/file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <optional>

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
  CHECK(home.data_folder(data) == "/h/data/digits");
  data.path = "/scratch/mnist";
  CHECK(home.data_folder(data) == "/scratch/mnist");
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
  CHECK(project_config_path(deep).empty());
  write_file_atomic(folder.path() / "dtctl.yaml", "");
  CHECK(project_config_path(deep) == folder.path() / "dtctl.yaml");
  write_file_atomic(folder.path() / "a" / "b" / "dtctl.yaml", "");
  CHECK(project_config_path(deep) == folder.path() / "a" / "b" / "dtctl.yaml");
  CHECK(project_config_path(folder.path() / "a" / "b") == folder.path() / "a" / "b" / "dtctl.yaml");
  CHECK(project_config_path(folder.path() / "a") == folder.path() / "dtctl.yaml");
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
  CHECK(project_config_path(impossible) == project_config_path("/"));
}

TEST_CASE("from the build tree the shipped recipes are the source tree's")
{
  const auto library = recipe_library();
  INFO(library);
  CHECK((library.empty() || library == fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library"));
  CHECK(library.empty() == !fs::exists(fs::path(DTCTL_SOURCE_DIR) / "recipes" / "library"));
}
