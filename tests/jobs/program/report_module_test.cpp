// The modules in share/dtctl/program: what they write is what report_lines.hpp reads, and both can say the same.
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/program/reports/rank_report.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/tiny_disk.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

namespace {

using Words = std::vector<std::string>;
const std::string modules = std::string(DTCTL_SOURCE_DIR) + "/share/dtctl/program";

const std::string in_c = R"(#include <dtctl_report.h>
#include <math.h>
int main(void)
{
  int failed = dtctl_report_begin(100);
  failed |= dtctl_report_phase(DTCTL_FORWARD, 0.5);
  failed |= dtctl_report_schedule(0.125, 2.5);
  failed |= dtctl_report_step(1.5, 10);
  failed |= dtctl_report_step(1.25, 20);
  failed |= dtctl_report_evaluation(0.75, DTCTL_UNKNOWN, 100);
  failed |= dtctl_report_step(NAN, DTCTL_UNKNOWN);
  failed |= dtctl_report_step(-INFINITY, 30);
  failed |= dtctl_report_evaluation(NAN, INFINITY, DTCTL_UNKNOWN);
  failed |= dtctl_report_step(1, NAN) == 0 || dtctl_report_phase(DTCTL_INPUT, NAN) == 0;
  failed |= dtctl_report_error("no\nroom");
  failed |= dtctl_report_parameters(61706);
  return failed | dtctl_report_result();
}
)";

const std::string in_python = R"(import math
import dtctl_report as report
report.begin(step=100)
report.step(loss=1.5, samples=10, phases={"forward": 0.5}, learning_rate=0.125, epoch=2.5)
report.step(loss=1.25, samples=20)
report.evaluation(accuracy=0.75, samples=100)
report.step(loss=float("nan"))
report.step(loss=-math.inf, samples=30)
report.evaluation(accuracy=math.nan, loss=math.inf)
for wrong in (lambda: report.step(samples=math.nan), lambda: report.evaluation(accuracy=math.inf),
              lambda: report.step(phases={"input": math.nan})):
    try:
        wrong()
    except ValueError:
        continue
    raise SystemExit("an impossible value was taken")
report.error("no\nroom")
report.result(parameters=61706)
)";

void require_ok(const Words& command)
{
  const auto result = run_command(command);
  INFO(result.err);
  REQUIRE(result.ok());
}

RankReport report_in(const std::filesystem::path& path)
{
  RankReport report;
  for (const auto& line : LineTail(path).next()) report.take(parse_report_line(line));
  return report;
}

void check_report(const RankReport& report)
{
  CHECK(report.damaged_lines == 0);
  REQUIRE(report.begin);
  CHECK(report.begin->step == 100);
  REQUIRE(report.steps.size() == 4);
  CHECK(report.steps[0].step == 101);
  CHECK(report.steps[0].learning_rate == 0.125);
  CHECK(report.steps[0].epoch == 2.5);
  CHECK(report.steps[0].phase_s[static_cast<std::size_t>(Phase::forward)] == 0.5);
  CHECK_FALSE(report.steps[1].learning_rate); // a figure is that of one step
  CHECK(report.steps[1].samples == 20);
  CHECK((report.steps[2].loss && std::isnan(*report.steps[2].loss)));
  CHECK(std::isnan(report.steps[2].samples));
  CHECK(report.steps[3].loss == -std::numeric_limits<double>::infinity());
  REQUIRE(report.evaluations.size() == 2);
  CHECK(report.evaluations[0].accuracy == 0.75);
  CHECK_FALSE(report.evaluations[0].loss);
  CHECK((report.evaluations[1].accuracy && std::isnan(*report.evaluations[1].accuracy)));
  CHECK(report.evaluations[1].loss == std::numeric_limits<double>::infinity());
  REQUIRE(report.error);
  CHECK(report.error->cause == "no room");
  CHECK(std::abs(report.error->unix_s - now_unix_s()) < 600);
  REQUIRE(report.result);
  CHECK(report.result->parameters == 61706);
  CHECK(report.memory_bytes > 0);
}

} // namespace

