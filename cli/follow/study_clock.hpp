// StudyClock: how fast the runs that dtctl follows are, and how long all of them will still take.
#pragma once

#include "cli/follow/remaining_time.hpp"
#include "cli/output/pace.hpp"
#include "cli/runs/results_store.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// A run whose attempt has succeeded.
struct FinishedRun {
  std::string key;
  int attempt = 0;
};

class StudyClock {
 public:
  // `earlier` are runs of the same study that are not followed, because they had finished before. most_runs is the limit of
  // --max-jobs; 0: none.
  StudyClock(Home home, std::vector<FinishedRun> earlier, std::int64_t most_runs);

  // Call this after every look. Gives the running runs their recent rate and the samples of a step (RunView::steps_per_s,
  // row.global_batch).
  void look(std::vector<RunView>& runs);

  // Estimated seconds until all runs have ended; see study_remaining_s. NaN if there is no estimate.
  double remaining_s(const std::vector<RunView>& runs, double now_unix_s);

 private:
  // The figures of a run that its recipe decides.
  struct Facts {
    std::string label; // without the size
    std::int64_t nodes = 1, ranks = 1, cores = 1;
    std::int64_t samples_per_step = 0; // 0: simulated, or a program of the user, which alone knows it
    bool takes_machine = false;        // its job takes all cores of this machine
  };
  const Facts& facts_of(const std::string& key);
  double wall_s_of(const std::string& key, int attempt);
  std::optional<TimedRun> timed(const RunView& run, double now_unix_s);
  TimedRun sized(const std::string& key);
  TimedRun finished(const std::string& key, int attempt);
  std::int64_t places_of(const std::string& key, const QueueRoom& room);
  bool has_finished(const std::vector<RunView>& runs) const;
  QueueRoom room_for(const std::vector<RunView>& runs, bool on_cluster) const;

  Home home_;
  std::vector<FinishedRun> earlier_;
  std::int64_t most_runs_;
  std::map<std::string, Facts> facts_;
  std::map<std::string, double> walls_; // of attempts that succeeded
  std::map<std::string, Pace> paces_;
};

} // namespace dt::cli
