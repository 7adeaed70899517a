// inject_faults DTCTL VICTIM MOMENTS: kills VICTIM (dtctl, supervisor or rank) with SIGKILL at so many moments of a sweep, each
// in a fresh home, lets dtctl go on, and holds what happened against the run folders:
//
//   nothing lost       every run of the sweep has ended, and succeeded but for the run whose rank was killed
//   nothing run twice  no run was begun twice, unless its first attempt had failed
//   true states        dtctl's word is what the folders hold; a success has a result, and only a success has one
//
// A line a moment on stdout; exit 1 when any of them is broken.
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/run_record.hpp"
#include "core/text.hpp"
#include "tests/faults/processes.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace dt;
using faults::find_processes;
using faults::start;

constexpr int runs_of_the_sweep = 6;

const char* recipe_text = R"(version: 1
name: faults
model: {name: lenet}
data: {name: synthetic, train_samples: 512, test_samples: 64}
train: {global_batch: 32, steps: 150, warmup_steps: 5}
resources: {ranks_per_node: 2, time_limit: 5m}
sweep:
  matrix:
    optimizer.learning_rate: [0.001, 0.002, 0.003]
    train.seed: [1, 2]
)";

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

struct Verdict {
  int succeeded = 0, failed = 0;
  std::vector<std::string> broken;
  std::string cause; // of the failed run
};

// The folders' own word about every run of the home.
Verdict examine(const fs::path& home)
{
  Verdict verdict;
  int runs = 0;
  for (const auto& entry : fs::directory_iterator(home / "runs")) {
    const auto numbers = attempt_numbers(entry.path());
    if (numbers.empty()) continue;
    ++runs;
    int successes = 0, begun_without_end = 0;
    for (const int number : numbers) {
      const AttemptFolder attempt(entry.path(), number);
      if (read_result(attempt)) ++successes;
      if (read_begin(attempt) && !read_result(attempt) && number != numbers.back()) ++begun_without_end;
    }
    const auto short_name = entry.path().filename().string().substr(0, 10);
    if (successes > 1) verdict.broken.push_back(short_name + " was trained twice");
    if (begun_without_end > 0) verdict.broken.push_back(short_name + " was begun again after a healthy attempt");
    ++(successes == 1 ? verdict.succeeded : verdict.failed);
  }
  if (runs != runs_of_the_sweep)
    verdict.broken.push_back(std::to_string(runs) + " runs in the folders, not " + std::to_string(runs_of_the_sweep));
  return verdict;
}

