// Watcher: a rank's second thread. It fetches the signals that are sent to the rank and reports on request what the rank is
// doing, even while the main thread waits for a rank that never comes.
#pragma once

#include "engine/comm/activity.hpp"
#include "engine/train/record/stall.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace dt::train {

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
