// The files of the local queue. No daemon serves them.
//
//   <home>/local/queue.lock          held while jobs are added, and while a supervisor decides whether it may exit
//   <home>/local/last_id             the last number that was given out
//   <home>/local/<host>/queue/*.json a job that has not ended: <number>-<cores>-<token>.json, in order of submission
//   <home>/local/<host>/supervisor.lock, successor.lock, supervisor.log, trouble
//
// A job is in the queue from its submission until its end was handled. Whether it runs is recorded only in the attempt's
// owner.json (core/record/attempt/claim.hpp), so that no two files can contradict each other after a process was killed.
#pragma once

#include "core/files/file.hpp"
#include "core/home/home.hpp"
#include "core/machine/surroundings.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::local {

// Everything that the supervisor needs to start a job as from the shell of its submission.
struct Ticket {
  std::string name; // the run's key
  std::string token;
  std::filesystem::path attempt; // the attempt's folder
  std::int64_t cores = 1;
  std::vector<int> allowed_cores; // the submitter's affinity mask
  std::int64_t time_limit_s = 0;
  // How long before the limit dtjob asks the run to write a checkpoint and stop. 0: no signal.
  std::int64_t signal_ahead_s = 0;
  std::int64_t when_idle_s = 0; // longest wait for a quiet machine; 0: none
  std::filesystem::path working_folder;
  std::map<std::string, std::string> environment;
  std::optional<Surroundings> surroundings; // niceness, umask and limits of the submitter
  std::string group;                        // common to all jobs of one submission
  std::int64_t max_running = 0;             // how many jobs of the group may run at once; 0: no limit
  std::vector<std::int64_t> after;          // numbers of jobs that must leave the queue before this job starts
};

// The parts of a queue file's name.
struct QueueEntry {
  std::int64_t number = 0;
  std::int64_t cores = 0;
  std::string token;
  std::string host;
  std::filesystem::path path;
  std::string job_id() const { return "local-" + std::to_string(number); }
};

class Queue {
 public:
  explicit Queue(const Home& home);
  bool exists() const;
  // The folder of this host's supervisor.
  const std::filesystem::path& folder() const { return folder_; }
  // Makes the folders. Throws an environment error if the home cannot be written.
  void make();

  // Excludes other writers. Hold it around add(), and while deciding that no work is left.
  FileLock lock() const { return FileLock::acquire(root_ / "queue.lock"); }
  std::optional<FileLock> try_lock() const { return FileLock::try_acquire(root_ / "queue.lock"); }
  // Reserves `count` consecutive numbers that were never given out, and returns the first. Requires lock().
  std::int64_t reserve_numbers(std::size_t count);
  void add(std::int64_t number, const Ticket& ticket);

  // Jobs of this host, or of all hosts that share the home, ordered by number.
  std::vector<QueueEntry> list() const { return list_host(folder_); }
  std::vector<QueueEntry> list_all_hosts() const;
  // Returns nothing if the file does not exist or is damaged.
  std::optional<Ticket> read(const QueueEntry& entry) const;
  void remove(const QueueEntry& entry) const;

  std::filesystem::path home_root() const { return root_.parent_path(); }
  // Its content: the surroundings of the supervisor that has it.
  std::filesystem::path supervisor_lock() const { return folder_ / "supervisor.lock"; }
  // Held by a supervisor that waits until the present one leaves, because it can give jobs more.
  std::filesystem::path successor_lock() const { return folder_ / "successor.lock"; }
  std::filesystem::path supervisor_log() const { return folder_ / "supervisor.log"; }
  // One sentence that says why the next job could not be started; blank or absent if there is no problem.
  std::filesystem::path trouble() const { return folder_ / "trouble"; }

 private:
  std::vector<QueueEntry> list_host(const std::filesystem::path& folder) const;

  std::filesystem::path root_, folder_;
};

} // namespace dt::jobs::local
