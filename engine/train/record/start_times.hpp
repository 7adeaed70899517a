// StartTimes: the phases between the launch of the ranks and the end of the first step, as this rank saw them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dt::train {

class StartTimes {
 public:
  // launched_unix_s: when the launcher began; the first phase began then. now_s is the clock to read; tests pass another one.
  explicit StartTimes(double launched_unix_s, double (*now_s)());
  // Begins at $DTCTL_LAUNCH_UNIX_S, which `dtjob launch` sets. Without it (ranks of other hosts, a rank started by hand) it
  // begins now.
  StartTimes();

  // Ends a phase. It began where the last one ended.
  void end(const char* phase);
  // Seconds since the launch, up to the end of the last phase.
  double total_s() const { return last_s_ - begin_s_; }
  // "0.312 s: launch 0.101, MPI 0.057, network 0.020"
  std::string words() const;

 private:
  double (*now_s_)();
  double begin_s_, last_s_;
  std::vector<std::pair<std::string, double>> phases_; // name, seconds
};

} // namespace dt::train
