// A home that is moved or copied while its runs run.
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/processes.hpp"

#include <algorithm>
#include <csignal>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::tiny_recipe;
using dt::test::Words;

namespace {

// Two runs, one after the other, each of which waits for the file `go` before it trains.
std::string waiting_recipe(const Dtctl& dtctl)
{
  return tiny_recipe("resources: {setup: ['touch " + (dtctl.folder() / "begun").string() + "; until [ -e " +
                     (dtctl.folder() / "go").string() + " ]; do sleep 0.05; done']}\nsweep: {matrix: {train.seed: [1, 2]}}\n");
}

std::vector<dt::AttemptFolder> first_attempts(const fs::path& home)
{
  std::vector<dt::AttemptFolder> attempts;
  for (const auto& key : dt::names_in(home / "runs")) attempts.emplace_back(home / "runs" / key, 1);
  return attempts;
}

bool has_owner(const fs::path& home)
{
  const auto attempts = first_attempts(home);
  return std::any_of(attempts.begin(), attempts.end(), [](const auto& attempt) { return fs::exists(attempt.owner()); });
}

} // namespace

TEST_CASE("the jobs of a home that is moved go on: the one that runs and the one that waits both succeed")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", waiting_recipe(dtctl));
  REQUIRE(dtctl.run({"sweep", "tiny.yaml", "--max-jobs", "1"}).ok());
  REQUIRE(eventually([&] { return fs::exists(dtctl.folder() / "begun"); }));
  const auto moved = dtctl.folder() / "moved";
  const Words there{"DTCTL_HOME=" + moved.string()};
  fs::rename(dtctl.home(), moved);
  REQUIRE(eventually([&] { return fs::is_symlink(dtctl.home()); }));
  dtctl.write("go", "");
  CHECK(dtctl.run({"status", "--follow", "tiny"}, there).exit_code == 0);
  CHECK(dtctl.json({"status", "tiny"}, there).at("states") == dt::test::Json{{"succeeded", 2}});
  for (const auto& attempt : first_attempts(moved)) CHECK(dt::read_result(attempt));
}

TEST_CASE("nobody who looks, or would change something, at the old place of a home that is moved keeps its runs from going on")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", waiting_recipe(dtctl));
  const auto moved = dtctl.folder() / "moved";
  REQUIRE(dtctl.run({"sweep", "tiny.yaml", "--max-jobs", "1"}).ok());
  REQUIRE(eventually([&] { return fs::exists(dtctl.folder() / "begun"); }));
  const auto supervisors =
      dt::test::without_children(dt::test::processes_with_words({"supervise", "--home", dtctl.home().string()}));
  REQUIRE(supervisors.size() == 1);
  ::kill(supervisors.front(), SIGSTOP); // it looks only when the verbs below have been there
  fs::rename(dtctl.home(), moved);
  for (const Words& verb :
       {Words{"status", "all"}, Words{"status", "--all"}, Words{"results"}, Words{"query", "SELECT 1"}, Words{"cancel", "all"},
        Words{"retry", "all"}, Words{"remove", "tiny", "--yes"}, Words{"db", "rebuild"}, Words{"db", "migrate"}}) {
    INFO(verb.front());
    dtctl.run(verb);
    CHECK_FALSE(fs::exists(dtctl.home()));
  }
  ::kill(supervisors.front(), SIGCONT);
  REQUIRE(eventually([&] { return fs::is_symlink(dtctl.home()); }));
  dtctl.write("go", "");
  const Words there{"DTCTL_HOME=" + moved.string()};
  CHECK(dtctl.run({"status", "--follow", "tiny"}, there).exit_code == 0);
  CHECK(dtctl.json({"status", "tiny"}, there).at("states") == dt::test::Json{{"succeeded", 2}});
}

