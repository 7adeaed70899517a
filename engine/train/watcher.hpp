// Watcher: a rank's second pair of eyes. A thread of its own takes the signals that are sent to the rank and tells, when anybody
// asks, what the rank is doing, even when its main thread waits for a rank that never comes.
#pragma once

#include "engine/comm/activity.hpp"
#include "engine/train/stall.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace dt::engine {

// Whoever wants to know what all ranks do puts a new file `dump` into the attempt's folder; each rank's watcher looks for one
// every two seconds and writes states/rank-<n>. A rank that gets SIGUSR2, or a signal to stop, asks for it.
class Watcher {
public:
  struct Options {
    AttemptFolder attempt;
    int rank = 0;
    std::vector<std::string> hosts;         // of all ranks
    double stall_after_s = 0;               // on rank 0: see StallInspector; 0: never
    double tick_s = 0.5, look_every_s = 2;
    std::function<void(int)> told_to_stop{}; // by that signal; on the watcher's thread
  };
  // The signals must be held (hold_signals) and activity must outlive it.
  Watcher(const Options& options, const Activity& activity);
  // Answers what was asked last, then ends the thread.
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
  const Activity& activity_;
  std::optional<StallInspector> inspector_; // on rank 0
  std::optional<std::filesystem::file_time_type> asked_; // time of the `dump` that was answered last
  RankState seen_;                          // what the rank does, and since when
  std::int64_t seen_advances_ = -1;
  std::jthread thread_;
};

} // namespace dt::engine
