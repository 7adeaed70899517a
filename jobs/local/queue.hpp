// The local queue's files; there is no daemon behind them.
//
//   <home>/local/queue.lock          held while jobs are added, and by a supervisor while it decides that it may leave
//   <home>/local/last_id             the number given out last
//   <home>/local/<host>/queue/*.json a job that has not ended: <number>-<cores>-<token>.json, in order of submission
//   <home>/local/<host>/supervisor.lock, supervisor.log, trouble
//
// A job is in the queue from its submission until its end was dealt with. Whether it runs is not written here: the attempt's
// owner.json tells (owner.hpp). So no two files can contradict each other, at whatever moment a process is killed.
#pragma once

#include "core/file.hpp"
#include "core/paths.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::local {

// What the supervisor needs to start a job as if from the shell it was submitted in.
struct Ticket {
  std::string name; // the run's key
  std::string token;
  std::filesystem::path attempt; // the attempt's folder
  std::int64_t cores = 1;
  std::vector<int> allowed_cores; // the submitter's mask
  std::int64_t time_limit_s = 0;
  std::int64_t signal_ahead_s = 0; // so long before the limit it is told to write a checkpoint and to stop; 0: it is not told
  std::filesystem::path working_folder;
  std::map<std::string, std::string> environment;
  std::string group;                // of the jobs that were submitted with it
  std::int64_t max_running = 0;     // most of the group that run at the same time; 0: any number
  std::vector<std::int64_t> after;  // numbers of jobs that must have left the queue before it starts
};

// What a queue file's name tells.
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
  // Folder of this host's supervisor.
  const std::filesystem::path& folder() const { return folder_; }
  // Makes the folders. An environment error when the home cannot be written.
  void make();

  // Keeps other writers out. Hold it around add(), and while deciding that nothing is left to do.
  FileLock lock() const { return FileLock::acquire(root_ / "queue.lock"); }
  std::optional<FileLock> try_lock() const { return FileLock::try_acquire(root_ / "queue.lock"); }
  // The first of `count` numbers in a row that were never given out. Under lock().
  std::int64_t reserve_numbers(std::size_t count);
  void add(std::int64_t number, const Ticket& ticket);

  // This host's jobs, or those of all hosts that share the home, in order of number.
  std::vector<QueueEntry> list() const { return list_host(folder_); }
  std::vector<QueueEntry> list_all_hosts() const;
  // Nothing when the file is gone or unreadable.
  std::optional<Ticket> read(const QueueEntry& entry) const;
  void remove(const QueueEntry& entry) const;

  std::filesystem::path supervisor_lock() const { return folder_ / "supervisor.lock"; }
  std::filesystem::path supervisor_log() const { return folder_ / "supervisor.log"; }
  // Why the next job could not be started, in a sentence; blank or absent when all is well.
  std::filesystem::path trouble() const { return folder_ / "trouble"; }

 private:
  std::vector<QueueEntry> list_host(const std::filesystem::path& folder) const;

  std::filesystem::path root_, folder_;
};

} // namespace dt::jobs::local
