// inject_cluster DTCTL CLUSTER COUNT [SEED]: starts a private Slurm with the script CLUSTER and injects COUNT faults into sweeps
// that really train, in turn over the list below, at random moments. After each round the harm is mended as an administrator
// would, the same sweep is submitted again until every run has succeeded, and what dtctl said is held against the run folders:
//
//   lost           a run that did not reach its end, or whose state dtctl could not tell, though everything had been mended
//   run twice      two results; two copies of an attempt at work; an attempt that was taken over without having been fenced off
//   false success  dtctl says succeeded without a result, or the weights differ from those of an undisturbed run
//   wrong state    any other word of dtctl that the folders contradict
//
// Prints a table with a row for each kind of fault (docs/benchmarks.md has the sums); exit 1 when any of the last four columns is
// not 0.
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/faults/processes.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using namespace dt;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

// What a round trains: so many runs of so many steps, a rank on each of so many nodes.
struct Work {
  int runs = 6, steps = 1500, nodes = 1;
  bool operator==(const Work&) const = default;
};
constexpr Work outlasts_a_lost_node{2, 80'000}, over_two_nodes{3, 1500, 2};

std::string recipe_text(const Work& work)
{
  std::string seeds = "1";
  for (int seed = 2; seed <= work.runs; ++seed) seeds += ", " + std::to_string(seed);
  return "version: 1\nname: faults\nmodel: {name: lenet}\ndata: {name: synthetic, train_samples: 512, test_samples: 64}\n"
         "train: {algorithms: rules, batch_per_rank: 8, steps: " +
         std::to_string(work.steps) +
         ", warmup_steps: 5, eval_every_epochs: 0, checkpoint_every: 1s}\n"
         "resources: {time_limit: 5m, requeue: 3, nodes: " +
         std::to_string(work.nodes) + "}\nsweep: {matrix: {train.seed: [" + seeds + "]}}\n";
}

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// The private Slurm. Its environment is this process's, and so dtctl's.
class Cluster {
 public:
  Cluster(std::string script, const fs::path& folder) : script_(std::move(script)), folder_(folder)
  {
    ::setenv("DTCTL_CLUSTER", folder_.c_str(), 1);
    ::setenv("SLURM_CONF", (folder_ / "etc" / "slurm.conf").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    Words words{"start", "--owner", std::to_string(::getpid()), "--nodes", "4"};
    for (const auto* setting :
         {"SlurmdTimeout=5", "MessageTimeout=3", "KillWait=2", "AuthInfo=socket=%f/munge/socket,cred_expire=5",
          "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE",
          "PartitionName=main Nodes=node[0-3] Default=YES MaxTime=INFINITE State=UP PriorityTier=1",
          "PartitionName=urgent Nodes=node[0-3] MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF"})
      words.insert(words.end(), {"--set", setting});
    if (::getuid() == 0) words.insert(words.end(), {"--small-spool", "--disk", "48m"});
    verb(words);
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() { try_verb({"stop"}); }

  CommandResult try_verb(Words words) const
  {
    words.insert(words.begin(), script_);
    return run_command(words, 60);
  }
  void verb(const Words& words) const
  {
    const auto done = try_verb(words);
    if (!done.ok()) throw Error(ErrorKind::environment, "cluster " + join(words, " ") + ": " + done.err);
  }
  std::string slurm(const Words& words) const { return std::string(trim(run_command(words, 15).out)); }

  // Whatever was broken works again. What a fault left hanging, such as a job without its slurmstepd, ends with the slurmd's
  // restart.
  void mend() const
  {
    try_verb({"resume-controller"});
    verb({"start-controller"});
    for (const auto* spool : {"state", "nodes"}) try_verb({"free-spool", spool});
    std::error_code none;
    fs::remove(folder_ / "disk" / "ballast", none);
    for (int node = 0; node < 4; ++node) verb({"start-slurmd", "node" + std::to_string(node)});
    for (int node = 0; node < 4; ++node) slurm({"scontrol", "update", "nodename=node" + std::to_string(node), "state=resume"});
    for (const auto& id : split(slurm({"squeue", "-h", "-t", "pending", "-o", "%A"}), '\n'))
      if (!id.empty()) slurm({"scontrol", "release", id});
  }
  void restart_slurmds() const
  {
    for (int node = 0; node < 4; ++node) {
      try_verb({"kill-slurmd", "node" + std::to_string(node)});
      verb({"start-slurmd", "node" + std::to_string(node)});
    }
  }
  const fs::path& folder() const { return folder_; }

 private:
  std::string script_;
  fs::path folder_;
};

// One sweep in a home of its own.
class Scene {
 public:
  Scene(const Cluster& cluster, std::string dtctl, const fs::path& folder, const Work& work, std::mt19937& random)
      : cluster_(cluster), dtctl_(std::move(dtctl)), folder_(folder), random_(random)
  {
    fs::create_directories(folder_);
    write_file_atomic(folder_ / "faults.yaml", recipe_text(work));
    ::setenv("DTCTL_HOME", home().c_str(), 1);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene()
  {
    dtctl({"cancel", "all"});
    cluster_.slurm({"scancel", "-u", std::to_string(::getuid())});
    for (const auto* program : {"mpirun", "dtengine"})
      for (const pid_t pid : faults::find_processes(program, home().string(), "")) ::kill(pid, SIGKILL);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  const Cluster& cluster() const { return cluster_; }
  fs::path home() const { return folder_ / "home"; }
  CommandResult dtctl(Words words, double timeout_s = 90) const
  {
    words.insert(words.begin(), dtctl_);
    return run_command(words, timeout_s);
  }
  Words sweep_words() const { return {"sweep", (folder_ / "faults.yaml").string(), "--profile", "cluster"}; }
  CommandResult sweep() const { return dtctl(sweep_words()); }
  pid_t start_sweep() const
  {
    auto words = sweep_words();
    words.insert(words.begin(), dtctl_);
    return faults::start(words);
  }

  double uniform(double low, double high) const { return std::uniform_real_distribution<double>(low, high)(random_); }
  template<class Items> auto any_of(const Items& items) const
  {
    return items[std::uniform_int_distribution<std::size_t>(0, items.size() - 1)(random_)];
  }
  std::vector<fs::path> runs() const
  {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(home() / "runs", none)) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::string any_node() const { return "node" + std::to_string(std::uniform_int_distribution<int>(0, 3)(random_)); }
  // Kills one such process of this cluster; false when there is none.
  bool kill_any(const std::string& program, const fs::path& speaks_of) const
  {
    const auto pids = faults::find_processes(program, speaks_of.string(), "");
    return !pids.empty() && ::kill(any_of(pids), SIGKILL) == 0;
  }
  // A job of this cluster that runs, as `squeue` writes it; empty when none does.
  std::string any_running_job() const
  {
    auto jobs = split(cluster_.slurm({"squeue", "-h", "-t", "running", "-o", "%i"}), '\n');
    std::erase(jobs, "");
    return jobs.empty() ? "" : any_of(jobs);
  }

 private:
  const Cluster& cluster_;
  std::string dtctl_;
  fs::path folder_;
  std::mt19937& random_;
};

// One way to harm. `strike` is true when there was something to hit; `strikes` of them make a round.
struct Fault {
  std::string name;
  int strikes = 1;
  std::function<bool(const Scene&)> strike{};
  bool is_slow = false;     // played in every third turn of the list only
  bool root_only = false;   // needs small file systems
  bool on_the_disk = false; // the home is on one
  Work work{};
};

bool submit_and_kill(const Scene& scene)
{
  const pid_t sweep = scene.start_sweep();
  sleep_s(scene.uniform(0.002, 0.08));
  ::kill(sweep, SIGKILL);
  int status = 0;
  ::waitpid(sweep, &status, 0);
  return WIFSIGNALED(status);
}

bool pause_during_submission(const Scene& scene)
{
  scene.cluster().verb({"stop-controller", "--pause"});
  const pid_t sweep = scene.start_sweep();
  sleep_s(scene.uniform(0.5, 5));
  scene.cluster().verb({"resume-controller"});
  ::waitpid(sweep, nullptr, 0);
  return true;
}

bool restart_controller(const Scene& scene, const Words& how)
{
  scene.cluster().verb(how);
  sleep_s(scene.uniform(0, 1));
  scene.cluster().verb({"start-controller"});
  return true;
}

// Submissions of the last moment are forgotten, and their ids are given to others.
bool forget_submissions(const Scene& scene)
{
  scene.cluster().verb({"stop-controller", "--kill"});
  for (const auto* file : {"job_state", "job_state.old"}) {
    std::error_code none;
    fs::remove(scene.cluster().folder() / "state" / file, none);
  }
  scene.cluster().verb({"start-controller"});
  for (int i = 0; i < 2; ++i) scene.cluster().slurm({"sbatch", "-o", "/dev/null", "-J", "other", "--wrap", "sleep 1"});
  return true;
}

bool kill_slurmd(const Scene& scene, const std::string& node, double away_s)
{
  scene.cluster().verb({"kill-slurmd", node});
  sleep_s(away_s);
  scene.cluster().verb({"start-slurmd", node});
  return true;
}

// Away for so long that Slurm starts its jobs elsewhere, while the old copies run on.
bool lose_a_node(const Scene& scene)
{
  auto nodes = split(scene.cluster().slurm({"squeue", "-h", "-t", "running", "-o", "%N"}), '\n');
  std::erase(nodes, "");
  return !nodes.empty() && kill_slurmd(scene, scene.any_of(nodes), 45);
}

bool cut_power(const Scene& scene)
{
  const auto node = scene.any_node();
  scene.cluster().verb({"kill-node", node});
  sleep_s(scene.uniform(0, 1));
  scene.cluster().verb({"start-slurmd", node});
  return true;
}

bool cancel_any(const Scene& scene)
{
  const auto runs = scene.runs();
  if (runs.empty()) return false;
  const auto answer = Json::parse(scene.dtctl({"cancel", scene.any_of(runs).filename().string(), "--json"}).out, nullptr, false);
  return answer.is_object() && answer.value("cancelled", 0) > 0;
}

bool slurm_on_any_job(const Scene& scene, Words command)
{
  const auto job = scene.any_running_job();
  if (job.empty()) return false;
  command.push_back(job);
  scene.cluster().slurm(command);
  return true;
}

// By a job on all nodes that comes first, for as long as a second.
bool preempt_all(const Scene& scene)
{
  if (scene.any_running_job().empty()) return false;
  scene.cluster().slurm({"sbatch", "-p", "urgent", "-N4", "--exclusive", "-t1", "-o", "/dev/null", "--wrap", "sleep 1"});
  return true;
}

bool fill_up(const fs::path& folder, double for_s)
{
  run_command({"bash", "-c", "cat /dev/zero >\"$1\"/ballast", "fill", folder.string()}, 20);
  sleep_s(for_s);
  std::error_code none;
  fs::remove(folder / "ballast", none);
  return true;
}

std::vector<Fault> all_faults()
{
  const auto on_job = [](Words command) { return [command](const Scene& s) { return slurm_on_any_job(s, command); }; };
  const auto restart = [](Words how) { return [how](const Scene& s) { return restart_controller(s, how); }; };
  const auto fill = [](const char* what) {
    return [what](const Scene& s) { return fill_up(s.cluster().folder() / what, s.uniform(0.5, 2)); };
  };
  return {
      {.name = "dtctl -9 while it submits", .strikes = 6, .strike = submit_and_kill},
      {.name = "controller restarted", .strikes = 3, .strike = restart({"stop-controller"})},
      {.name = "controller -9", .strikes = 3, .strike = restart({"stop-controller", "--kill"})},
      {.name = "controller -9, jobs forgotten, ids reused", .strikes = 1, .strike = forget_submissions, .is_slow = true},
      {.name = "controller held still during submission", .strikes = 1, .strike = pause_during_submission},
      {.name = "slurmd -9, back soon",
       .strikes = 5,
       .strike = [](const Scene& s) { return kill_slurmd(s, s.any_node(), s.uniform(0, 1)); }},
      {.name = "slurmd -9, node given up, old copy runs on",
       .strikes = 1,
       .strike = lose_a_node,
       .is_slow = true,
       .work = outlasts_a_lost_node},
      {.name = "power cut of a node", .strikes = 2, .strike = cut_power, .is_slow = true},
      {.name = "slurmstepd -9",
       .strikes = 4,
       .strike = [](const Scene& s) { return s.cluster().try_verb({"kill-slurmstepd"}).ok(); }},
      {.name = "rank -9", .strikes = 4, .strike = [](const Scene& s) { return s.kill_any("dtengine", s.home()); }},
      {.name = "mpirun -9", .strikes = 4, .strike = [](const Scene& s) { return s.kill_any("mpirun", s.home()); }},
      {.name = "dtjob -9", .strikes = 4, .strike = [](const Scene& s) { return s.kill_any("dtjob", s.home()); }},
      {.name = "dtctl cancel", .strikes = 4, .strike = cancel_any},
      {.name = "scancel by someone else", .strikes = 4, .strike = on_job({"scancel"})},
      {.name = "scontrol requeue", .strikes = 4, .strike = on_job({"scontrol", "requeue"})},
      {.name = "scontrol requeue, two nodes", .strikes = 4, .strike = on_job({"scontrol", "requeue"}), .work = over_two_nodes},
      {.name = "preemption, two nodes", .strikes = 2, .strike = preempt_all, .work = over_two_nodes},
      {.name = "power cut of a node, two nodes", .strikes = 2, .strike = cut_power, .is_slow = true, .work = over_two_nodes},
      {.name = "full disk under the home", .strikes = 2, .strike = fill("disk"), .root_only = true, .on_the_disk = true},
      {.name = "full spool of the controller", .strikes = 2, .strike = fill("state"), .root_only = true},
      {.name = "full spool of the nodes", .strikes = 2, .strike = fill("spool"), .root_only = true},
  };
}

struct Tally {
  int rounds = 0, injected = 0, runs = 0, lost = 0, twice = 0, false_success = 0, wrong_state = 0;
  bool is_clean() const { return lost + twice + false_success + wrong_state == 0; }
};

// The ranks that work in that folder by their command lines, without their own children. Processes are looked at one after the
// other, so two of them need not have lived at the same time.
std::map<std::string, std::vector<ProcessId>> ranks_at_work(const std::string& folder)
{
  std::map<std::string, std::vector<ProcessId>> ranks;
  for (const pid_t pid : faults::without_children(faults::find_processes("dtengine", folder, "run"))) {
    try {
      const auto command = read_file("/proc/" + std::to_string(pid) + "/cmdline");
      if (const auto process = identify_process(pid)) ranks[command].push_back(*process);
    } catch (const Error&) { // it has just ended
    }
  }
  return ranks;
}

// Looks for an attempt that more processes work at than it has ranks, as long as it lives. All of them must still live when they
// are looked at once more: then they have worked at the same time, and none is a child on its way to another program.
class Watch {
 public:
  Watch(const fs::path& home, int ranks)
      : thread_([this, ranks = static_cast<std::size_t>(ranks), folder = home.string()] {
          std::map<std::string, std::vector<ProcessId>> before;
          while (!stop_) {
            for (const auto& [command, processes] : before)
              if (static_cast<std::size_t>(std::ranges::count_if(processes, is_alive)) > ranks) doubled_ = command;
            before = ranks_at_work(folder);
            sleep_s(0.1);
          }
        })
  {
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { stop(); }
  // The command line that too many processes had; empty if there was none.
  std::string doubled()
  {
    stop();
    std::ranges::replace(doubled_, '\0', ' ');
    return doubled_;
  }

 private:
  void stop()
  {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<bool> stop_ = false;
  std::string doubled_; // written by the thread
  std::thread thread_;
};

std::map<std::string, std::string> states_of(const Scene& scene, std::string& trouble)
{
  std::map<std::string, std::string> states;
  const auto status = scene.dtctl({"status", "all", "--json"});
  const auto value = Json::parse(status.out, nullptr, false);
  if (!value.is_object() || !value.contains("runs")) {
    trouble = status.out + status.err;
    return states;
  }
  for (const auto& run : value.at("runs")) states[run.at("key")] = run.at("state");
  return states;
}

// The weights an undisturbed run of each key ends in.
using Expected = std::map<std::string, std::string>;

class Examiner {
 public:
  Examiner(const Scene& scene, Expected& expected, Tally& tally) : scene_(scene), expected_(expected), tally_(tally) {}

  // Holds dtctl's words against the folders, as they stand.
  void compare()
  {
    std::string trouble;
    const auto states = states_of(scene_, trouble);
    if (!trouble.empty()) note(tally_.wrong_state, "dtctl status failed: " + trouble);
    for (const auto& run : scene_.runs()) {
      const auto key = run.filename().string();
      const auto found = states.find(key);
      if (found != states.end()) compare(run, found->second);
      look_for_copies(run);
    }
  }
  // At the end: every run has succeeded.
  void demand_success(std::size_t expected)
  {
    const auto runs = scene_.runs();
    tally_.runs += static_cast<int>(runs.size());
    if (runs.size() != expected) note(tally_.lost, std::to_string(runs.size()) + " runs, not " + std::to_string(expected));
    std::string trouble;
    for (const auto& [key, state] : states_of(scene_, trouble))
      if (state != "succeeded") note(tally_.lost, key.substr(0, 10) + " is " + state + " after everything had been mended");
  }
  void note(int& column, const std::string& words)
  {
    ++column;
    std::printf("    BROKEN: %s (%s)\n", words.c_str(), scene_.home().c_str());
  }

 private:
  std::vector<RunResult> results(const fs::path& run) const
  {
    std::vector<RunResult> found;
    for (const int number : attempt_numbers(run)) {
      const AttemptFolder attempt(run, number);
      if (fenced_by(attempt)) continue;
      if (auto result = read_result(attempt)) found.push_back(std::move(*result));
    }
    return found;
  }
  void compare(const fs::path& run, const std::string& state)
  {
    const auto key = run.filename().string();
    const auto found = results(run);
    if (state == "succeeded" && found.empty())
      note(tally_.false_success, key.substr(0, 10) + " is said to have succeeded without a result");
    if (state != "succeeded" && !found.empty()) {
      // It may have ended between the question and this look.
      std::string trouble;
      if (states_of(scene_, trouble)[key] != "succeeded")
        note(tally_.wrong_state, key.substr(0, 10) + " has a result and is said to be " + state);
    }
    if (found.empty()) return;
    const auto [expected, is_new] = expected_.emplace(key, found[0].weights_hash);
    if (expected->second != found[0].weights_hash)
      note(tally_.false_success, key.substr(0, 10) + " ended in other weights than an undisturbed run");
  }
  void look_for_copies(const fs::path& run)
  {
    const auto name = run.filename().string().substr(0, 10);
    if (results(run).size() > 1) note(tally_.twice, name + " has two results");
    const auto numbers = attempt_numbers(run);
    for (const int number : numbers) {
      const AttemptFolder attempt(run, number);
      if (number != numbers.back() && read_begin(attempt) && !fenced_by(attempt))
        note(tally_.twice, name + ": attempt " + std::to_string(number) + " was taken over without a fence");
    }
  }

  const Scene& scene_;
  Expected& expected_;
  Tally& tally_;
};

void strike(const Fault& fault, const Scene& scene, int strikes, Tally& tally)
{
  for (int i = 0; i < strikes; ++i) {
    sleep_s(scene.uniform(0.05, 0.8));
    bool hit = false;
    for (int tries = 0; tries < 40 && !(hit = fault.strike(scene)); ++tries) sleep_s(0.1);
    tally.injected += hit ? 1 : 0;
  }
}

// Submits until everything has succeeded, as a user would, for at most about five minutes.
void bring_to_an_end(const Scene& scene, Examiner& examiner)
{
  for (int round = 0; round < 12; ++round) {
    scene.cluster().mend();
    scene.sweep();
    const auto wait = scene.dtctl({"status", "--follow", "all", "--timeout", "25s"}, 60);
    examiner.compare();
    if (wait.exit_code == 0) return;
    if (wait.exit_code == 124) scene.cluster().restart_slurmds();
  }
}

int play(const Fault& fault, const Cluster& cluster, const std::string& dtctl, int strikes, std::mt19937& random,
         Expected& expected, Tally& tally)
{
  const int before = tally.injected;
  const auto folder = fault.on_the_disk ? cluster.folder() / "disk" / "scene" : cluster.folder() / "scene";
  const Scene scene(cluster, dtctl, folder, fault.work, random);
  Examiner examiner(scene, expected, tally);
  Watch watch(scene.home(), fault.work.nodes);
  const bool submits_itself = fault.name.find("submi") != std::string::npos && fault.name.find("forgotten") == std::string::npos;
  if (!submits_itself) scene.sweep();
  strike(fault, scene, strikes, tally);
  bring_to_an_end(scene, examiner);
  examiner.demand_success(static_cast<std::size_t>(fault.work.runs));
  if (const auto command = watch.doubled(); !command.empty())
    examiner.note(tally.twice, "two processes worked at one attempt: " + command);
  ++tally.rounds;
  return tally.injected - before;
}

void print_table(const std::vector<Fault>& faults, const std::map<std::string, Tally>& tallies)
{
  std::printf("\n| fault | injected | runs | lost | run twice | false success | wrong state |\n|---|---|---|---|---|---|---|\n");
  Tally all;
  const auto row = [](const std::string& name, const Tally& t) {
    std::printf("| %s | %d | %d | %d | %d | %d | %d |\n", name.c_str(), t.injected, t.runs, t.lost, t.twice, t.false_success,
                t.wrong_state);
  };
  for (const auto& fault : faults) {
    const auto found = tallies.find(fault.name);
    if (found == tallies.end()) continue;
    const auto& t = found->second;
    row(fault.name, t);
    all.injected += t.injected;
    all.runs += t.runs;
    all.lost += t.lost;
    all.twice += t.twice;
    all.false_success += t.false_success;
    all.wrong_state += t.wrong_state;
  }
  row("all", all);
}

// One strike a round, of some kinds.
bool is_short(int count) { return count <= 10; }

std::vector<Fault> choose_faults(int count, std::mt19937& random)
{
  auto faults = all_faults();
  const char* only = std::getenv("ONLY_FAULT");
  std::erase_if(faults, [&](const Fault& fault) {
    if (only != nullptr) return fault.name.find(only) == std::string::npos;
    return (fault.root_only && ::getuid() != 0) || (fault.is_slow && is_short(count));
  });
  if (is_short(count)) std::shuffle(faults.begin(), faults.end(), random);
  return faults;
}

int play_and_tell(const Fault& fault, const Cluster& cluster, const std::string& dtctl, int strikes, std::mt19937& random,
                  Expected& expected, Tally& tally)
{
  const auto begin = std::chrono::steady_clock::now();
  const int hits = play(fault, cluster, dtctl, strikes, random, expected, tally);
  std::printf("%-45s %d hit, %5.1f s%s\n", fault.name.c_str(), hits,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
              tally.is_clean() ? "" : "  BROKEN");
  std::fflush(stdout);
  return hits;
}

int run(const std::string& dtctl, const std::string& script, int count, unsigned seed)
{
  const test::TemporaryFolder folder;
  const Cluster cluster(script, folder.path() / "cluster");
  std::printf("seed %u\n", seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  Expected expected;
  std::map<std::string, Tally> tallies;
  auto faults = choose_faults(count, random);
  const auto calm = [&](const Work& work) {
    play({.name = "none", .work = work}, cluster, dtctl, 0, random, expected, tallies["none"]);
  };
  calm({});
  for (const auto& work : {outlasts_a_lost_node, over_two_nodes})
    if (std::any_of(faults.begin(), faults.end(), [&](const Fault& fault) { return fault.work == work; })) calm(work);
  int injected = 0;
  for (std::size_t turn = 0; injected < count && turn < 100; ++turn)
    for (const auto& fault : faults)
      if (injected < count && (!fault.is_slow || turn % 3 == 0)) {
        const int strikes = std::min(is_short(count) ? 1 : fault.strikes, count - injected);
        injected += play_and_tell(fault, cluster, dtctl, strikes, random, expected, tallies[fault.name]);
      }
  faults.insert(faults.begin(), {.name = "none"});
  print_table(faults, tallies);
  const bool clean = std::all_of(tallies.begin(), tallies.end(), [](const auto& entry) { return entry.second.is_clean(); });
  return clean && injected >= count ? 0 : 1;
}

} // namespace

int main(int argc, char* argv[])
{
  if (argc < 4) {
    std::fprintf(stderr, "usage: inject_cluster DTCTL CLUSTER COUNT [SEED]\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::atoi(argv[3]),
               argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : std::random_device()());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "inject_cluster: %s\n", error.what());
    return 1;
  }
}
