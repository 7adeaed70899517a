// A race of contenders over rounds: who is still in it, and who was how fast. Pure.
#pragma once

#include "engine/comm/paired_rounds.hpp"

#include <cstddef>
#include <vector>

namespace dt::engine {

class Race {
public:
  // entered: of each contender, whether it takes part; at least one does.
  explicit Race(std::vector<bool> entered);
  const std::vector<bool>& running() const { return running_; }
  std::size_t rounds() const { return rounds_; }
  // Seconds of those that are running, in their order.
  void add_round(const std::vector<double>& seconds);
  // Those that are clearly slower than the fastest leave: by a quarter with fewer than six rounds, else by a tenth.
  void drop_slow();
  // Those that are not in the mask leave, as another rank found.
  void keep(const std::vector<bool>& running) { running_ = running; }
  // Whether more rounds may tell more: there were fewer than nine (three agree by chance too often) and nobody has won yet, another one may be
  // faster than the fastest by a twelfth, or the fastest, though a twentieth faster than the first contender, may be slower than it.
  bool is_open() const;
  // Of each contender: the fastest's median times the median of the ratios to it in the rounds that both have run; 0 for who did not enter.
  std::vector<double> seconds() const;
  // Of each contender: what its time ÷ the first contender's surely does not exceed; 0 for the first and where one of both did not enter.
  std::vector<double> surely() const;

private:
  std::size_t fastest() const;
  std::vector<bool> entered_, running_;
  std::vector<std::vector<double>> times_; // of each contender, of each round; NaN: it had left
  std::size_t rounds_ = 0;
};

} // namespace dt::engine
