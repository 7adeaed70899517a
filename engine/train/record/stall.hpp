// Detects stalls: rank 0 notices that the training makes no progress, asks all ranks for their state, and reports the missing
// ranks.
#pragma once

#include "core/record/rank_state.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dt::train {

// The ranks that hold up the others. states: the answers of the ranks, hosts: one per rank. Missing are the ranks that did not
// answer or that do anything else than wait. If all wait: the ranks whose step is behind; none if all wait at the same step.
// Pure.
std::vector<MissingRank> missing_ranks(const std::vector<std::optional<RankState>>& states,
                                       const std::vector<std::string>& hosts);

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

} // namespace dt::train
