// Two processes on one home, of which one cannot see the other's processes.
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;

namespace {

// Programs that it starts get a PID namespace and a /proc of their own.
const Words in_namespace{"unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"};

Json from_inside(const Dtctl& dtctl, const Words& words)
{
  const auto answer = run_command(with(in_namespace, dtctl.command(with(words, {"--json"}))), 100);
  INFO(answer.err);
  return Json::parse(answer.out);
}

// Ends the run whatever a failed check left behind.
struct Cancelled {
  const Dtctl& dtctl;
  ~Cancelled() { dtctl.run({"cancel", "all"}); }
};

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
  REQUIRE(dtctl.run({"sweep", "own.yaml"}).ok());
  const Cancelled at_end{dtctl};
  const auto runs = dtctl.home() / "runs";
  const auto run = runs / names_in(runs).at(0);
  const AttemptFolder attempt(run, 1);
  REQUIRE(eventually([&] { return read_heartbeat(attempt).has_value(); }, 60));

  CHECK(from_inside(dtctl, {"status", "all"}).at("states") == Json{{"running", 1}}); // its heartbeat is young
  CHECK(from_inside(dtctl, {"sweep", "own.yaml"}).at("counts") == Json{{"already_active", 1}});
  from_inside(dtctl, {"retry", "all"}); // finds nothing to retry; the attempts below say so

  write_file_atomic(run / "keep" / "go", "");
  REQUIRE(eventually([&] { return dtctl.json({"status", "all"}).at("states") == Json{{"succeeded", 1}}; }, 60));
  CHECK(attempt_numbers(run).size() == 1);
  CHECK(read_file(run / "keep" / "started") == "x");
}
