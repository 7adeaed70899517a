// inject_faults DTCTL VICTIM MOMENTS [DRAWN [SEED]]: kills VICTIM (dtctl, supervisor, dtjob or rank) with SIGKILL at MOMENTS
// moments of a sweep, or at DRAWN of them that a seed chooses, each in a fresh home, lets dtctl go on, and compares what happened
// with the run folders:
//
//   nothing lost       every run of the sweep has ended, and succeeded, except the run whose rank or dtjob was killed
//   nothing run twice  no run was begun twice, unless its first attempt had failed
//   true states        dtctl reports what the folders hold; a success has a result, and only a success has one
//
// A moment is an event, never a time: a system call of dtctl that changes files, a job that the supervisor has started, a step
// that the rank has done. So the moments are the same on a fast machine as on a slow or a busy one.
//
// Prints the seed and one line per moment; exit 1 when any of these is broken, or when a moment found nothing to kill three
// times.
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/faults/processes.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/traced_program.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace dt;
using faults::find_processes;
using test::TracedProgram;

constexpr int runs_of_the_sweep = 4;
constexpr int long_run = 1; // of the sweep's runs, counted from 0, where a rank or dtjob is to be killed

// Whether the victim is a part of a run, which then fails.
bool hits_a_run(const std::string& victim) { return victim == "rank" || victim == "dtjob"; }

// With a run among them that is so long that it cannot end before it is hit.
std::string recipe_text(bool with_long_run)
{
  std::vector<std::string> steps(runs_of_the_sweep, with_long_run ? "40" : "150");
  if (with_long_run) steps[long_run] = "10000000";
  return R"(version: 1
name: faults
model: {name: lenet}
data: {name: synthetic, train_samples: 512, test_samples: 64}
train: {global_batch: 32, warmup_steps: 5, eval_every_epochs: 0}
resources: {ranks_per_node: 2, time_limit: 30m, launch_tries: 1}
sweep:
  zip:
    train.seed: [1, 2, 3, 4]
    train.steps: [)" +
         join(steps, ", ") + "]\n";
}