TEST_CASE("a job that waits in a home that is moved while nobody looks after it starts at the new place")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe());
  const auto moved = dtctl.folder() / "moved";
  const Words there{"DTCTL_HOME=" + moved.string()};
  const auto folder = dtctl.home() / "local" / dt::host_name();
  dt::make_folders(folder);
  {
    const auto supervisor = dt::FileLock::acquire(folder / "supervisor.lock");
    REQUIRE(dtctl.run({"sweep", "tiny.yaml"}).ok());
    fs::rename(dtctl.home(), moved);
  }
  CHECK(dtctl.run({"status", "--follow", "tiny"}, there).exit_code == 0);
  CHECK(dtctl.json({"status", "tiny"}, there).at("states") == dt::test::Json{{"succeeded", 1}});
  CHECK_FALSE(fs::exists(dtctl.home()));
}

TEST_CASE("a copy of a home says that it is one and cancels nothing of the original")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", waiting_recipe(dtctl));
  REQUIRE(dtctl.run({"sweep", "tiny.yaml"}).ok());
  REQUIRE(eventually([&] { return has_owner(dtctl.home()); }));
  const auto copy = dtctl.folder() / "copy";
  const Words there{"DTCTL_HOME=" + copy.string()};
  REQUIRE(eventually([&] { // the runs go on, so a temporary file may vanish before it is copied
    std::error_code error;
    fs::remove_all(copy);
    fs::copy(dtctl.home(), copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    return !error;
  }));
  const auto words = Contains(copy.string() + " is a copy of the home " + dtctl.home().string());
  for (const Words& verb : {Words{"cancel", "all"}, Words{"retry", "all"}, Words{"sweep", "tiny.yaml"},
                            Words{"sweep", "tiny.yaml", "--force"}, Words{"remove", "tiny", "--yes"}, Words{"db", "rebuild"}}) {
    const auto refused = dtctl.run(verb, there);
    CHECK(refused.exit_code == 74);
    CHECK_THAT(refused.err, words);
  }
  CHECK_THAT(dtctl.run({"status"}, there).err, words); // looking is allowed
  for (const auto& attempt : first_attempts(dtctl.home())) CHECK_FALSE(fs::exists(attempt.cancel()));
  dtctl.write("go", "");
  CHECK(dtctl.run({"status", "--follow", "tiny"}).exit_code == 0);
  CHECK(dtctl.json({"status", "tiny"}).at("states") == dt::test::Json{{"succeeded", 2}});
}

TEST_CASE("a job whose script was given to another user is not run, and the cause says so")
{
  if (::geteuid() != 0) {
    WARN("not tested: only root can give files to another user");
    return;
  }
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", waiting_recipe(dtctl));
  REQUIRE(dtctl.run({"sweep", "tiny.yaml", "--max-jobs", "1"}).ok());
  REQUIRE(eventually([&] { return has_owner(dtctl.home()); }));
  for (const auto& attempt : first_attempts(dtctl.home()))
    if (!fs::exists(attempt.owner())) {
      dt::replace_file(attempt.script(), "touch " + (dtctl.folder() / "robbed").string() + "\n");
      REQUIRE(::chown(attempt.script().c_str(), 54321, 54321) == 0);
    }
  dtctl.write("go", "");
  CHECK(dtctl.run({"status", "--follow", "tiny"}).exit_code == 1);
  const auto states = dtctl.json({"status", "tiny"}).at("states");
  CHECK(states.value("failed", 0) == 1);
  CHECK(states.value("succeeded", 0) == 1);
  CHECK_THAT(dtctl.run({"explain", "tiny", "--failed"}).out, Contains("belongs to another user (uid 54321)"));
  CHECK_FALSE(fs::exists(dtctl.folder() / "robbed"));
}

TEST_CASE("no verb uses a home that other users can write, until its mode is corrected")
{
  const Dtctl dtctl;
  fs::create_directory(dtctl.home());
  ::chmod(dtctl.home().c_str(), 0777);
  for (const auto* line : {"status", "status --all", "doctor"}) {
    const auto refused = dtctl.run(dt::split(line, ' '));
    CHECK(refused.exit_code == 74);
    CHECK_THAT(refused.err,
               Contains("Other users can write to " + dtctl.home().string() + " (mode 0777)") && Contains("chmod -R go-w"));
  }
  ::chmod(dtctl.home().c_str(), 0700);
  CHECK(dtctl.run({"status", "--all"}).ok());
}
