// Race: several contenders timed over rounds; tracks who is still running and how fast each was. Pure.
#pragma once

#include "engine/comm/choice/paired_rounds.hpp"

#include <cstddef>
#include <vector>

namespace dt::comm {

class Race {
 public:
  // entered[c]: whether contender c takes part. At least one must.
  explicit Race(std::vector<bool> entered);
  const std::vector<bool>& running() const { return running_; }
  std::size_t rounds() const { return rounds_; }
  // The seconds of the running contenders, in their order.
  void add_round(const std::vector<double>& seconds);
  // Removes contenders that are clearly slower than the fastest: by 25% in the first five rounds, later by 10%.
  void drop_slow();
  // Removes the contenders that are not in the mask, which another rank computed.
  void keep(const std::vector<bool>& running) { running_ = running; }
  // Whether more rounds are useful: (a) there were fewer than nine rounds and several contenders run, because three rounds agree
  // by chance too often; or (b) another contender may be faster than the fastest by 8%; or (c) the fastest leads the first
  // contender by more than 5%, but may still be slower than it.
  bool is_open() const;
  // For each contender: the fastest contender's median time, multiplied by the median ratio to it over the rounds that both ran.
  // 0 for a contender that did not enter.
  std::vector<double> seconds() const;
  // For each contender: the upper confidence limit of its time ÷ the first contender's time. 0 for the first contender, and where
  // one of the two did not enter.
  std::vector<double> ratio_limits() const;

 private:
  std::size_t fastest() const;
  std::vector<bool> entered_, running_;
  std::vector<std::vector<double>> times_; // [contender][round]; NaN: the contender had left
  std::size_t rounds_ = 0;
};

} // namespace dt::comm
