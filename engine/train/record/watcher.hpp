// Watcher: a rank's second thread. It fetches the signals that are sent to the rank and reports on request what the rank is
// doing, even while the main thread waits for a rank that never comes.
#pragma once

#include "core/record/rank_state.hpp"
#include "engine/comm/activity.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace dt::train {

// The ranks that hold up the others. states: the answers of the ranks, hosts: one per rank. Missing are the ranks that did not
// answer or that do anything else than wait. If all wait: the ranks whose step is behind; none if all wait at the same step.
// Pure.
std::vector<MissingRank> missing_ranks(const std::vector<std::optional<RankState>>& states,
                                       const std::vector<std::string>& hosts);

// Detects stalls: rank 0 notices that the training makes no progress, asks all ranks for their state, and reports the missing
// ranks.
class StallInspector {
 public:
  struct Options {
    AttemptFolder attempt;
    std::vector<std::string> hosts; // of all ranks
    double after_s = 60;            // a stall is this long without progress; 0: never
    double answer_s = 5;            // time that the ranks have to answer
    std::function<void()> ask{};    // asks all ranks for their states
    std::function<void(const std::string&)> say{};
  };
  explicit StallInspector(Options options);

  // Call it often, from one thread, with rank 0's progress and the time of a monotonic clock. A stall is reported once, in
  // stall.json and in words, and so is its end. Write errors are ignored.
  void look(std::int64_t advances, std::int64_t step, double now_s);

 private:
  void progressed(double now_s);
  void ask(double now_s);
  void conclude(std::int64_t step, double now_s);
  std::optional<RankState> answer_of(int rank) const;
  std::vector<std::optional<RankState>> answers() const;
  void write() const;

  Options options_;
  std::int64_t advances_ = 0;
  double advanced_s_ = -1;          // time of the last change of advances_; below 0: no call yet
  std::optional<double> asked_s_;   // while answers are expected
  std::optional<StallRecord> told_; // while a reported stall lasts
};

// To ask all ranks for their state, a program puts a new file `dump` into the attempt's folder. Each rank's watcher looks for it
// every two seconds and writes states/rank-<n>. A rank that gets SIGUSR2 or a stop signal also creates `dump`.
class Watcher {
 public:
  struct Options {
    AttemptFolder attempt;
    int rank = 0;
    std::vector<std::string> hosts; // of all ranks
    double stall_after_s = 0;       // for StallInspector on rank 0; 0: never
    double tick_s = 0.5, look_every_s = 2;
    std::function<void(int)> told_to_stop{}; // called with the signal on the watcher's thread
  };
  // Signals must be blocked (hold_signals). activity must outlive the Watcher.
  Watcher(const Options& options, const comm::Activity& activity);
  // Answers the last request, then ends the thread.
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  void work(const std::stop_token& stop);
  void take(int signal);
  void observe();
  bool was_asked();
  void ask(const std::string& why);
  void answer();
  RankState state() const;

  Options options_;
  const comm::Activity& activity_;
  std::optional<StallInspector> inspector_;              // only on rank 0
  std::optional<std::filesystem::file_time_type> asked_; // time of the last answered `dump`
  RankState seen_;                                       // what the rank is doing, and since when
  std::int64_t seen_advances_ = -1;
  std::jthread thread_;
};

} // namespace dt::train
