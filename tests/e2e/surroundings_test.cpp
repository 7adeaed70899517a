// What a job inherits from shells: the one that submitted it gives it its niceness, umask and limits, and no other.
#include "core/files/file.hpp"
#include "core/machine/surroundings.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/processes.hpp"

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <unistd.h>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::Words;

namespace {

// A study of one run, which prints what it has been given and waits for the file `go`.
std::string recipe(const std::string& name)
{
  return "version: 1\nname: " + name + "\nprogram:\n  command: [sh, t.sh]\n  files: [t.sh]\n  parameters: { name: " + name +
         " }\n  metrics: { step: 'step (\\d+)', loss: 'loss (\\S+)' }\n"
         "resources: { launch_tries: 1 }\n";
}

struct Scene {
  Dtctl dtctl;
  Scene()
  {
    dtctl.write("t.sh", "echo \"had $(nice) $(ulimit -n) $(umask) ${MYSESSION-nothing}\"; touch " + file("begun") +
                            "; until [ -e " + file("go") +
                            " ]; do sleep 0.02; done\necho 'step 1 loss 0.5'\necho 'step 2 loss 0.4'\n");
    dtctl.write("first.yaml", recipe("first"));
    dtctl.write("second.yaml", recipe("second"));
  }
  ~Scene() { dtctl.run({"cancel", "all"}); }
  std::string file(const std::string& name) const { return (dtctl.folder() / name).string(); }
  // In a shell that has changed what processes inherit. `before`: words in front of dtctl's, such as those of setpriv.
  void submit_oddly(const std::string& study, const std::string& before = "") const
  {
    std::string line;
    for (const auto& word : dtctl.command({"submit", study + ".yaml"}, {"MYSESSION=of-the-first"}))
      line += dt::shell_quote(word) + " ";
    const auto odd = dt::run_command({"sh", "-c", "umask 027; ulimit -n 500; exec nice -n 7 " + before + " " + line});
    INFO(odd.out << odd.err);
    REQUIRE(odd.ok());
  }
  std::map<std::string, std::string> facts(const std::string& study) const
  {
    std::map<std::string, std::string> found;
    const auto key = dtctl.json({"status", study}).at("runs")[0].at("key").get<std::string>();
    const auto begin = dt::read_begin(dt::AttemptFolder(dtctl.home() / "runs" / key, 1));
    REQUIRE(begin);
    for (const auto* name : {"niceness", "umask", "limits"}) found[name] = begin->environment.at(name);
    return found;
  }
  // The first word of dtctl's log of the run: "had 7 500 0027 nothing".
  std::string had(const std::string& study) const { return dt::split(dtctl.run({"logs", study}).out, '\n').front(); }
  std::size_t supervisors() const
  {
    using namespace dt::test;
    return without_children(processes_with_words({"supervise", "--home", dtctl.home().string()})).size() +
           without_children(processes_with_words({"supervise", "--home", dtctl.home().string(), "--succeed"})).size();
  }
};

std::string had_by_this_process()
{
  return std::string(dt::trim(dt::run_command({"sh", "-c", "echo \"had $(nice) $(ulimit -n) $(umask) nothing\""}).out));
}

void expect_own_surroundings(const Scene& scene)
{
  const auto odd = scene.facts("first"), usual = scene.facts("second");
  CHECK(scene.had("first") == "had 7 500 0027 nothing");
  CHECK(odd.at("niceness") == "7");
  CHECK(odd.at("umask") == "0027");
  CHECK_THAT(odd.at("limits"), Contains("nofile 500"));
  CHECK(scene.had("second") == had_by_this_process());
  CHECK(usual == dt::facts_of(dt::own_surroundings()));
}

} // namespace

TEST_CASE("a job has the niceness, umask and limits of its own submitter, not of whoever started the supervisor")
{
  const Scene scene;
  scene.submit_oddly("first");
  REQUIRE(eventually([&] { return fs::exists(scene.file("begun")); }));
  REQUIRE(scene.dtctl.run({"submit", "second.yaml"}).ok());
  scene.dtctl.write("go", "");
  REQUIRE(scene.dtctl.run({"status", "--follow", "all"}).ok());
  expect_own_surroundings(scene);
}

TEST_CASE("a supervisor that may not give a job what its submitter had leaves for one that may, which adopts the job that runs")
{
  if (::geteuid() != 0 || !fs::exists("/usr/bin/setpriv")) {
    WARN("not tested: only root can give up the right to raise limits, with setpriv");
    return;
  }
  const Scene scene;
  scene.submit_oddly("first", "setpriv --bounding-set=-sys_nice,-sys_resource");
  REQUIRE(eventually([&] { return fs::exists(scene.file("begun")); }));
  REQUIRE(scene.dtctl.run({"submit", "second.yaml"}).ok());
  scene.dtctl.write("go", "");
  REQUIRE(scene.dtctl.run({"status", "--follow", "all"}).ok());
  expect_own_surroundings(scene);
  CHECK(eventually([&] { return scene.supervisors() == 0; }));
}

TEST_CASE("a supervisor that has too few files to start anything does not keep later jobs from running")
{
  const Scene scene;
  scene.dtctl.write("go", "");
  std::string line;
  for (const auto& word : scene.dtctl.command({"submit", "first.yaml"})) line += dt::shell_quote(word) + " ";
  dt::run_command({"sh", "-c", "ulimit -n 9; exec " + line}); // it may fail itself
  REQUIRE(scene.dtctl.run({"submit", "second.yaml", "--wait"}).ok());
  CHECK(scene.had("second") == had_by_this_process());
}

TEST_CASE("a run that gave way to other processes says so")
{
  const Scene scene;
  scene.dtctl.write("go", "");
  scene.submit_oddly("first");
  REQUIRE(scene.dtctl.run({"status", "--follow", "first"}).ok());
  const auto shown = scene.dtctl.run({"results", "first"});
  INFO(shown.out << shown.err);
  CHECK_THAT(shown.out, Contains("niceness 7, so other processes of the machine went before it"));
}
