// What runs of the user's own program depend on beside their files: interpreter, packages, repository.
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "tests/e2e/own_program.hpp"

#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Json;
using dt::test::Own;
using dt::test::trainer;

namespace {

// train.py in a virtual environment that has the package alpha.
struct InVenv : Own {
  explicit InVenv(const std::string& program, const std::string& more = "", const std::string& first_line = "")
      : Own(trainer(first_line), "version: 1\nname: own\nprogram:\n  files: [train.py]\n" + program + "\n" + more)
  {
    REQUIRE(std::system(("/usr/bin/python3 -m venv --without-pip " + venv().string()).c_str()) == 0);
    install("1.0");
  }
  fs::path venv() const { return dtctl.folder() / "venv"; }
  // Replaces alpha by this version.
  void install(const std::string& version) const
  {
    for (const auto& name : dt::names_in(site()))
      if (name.starts_with("alpha")) fs::remove_all(site() / name);
    put_package(site(), "alpha", version, "");
  }
  fs::path site() const { return venv() / "lib" / dt::names_in(venv() / "lib").at(0) / "site-packages"; }
  static void put_package(const fs::path& folder, const std::string& name, const std::string& version, const std::string& source)
  {
    const auto info = folder / (name + "-" + version + ".dist-info");
    dt::make_folders(info);
    dt::write_file_atomic(info / "METADATA", "Name: " + name + "\nVersion: " + version + "\n");
    dt::write_file_atomic(info / "top_level.txt", name + "\n");
    dt::write_file_atomic(folder / (name + ".py"), source);
  }
  std::int64_t to_submit() const { return dtctl.json({"sweep", "--dry-run", "own.yaml"}).at("to_submit"); }
  std::string fact(const std::string& name) const
  {
    const auto begin = dt::read_begin(attempt());
    REQUIRE(begin);
    return begin->environment.contains(name) ? begin->environment.at(name) : "";
  }
};

constexpr const char* through_path = "  command: [python3, train.py]";
// The venv lies beside the recipe; set-up lines run in the folder of the submission.
constexpr const char* activated = "resources: {setup: ['export PATH=$PWD/venv/bin:$PATH']}";

} // namespace

TEST_CASE("after an upgrade of a package the runs of a program are new ones, and explain and compare name the package")
{
  const InVenv own(through_path, activated);
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(own.to_submit() == 0);
  const auto before = own.fact("python_environment");
  CHECK(before.size() == 32);
  CHECK(own.fact("python_program") == (own.venv() / "bin/python3").string());
  CHECK_THAT(own.dtctl.run({"show", own.run().at("key")}).out, Contains(before) && Contains("CPython 3."));
  const std::string first = own.run().at("key");

  own.install("2.0");
  CHECK(own.to_submit() == 1);
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  const std::string second = own.run().at("key");
  CHECK(second != first);
  CHECK_THAT(own.dtctl.run({"explain", second}).out, Contains("alpha 1.0, now 2.0"));
  const auto compared = own.dtctl.run({"compare", second, first});
  CHECK_THAT(compared.err, Contains("Python environments differ") && Contains("alpha 1.0, now 2.0"));
  CHECK_THAT(own.dtctl.run({"report", "-o", "-"}).out, Contains("python_environment"));

  own.install("1.0"); // and back again: the old result is done
  CHECK(own.to_submit() == 0);
}

TEST_CASE("with `program.identity: files` packages are no part of a run's key, and a study with two environments says so")
{
  const InVenv own(std::string(through_path) + "\n  identity: files", activated);
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK_THAT(own.dtctl.run({"results"}).out, !Contains("Python environments"));
  own.install("2.0");
  CHECK(own.to_submit() == 0);
  REQUIRE(own.dtctl
              .run({"sweep", "own.yaml", "--set", "study.repeats=2", "--set", "study.ranks=1", "--set", "study.mode=strong",
                    "--wait"})
              .ok());
  const auto results = own.dtctl.run({"results"}).out;
  CHECK_THAT(results, Contains("2 Python environments: ") && Contains(" in 1 run;"));
}

TEST_CASE("a program that is started in the venv by its path has the venv's packages in its key")
{
  const InVenv own("  command: [\"VENV/bin/python\", train.py]");
  const auto recipe = own.dtctl.folder() / "own.yaml";
  auto text = dt::read_file(recipe);
  text.replace(text.find("VENV"), 4, own.venv().string());
  dt::write_file_atomic(recipe, text);
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  own.install("1.1");
  CHECK(own.to_submit() == 1);
}