class Scene {
 public:
  Scene(std::string dtctl, std::string victim) : dtctl_(std::move(dtctl)), victim_(std::move(victim))
  {
    std::string pattern = (fs::temp_directory_path() / "dtctl-faults-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw system_error("make " + pattern, errno);
    root_ = pattern;
    ::setenv("DTCTL_HOME", (root_ / "home").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (root_ / "config").c_str(), 1);
    ::setenv("DTCTL_CORE_LOCKS", (root_ / "cores").c_str(), 1);
    write_file_atomic(root_ / "faults.yaml", recipe_text);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene()
  {
    for (const auto* program : {"dtctl", "mpirun", "dtengine"})
      for (const pid_t pid : find_processes(program, home().string(), "")) ::kill(pid, SIGKILL);
    std::error_code ignored;
    if (std::getenv("KEEP_FAULTS") == nullptr) fs::remove_all(root_, ignored);
  }

  fs::path home() const { return root_ / "home"; }
  CommandResult dtctl(std::vector<std::string> words, double timeout_s) const
  {
    words.insert(words.begin(), dtctl_);
    return run_command(words, timeout_s);
  }

  // Starts the sweep, kills the victim after a delay; whether there was one to kill.
  bool strike(double after_s) const
  {
    const pid_t sweep = start({dtctl_, "sweep", (root_ / "faults.yaml").string()});
    if (victim_ == "dtctl") {
      sleep_s(after_s);
      const bool struck = ::kill(sweep, SIGKILL) == 0;
      int status = 0;
      ::waitpid(sweep, &status, 0);
      return struck && WIFSIGNALED(status);
    }
    ::waitpid(sweep, nullptr, 0);
    sleep_s(after_s);
    const auto pids = victim_ == "rank" ? find_processes("dtengine", home().string(), "run")
                                        : find_processes("dtctl", home().string(), "supervise");
    if (!pids.empty()) ::kill(pids.back(), SIGKILL);
    return !pids.empty();
  }

 private:
  std::string dtctl_, victim_;
  fs::path root_;
};

Verdict play(const std::string& dtctl, const std::string& victim, double after_s, bool& struck)
{
  const Scene scene(dtctl, victim);
  struck = scene.strike(after_s);
  if (victim == "dtctl") {
    const auto again = scene.dtctl({"sweep", (scene.home().parent_path() / "faults.yaml").string()}, 60);
    if (!again.ok()) throw Error(ErrorKind::run, "the second sweep failed: " + again.err);
  }
  const auto wait = scene.dtctl({"wait", "last", "--timeout", "3m"}, 200);
  auto verdict = examine(scene.home());
  const int expected_failures = victim == "rank" && struck ? 1 : 0;
  if (verdict.failed > expected_failures) verdict.broken.push_back(std::to_string(verdict.failed) + " runs without a result");
  const int expected_exit = verdict.failed > 0 ? 1 : 0;
  if (wait.exit_code != expected_exit)
    verdict.broken.push_back("dtctl wait said " + std::to_string(wait.exit_code) + ", not " + std::to_string(expected_exit) +
                             ": " + wait.err);
  const auto explain = scene.dtctl({"explain", "--failed"}, 60);
  if (verdict.failed > 0 && explain.out.find("SIGKILL") == std::string::npos)
    verdict.broken.push_back("the cause does not name SIGKILL: " + explain.out);
  const auto counted = scene.dtctl({"query", "--json", "select count(*) from runs_flat where state = 'succeeded'"}, 60);
  if (counted.out.find("\"count(*)\": " + std::to_string(verdict.succeeded) + "\n") == std::string::npos)
    verdict.broken.push_back("the database disagrees: " + counted.out + counted.err);
  return verdict;
}

// The moments lie apart by a factor. dtctl submits within tens of milliseconds; the jobs take seconds.
struct Moments {
  double first_s, growth;
};

Moments moments_of(const std::string& victim)
{
  if (victim == "dtctl") return {0.002, 1.3};
  return victim == "rank" ? Moments{0.12, 1.4} : Moments{0.02, 1.7};
}

// A moment at which there was nobody to kill is held against the folders too, but does not count.
int run(const std::string& dtctl, const std::string& victim, int moments)
{
  const auto [first_s, growth] = moments_of(victim);
  int broken = 0, hits = 0;
  double after_s = first_s;
  for (int tries = 0; hits < moments && tries < 3 * moments; ++tries) {
    bool struck = false;
    const auto verdict = play(dtctl, victim, after_s, struck);
    hits += struck ? 1 : 0;
    broken += verdict.broken.empty() ? 0 : 1;
    std::printf("%-10s after %7.4f s  %-10s succeeded %d failed %d  %s\n", victim.c_str(), after_s,
                struck ? "killed" : "(was gone)", verdict.succeeded, verdict.failed,
                verdict.broken.empty() ? "ok" : join(verdict.broken, "; ").c_str());
    std::fflush(stdout);
    const bool came_late = !struck && victim != "rank"; // a rank that was not there has not started yet
    after_s = came_late ? first_s * (1 + 0.1 * tries) : after_s * growth;
  }
  std::printf("%s: %d of %d moments hit it, %d broken\n", victim.c_str(), hits, moments, broken);
  return broken == 0 && hits == moments ? 0 : 1;
}

} // namespace

int main(int argc, char* argv[])
{
  if (argc != 4) {
    std::fprintf(stderr, "usage: inject_faults DTCTL dtctl|supervisor|rank MOMENTS\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::atoi(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "inject_faults: %s\n", error.what());
    return 1;
  }
}
