// A private Slurm and the real dtctl, engine and mpirun on it. A test has both for itself, gone with the object.
#pragma once

#include "core/record/run_record.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace dt::test {

// tests/cluster/cluster, started with options of its own in a folder of its own. Fails the test when it does not start.
class Cluster {
 public:
  explicit Cluster(const Words& options = {});
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster();

  // A verb of the script, such as {"kill-slurmd", "node1"}; fails the test when the verb fails.
  void hurt(const Words& verb) const;
  // A Slurm command against this cluster, at most 20 s; its output, trimmed.
  std::string slurm(const Words& command) const;
  // What dtctl needs to find cluster and profile: "NAME=value" each.
  Words environment() const;

  std::filesystem::path folder() const { return folder_.path() / "cluster"; }
  std::filesystem::path configuration() const { return folder() / "etc" / "slurm.conf"; }

 private:
  CommandResult call(const Words& verb, double timeout_s) const;
  TemporaryFolder folder_;
};

// Options of a cluster on which a requeued job starts again soon: Slurm waits until the job's credentials have expired.
inline const Words soon_again{"--set", "AuthInfo=socket=%f/munge/socket,cred_expire=5"};

// dtctl as a user of that cluster calls it.
class ClusterUser {
 public:
  explicit ClusterUser(const Cluster& cluster) : cluster_(cluster) {}
  // All jobs of the cluster end with it; only the recipe's file and the home are this object's.
  CommandResult run(const Words& words) const { return dtctl_.run(words, cluster_.environment()); }
  Json json(const Words& words) const { return dtctl_.json(words, cluster_.environment()); }
  // `dtctl sweep` of a recipe with that text on the profile `cluster`; more words as given. Fails the test when the exit code is
  // another one.
  Json sweep(const std::string& recipe, const Words& more = {}, int exit_code = 0) const;
  CommandResult try_sweep(const std::string& recipe, const Words& more = {}) const;
  // Starts `dtctl words…` and does not wait.
  pid_t start(const Words& words) const;

  Json states() const { return json({"status", "all"}).at("states"); }
  // The runs of `dtctl status`, in the order it prints them.
  Json runs() const { return json({"status", "all"}).at("runs"); }
  // `dtctl status --follow --quiet` until every run has ended; its exit code.
  int wait(int timeout_s = 90) const;
  // True when every run has that state before the time is over.
  bool reach(const std::string& state, std::size_t count, int timeout_s = 60) const;
  // Waits until `count` runs are training; false when they are not within a minute.
  bool train(std::size_t count) const;

  // Folders of all runs, sorted by key, and the attempts of a run.
  std::vector<std::filesystem::path> run_folders() const;
  const Dtctl& dtctl() const { return dtctl_; }

 private:
  const Cluster& cluster_;
  Dtctl dtctl_;
};

// Trains for about a second (`steps` small) or until it is stopped (large), on synthetic images.
std::string cluster_recipe(std::int64_t steps, const std::string& more = "");
constexpr std::int64_t a_moment = 40, for_ever = 100'000'000;

// The newest attempt of a run, and its first result, whichever attempt wrote it.
AttemptFolder newest_attempt(const std::filesystem::path& run);
std::vector<RunResult> results_of(const std::filesystem::path& run);

// Numbers of the Slurm jobs that the newest attempts were given, each once: "12_3" and "12_4" are of job 12.
std::set<std::string> slurm_jobs(const ClusterUser& user);

// True when a rank of the run has done a step.
bool is_training(const std::filesystem::path& run);

// Processes of dtengine that work in that folder.
std::vector<pid_t> engines_in(const std::filesystem::path& folder);

// Holds all folders of the home against what may never be: a run with two results, or an attempt with begin but no end that is
// neither fenced nor the newest.
void check_nothing_ran_twice(const ClusterUser& user);

} // namespace dt::test