struct Verdict {
  int succeeded = 0, failed = 0;
  std::vector<std::string> broken;
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

// What has happened in the newest attempts of a home's runs, in no order.
int count_attempts(const fs::path& home, bool (*has_happened)(const AttemptFolder&))
{
  int count = 0;
  std::error_code no_runs_yet;
  for (const auto& entry : fs::directory_iterator(home / "runs", no_runs_yet))
    for (const int number : attempt_numbers(entry.path())) count += has_happened(AttemptFolder(entry.path(), number)) ? 1 : 0;
  return count;
}

bool is_claimed(const AttemptFolder& attempt) { return fs::exists(attempt.owner()); }
bool has_begun(const AttemptFolder& attempt) { return fs::exists(attempt.begin()); }
bool has_ended(const AttemptFolder& attempt) { return fs::exists(attempt.end()); }

std::int64_t steps_done(const AttemptFolder& attempt)
{
  return static_cast<std::int64_t>(parse_events(read_file_if_exists(attempt.events()).value_or("")).steps.size());
}

// The attempt of the long run; nothing before it has begun.
std::optional<AttemptFolder> long_attempt(const fs::path& home)
{
  std::error_code no_runs_yet;
  for (const auto& entry : fs::directory_iterator(home / "runs", no_runs_yet)) {
    const auto numbers = attempt_numbers(entry.path());
    if (numbers.empty() || !has_begun(AttemptFolder(entry.path(), numbers.back()))) continue;
    if (read_planned_run(entry.path()).spec.train.steps > 1000) return AttemptFolder(entry.path(), numbers.back());
  }
  return std::nullopt;
}

class Scene {
 public:
  Scene(std::string dtctl, const std::string& victim) : dtctl_(std::move(dtctl))
  {
    std::string pattern = (fs::temp_directory_path() / "dtctl-faults-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw system_error("make " + pattern, errno);
    root_ = pattern;
    ::setenv("DTCTL_HOME", home().c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (root_ / "config").c_str(), 1);
    ::setenv("DTCTL_CORE_LOCKS", (root_ / "cores").c_str(), 1);
    write_file_atomic(recipe(), recipe_text(hits_a_run(victim)));
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene()
  {
    for (const auto* program : {"dtctl", "dtjob", "mpirun", "dtengine"})
      for (const pid_t pid : processes(program, "")) ::kill(pid, SIGKILL);
    std::error_code ignored;
    if (std::getenv("KEEP_FAULTS") == nullptr) fs::remove_all(root_, ignored);
  }

  fs::path home() const { return root_ / "home"; }
  fs::path recipe() const { return root_ / "faults.yaml"; }
  std::vector<std::string> words(std::vector<std::string> words) const
  {
    words.insert(words.begin(), dtctl_);
    return words;
  }
  CommandResult dtctl(std::vector<std::string> arguments, double timeout_s) const
  {
    return run_command(words(std::move(arguments)), timeout_s);
  }
  void sweep() const
  {
    const auto done = dtctl({"sweep", recipe().string()}, 60);
    if (!done.ok()) throw Error(ErrorKind::run, "the sweep failed: " + done.err);
  }
  std::vector<pid_t> processes(const std::string& program, const std::string& word) const
  {
    return find_processes(program, home().string(), word);
  }
  // Kills one such process, the first or the last of them, as soon as the event has happened. False when all runs had ended
  // before.
  bool kill_at(const std::function<bool()>& event, const std::string& program, const std::string& word, bool first) const
  {
    while (!event()) {
      if (count_attempts(home(), has_ended) == runs_of_the_sweep) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto pids = faults::without_children(processes(program, word));
    return !pids.empty() && ::kill(first ? pids.front() : pids.back(), SIGKILL) == 0;
  }

 private:
  std::string dtctl_;
  fs::path root_;
};

// ---- moments ------------------------------------------------------------------------------------------------------

// When to strike, and how; strike() returns whether there was something to kill.
struct Moment {
  std::string name;
  std::function<bool(const Scene&)> strike;
};

// dtctl is killed before one of the system calls by which it submits the sweep; the calls are spread evenly.
std::vector<Moment> moments_of_dtctl(const std::string& dtctl, int count)
{
  const auto sweep_until = [](const Scene& scene, int call) {
    return TracedProgram(scene.words({"sweep", scene.recipe().string()})).run(call);
  };
  const int calls = sweep_until(Scene(dtctl, "dtctl"), 0).changes;
  std::vector<Moment> moments;
  for (int i = 1; i <= count; ++i) {
    const int call = 1 + (calls - 1) * i / (count + 1);
    moments.push_back({"call " + std::to_string(call) + " of " + std::to_string(calls), [=](const Scene& scene) {
                         const auto end = sweep_until(scene, call);
                         return end.killed && WIFSIGNALED(end.status);
                       }});
  }
  return moments;
}

// The supervisor is killed when it has claimed, seen to begin, or seen to end so many jobs.
std::vector<Moment> moments_of_supervisor(int count)
{
  struct Event {
    const char* name;
    bool (*has_happened)(const AttemptFolder&);
  };
  constexpr std::array events{Event{"claimed", is_claimed}, Event{"begun", has_begun}, Event{"ended", has_ended}};
  std::vector<Moment> moments;
  for (int i = 0; i < count; ++i) {
    const auto event = events[static_cast<std::size_t>(i) % events.size()];
    const int jobs = 1 + (i / static_cast<int>(events.size())) % runs_of_the_sweep;
    moments.push_back({"job " + std::to_string(jobs) + " " + event.name, [=](const Scene& scene) {
                         scene.sweep();
                         const auto event_happened = [&] { return count_attempts(scene.home(), event.has_happened) >= jobs; };
                         return scene.kill_at(event_happened, "dtctl", "supervise", true);
                       }});
  }
  return moments;
}

// Kills a rank of the long run, or its dtjob: the first time before a step is recorded, then after 1, 2, 4, 8, ... recorded
// steps.
std::vector<Moment> moments_of_run(const std::string& program, int count)
{
  std::vector<Moment> moments;
  for (int i = 0; i < count; ++i) {
    const std::int64_t steps = i == 0 ? 0 : std::int64_t{1} << (i - 1);
    const auto name = steps == 0 ? std::string("rank 0 has begun") : "step " + std::to_string(steps);
    moments.push_back({name, [=](const Scene& scene) {
                         scene.sweep();
                         const auto event = [&] {
                           const auto attempt = long_attempt(scene.home());
                           return attempt && (steps == 0 || steps_done(*attempt) >= steps);
                         };
                         return scene.kill_at(event, program, "run", i % 2 == 0);
                       }});
  }
  return moments;
}

std::vector<Moment> moments_of(const std::string& dtctl, const std::string& victim, int count)
{
  if (victim == "dtctl") return moments_of_dtctl(dtctl, count);
  if (victim == "supervisor") return moments_of_supervisor(count);
  if (hits_a_run(victim)) return moments_of_run(victim == "rank" ? "dtengine" : victim, count);
  throw Error(ErrorKind::recipe, "there is no victim `" + victim + "`; there are: dtctl, supervisor, dtjob, rank");
}

// ---- a moment played ----------------------------------------------------------------------------------------------

Verdict play(const std::string& dtctl, const std::string& victim, const Moment& moment, bool& struck)
{
  const Scene scene(dtctl, victim);
  struck = moment.strike(scene);
  if (victim == "dtctl") scene.sweep(); // as its user would
  if (hits_a_run(victim) && !struck) throw Error(ErrorKind::run, "no " + victim + " of the long run was there at " + moment.name);
  const auto wait = scene.dtctl({"status", "--follow", "last", "--timeout", "9m"}, 600);
  auto verdict = examine(scene.home());
  if (!test::eventually([&] { return scene.processes("dtengine", "run").empty(); }, 60))
    verdict.broken.emplace_back("ranks are left although every run has ended");
  const int expected_failures = hits_a_run(victim) ? 1 : 0;
  if (verdict.failed != expected_failures) verdict.broken.push_back(std::to_string(verdict.failed) + " runs without a result");
  const int expected_exit = verdict.failed > 0 ? 1 : 0;
  if (wait.exit_code != expected_exit)
    verdict.broken.push_back("dtctl status --follow --quiet said " + std::to_string(wait.exit_code) + ", not " +
                             std::to_string(expected_exit) + ": " + wait.err);
  const auto explain = scene.dtctl({"explain", "--failed"}, 60);
  const std::string cause = victim == "dtjob" ? "dtjob was killed" : "SIGKILL";
  if (verdict.failed > 0 && explain.out.find(cause) == std::string::npos)
    verdict.broken.push_back("the cause does not say `" + cause + "`: " + explain.out);
  const auto counted = scene.dtctl({"query", "--json", "select count(*) from runs_flat where state = 'succeeded'"}, 60);
  if (counted.out.find("\"count(*)\": " + std::to_string(verdict.succeeded) + "\n") == std::string::npos)
    verdict.broken.push_back("the database disagrees: " + counted.out + counted.err);
  if (const auto check = scene.dtctl({"db", "check"}, 60); !check.ok()) verdict.broken.push_back("db check: " + check.out);
  return verdict;
}

// A moment that came too late (the sweep was over before this program saw the event) is played again, twice at most.
bool play_until_it_hits(const std::string& dtctl, const std::string& victim, const Moment& moment)
{
  bool struck = false, broken = false;
  for (int tries = 0; tries < 3 && !struck && !broken; ++tries) {
    const auto verdict = play(dtctl, victim, moment, struck);
    broken = !verdict.broken.empty();
    std::printf("%-10s at %-20s %-10s succeeded %d failed %d  %s\n", victim.c_str(), moment.name.c_str(),
                struck ? "killed" : "(was gone)", verdict.succeeded, verdict.failed,
                broken ? join(verdict.broken, "; ").c_str() : "ok");
    std::fflush(stdout);
  }
  return struck && !broken;
}

int run(const std::string& dtctl, const std::string& victim, int count, int drawn, unsigned seed)
{
  auto moments = moments_of(dtctl, victim, count);
  if (drawn < count) {
    std::printf("%d of %d moments, seed %u\n", drawn, count, seed);
    std::shuffle(moments.begin(), moments.end(), std::mt19937(seed));
    moments.resize(static_cast<std::size_t>(drawn));
  }
  int good = 0;
  for (const auto& moment : moments) good += play_until_it_hits(dtctl, victim, moment) ? 1 : 0;
  std::printf("%s: %d of %d moments hit it with nothing broken\n", victim.c_str(), good, drawn);
  return good == drawn ? 0 : 1;
}

} // namespace

int main(int argc, char* argv[])
{
  if (argc < 4) {
    std::fprintf(stderr, "usage: inject_faults DTCTL dtctl|supervisor|dtjob|rank MOMENTS [DRAWN [SEED]]\n");
    return 2;
  }
  try {
    const int count = std::atoi(argv[3]), drawn = argc > 4 ? std::min(std::atoi(argv[4]), count) : count;
    return run(argv[1], argv[2], count, drawn, argc > 5 ? static_cast<unsigned>(std::atoi(argv[5])) : std::random_device()());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "inject_faults: %s\n", error.what());
    return 1;
  }
}