TEST_CASE("an environment that cannot be asked before the run is recorded by the run, and the submission says so")
{
  const auto succeed_unasked = [](const InVenv& own, const std::string& why) {
    const auto submitted = own.dtctl.run({"submit", "own.yaml", "--wait"});
    INFO(submitted.err);
    REQUIRE(submitted.ok());
    CHECK_THAT(submitted.err, Contains("no part of the runs' keys") && Contains(why));
    CHECK(own.fact("python_environment").size() == 32);
    CHECK(own.fact("not_as_submitted").empty());
    own.install("2.0");
    CHECK(own.to_submit() == 0);
  };
  succeed_unasked(InVenv(through_path, "resources: {setup: ['test -n \"$DTCTL_JOB_ID\"']}"), "set-up line 1 failed");
  succeed_unasked(InVenv(through_path, "resources: {wrapper: [env, X=1]}"), "resources.wrapper (env) starts the program");
}

TEST_CASE("a run does not begin if a package that its program imports is not the one of its key, and names it")
{
  const InVenv own(through_path, "resources: {setup: ['[ -z \"$DTCTL_JOB_ID\" ] || export PATH=$PWD/venv/bin:$PATH']}",
                   "import alpha");
  const auto outcome = own.submit();
  INFO(own.cause());
  CHECK(outcome.at("states") == Json{{"failed", 1}});
  CHECK_THAT(own.cause(), Contains("Python environment") && Contains("alpha missing, now 1.0"));
  CHECK(dt::read_launches(own.attempt()).size() == 1); // another launch would be the same
}

namespace {

// The set-up line of each job installs beta 2.10.3, which is missing when the run is submitted.
constexpr const char* installing = "resources: {setup: ['export PATH=$PWD/venv/bin:$PATH', '[ -z \"$DTCTL_JOB_ID\" ] || cp -r "
                                   "beta/. venv/lib/python3*/site-packages/']}";

} // namespace

TEST_CASE("a package that is installed for something else while a run waits changes nothing, and results mention it once")
{
  const InVenv own(through_path, installing);
  InVenv::put_package(own.dtctl.folder() / "beta", "beta", "2.10.3", "");
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK(own.fact("not_as_submitted") == "beta missing, now 2.10.3");
  CHECK(own.fact("not_as_submitted_imports") == "none");
  const auto results = own.dtctl.run({"results"}).out;
  INFO(results);
  CHECK_THAT(results, Contains("beta missing, now 2.10.3") && !Contains("Python environment"));
}

TEST_CASE("a run whose program imports a changed package though its files do not say so carries the word")
{
  const InVenv own(through_path, installing, "import alpha");
  dt::write_file_atomic(own.site() / "alpha.py", "import importlib\ntry:\n    importlib.import_module('be' + 'ta')\n"
                                                 "except ImportError:\n    pass\n");
  InVenv::put_package(own.dtctl.folder() / "beta", "beta", "2.10.3", "");
  REQUIRE(own.submit().at("states") == Json{{"succeeded", 1}});
  CHECK_THAT(own.dtctl.run({"results"}).out, Contains("beta 2.10.3"));
}

TEST_CASE("a run records the commit of its recipe's folder, also when dtctl is called from elsewhere and when it is retried")
{
  const Own own("import sys\nsys.exit(3)\n");
  const auto study = own.dtctl.folder() / "study";
  dt::make_folders(study);
  for (const auto* name : {"train.py", "own.yaml"}) fs::rename(own.dtctl.folder() / name, study / name);
  REQUIRE(std::system(
              ("cd " + dt::shell_quote(study.string()) +
               " && git init -q -b main . && git add . && git -c user.name=me -c user.email=me@example.org commit -q -m begin")
                  .c_str()) == 0);
  dt::write_file_atomic(study / "notes", "not in git\n");
  const auto state_of_last = [&] { return dt::read_submission(own.attempt())->git_state; };
  own.dtctl.run({"submit", "study/own.yaml", "--wait"});
  const auto state = state_of_last();
  CHECK_THAT(state, Contains(" (main), 1 not in git; diff: sources/"));
  CHECK(dt::read_begin(own.attempt())->environment.at("git_state") == state);
  own.dtctl.run({"retry", "last", "--wait"});
  REQUIRE(own.attempt().number() == 2);
  CHECK(state_of_last() == state);
  CHECK(dt::read_begin(own.attempt())->environment.at("git_state") == state);
}