TEST_CASE("the header compiles as C and as C++ without a warning, and reports the same as the Python module")
{
  const jobs::testing::Folder folder;
  const auto source = (folder.path() / "report.c").string(), program = (folder.path() / "report").string();
  std::ofstream(source) << in_c;
  const auto check = [&](const Words& words) {
    const auto path = folder.path() / "reported";
    std::filesystem::remove(path);
    Words command{"env", "DTCTL_REPORT=" + path.string(), "PYTHONPATH=" + modules, "PYTHONDONTWRITEBYTECODE=1"};
    command.insert(command.end(), words.begin(), words.end());
    require_ok(command);
    check_report(report_in(path));
  };
  for (Words command : {Words{"cc", "-x", "c", "-std=c99"}, Words{"cc", "-x", "c", "-std=gnu17"},
                        Words{"c++", "-x", "c++", "-std=c++20"}, Words{"cc", "-x", "c", "-std=gnu17", "-O2"}}) {
    INFO(join(command, " "));
    for (const auto& word : Words{"-Wall", "-Wextra", "-Werror", "-pedantic", "-I" + modules, source, "-o", program, "-lm"})
      command.push_back(word);
    require_ok(command);
    check({program});
  }
  check({"python3", "-c", in_python});
}

TEST_CASE("a rank that torchrun has started reports to the file of its number, and torchrun itself reports nothing")
{
  const jobs::testing::Folder folder;
  std::ofstream(folder.path() / "report.py") << "import dtctl_report\ndtctl_report.begin()\n";
  std::ofstream(folder.path() / "report.c") << "#include <dtctl_report.h>\nint main(void) { return dtctl_report_begin(0); }\n";
  require_ok({"cc", "-I" + modules, (folder.path() / "report.c").string(), "-o", (folder.path() / "report").string()});
  const auto run = [&](const Words& environment, const Words& program) {
    Words command{"env"};
    command.insert(command.end(), environment.begin(), environment.end());
    for (const auto& word : Words{"DTCTL_REPORT=" + (folder.path() / "rank-{RANK}").string(), "DTCTL_LAUNCHER=1",
                                  "PYTHONPATH=" + modules, "PYTHONDONTWRITEBYTECODE=1"})
      command.push_back(word);
    command.insert(command.end(), program.begin(), program.end());
    require_ok(command);
  };
  for (const auto& program :
       {Words{"python3", (folder.path() / "report.py").string()}, Words{(folder.path() / "report").string()}}) {
    INFO(program.front());
    const auto path = folder.path() / "rank-3";
    std::filesystem::remove(path);
    run({"-u", "RANK"}, program);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "rank-"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "rank-{RANK}"));
    run({"RANK=3", "WORLD_SIZE=4", "TORCHELASTIC_RESTART_COUNT=2"}, program);
    const auto report = report_in(path);
    CHECK(report.damaged_lines == 0);
    CHECK(report.begin);
    REQUIRE(report.worker);
    CHECK(report.worker->pid > 1);
    CHECK(report.worker->ranks == 4);
    CHECK(report.worker->restarts == 2);
  }
}

TEST_CASE("a full disk does not end a training in Python, and its report is whole when there is room again")
{
  const jobs::testing::Folder folder, disk_folder;
  const test::TinyDisk disk(disk_folder.path(), 16 * 1024);
  if (!disk.is_mounted()) return; // needs root
  const auto other = (disk_folder.path() / "other").string(), path = (disk_folder.path() / "report").string();
  std::ofstream(other) << std::string(8 * 1024, 'x');
  std::ofstream(folder.path() / "train.py") << "import dtctl_report as report, os\nreport.begin()\n"
                                               "for i in range(200): report.step(loss=1.0, samples=10)\n"
                                               "assert os.path.getsize('" +
                                                   path +
                                                   "') <= 8192\n"
                                                   "try: report.result()\nexcept OSError: print('told')\n"
                                                   "os.remove('" +
                                                   other + "')\nreport.result()\n";
  const auto result = run_command({"env", "DTCTL_REPORT=" + path, "PYTHONPATH=" + modules, "PYTHONDONTWRITEBYTECODE=1", "python3",
                                   (folder.path() / "train.py").string()});
  INFO(result.err);
  CHECK(result.ok());
  CHECK(result.out == "told\n");
  const auto report = report_in(path);
  CHECK(report.steps.size() == 200);
  CHECK(report.damaged_lines == 0);
  CHECK(report.result);
}
