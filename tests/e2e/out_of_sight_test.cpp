// Two processes on one home, of which one cannot see the other's processes.
#include "core/file.hpp"
#include "core/record/claim.hpp"
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// Programs that it starts get a PID namespace and a /proc of their own.
const Words in_namespace{"unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"};

// A program that runs on its own until it is ended.
class Child {
 public:
  explicit Child(const Words& words) : pid_(::fork())
  {
    if (pid_ != 0) return;
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child()
  {
    ::kill(pid_, SIGKILL); // the whole namespace ends with it
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

Json only_run(const Dtctl& dtctl) { return dtctl.json({"status", "all"}).at("runs").at(0); }

} // namespace

TEST_CASE("a run in another PID namespace is neither judged dead nor started again, and its result counts")
{
  if (!run_command(with(in_namespace, {"true"})).ok()) {
    WARN("skipped: PID namespaces cannot be made here");
    return;
  }
  const Dtctl dtctl;
  dtctl.write("train.py", "import dtctl_report as report, os, time\n"
                          "keep = os.environ['DTCTL_KEEP_FOLDER']\n"
                          "open(keep + '/started', 'a').write('x')\n"
                          "report.begin()\nreport.step(loss=1.0, samples=10)\n"
                          "while not os.path.exists(keep + '/go'): time.sleep(0.05)\n"
                          "for i in range(8): report.step(loss=1.0, samples=10)\nreport.result()\n");
  dtctl.write("own.yaml", "version: 1\nname: own\nprogram:\n  command: [python3, train.py]\n  files: [train.py]\n");
  const Child inside(with(in_namespace, dtctl.command({"sweep", "own.yaml", "--wait"})));
  const auto runs = dtctl.home() / "runs";
  REQUIRE(eventually([&] { return is_there(runs) && names_in(runs).size() == 1; }, 60));
  const auto run = runs / names_in(runs).at(0);
  const AttemptFolder attempt(run, 1);
  REQUIRE(eventually([&] { return read_heartbeat(attempt).has_value(); }, 60));

  CHECK(only_run(dtctl).at("state") == "running"); // its heartbeat is young
  CHECK(dtctl.json({"sweep", "own.yaml"}).at("runs").at(0).at("action") == "already_active");
  const auto owner = read_owner(attempt);
  REQUIRE(owner);
  CHECK(state_of(attempt, owner) == OwnerState::out_of_sight);

  write_file_atomic(run / "keep" / "go", "");
  REQUIRE(eventually([&] { return only_run(dtctl).at("state") == "succeeded"; }, 60));
  CHECK(attempt_numbers(run).size() == 1);
  CHECK(read_file(run / "keep" / "started") == "x");
}
