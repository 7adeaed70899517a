// RankChannels: by what the ranks on this host can exchange anything, as /proc tells: for programs whose own process does not
// say.
#pragma once

#include "jobs/program/reports/report_lines.hpp"

#include <optional>
#include <span>
#include <vector>

#include <sys/types.h>

namespace dt::jobs {

// One look at the processes of each rank and all that descend from them. some: two ranks have a connection or share memory. none:
// they have neither that nor anything else that leads to another process. unknown: they have, for example a connection to another
// host, or cannot be looked into. Nothing if a rank has ended.
std::optional<Exchange> channels_between(std::span<const pid_t> ranks);

class RankChannels {
 public:
  explicit RankChannels(std::vector<pid_t> ranks) : ranks_(std::move(ranks)) {}
  // Looks now, or if the last look is older than a tenth of the time watched, at most five seconds. Before the training has begun
  // a program may still connect its ranks.
  void look(bool is_training);
  // none: nothing was seen in at least two looks at the training.
  Exchange seen() const;

 private:
  std::vector<pid_t> ranks_;
  bool has_channel_ = false, has_other_ = false;
  int looks_ = 0; // at the training
  double first_s_ = 0, next_s_ = 0;
};

} // namespace dt::jobs
