// Stalls: who keeps a training from going on. Rank 0 notices, asks all ranks and says who has not arrived.
#pragma once

#include "core/rank_state.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dt::engine {

// Who has not arrived, among ranks (one a host name) of which some have told their state: those that have not answered or do
// something else than wait. When all wait, those whose step is behind; none when all wait at one step. Pure.
std::vector<MissingRank> missing_ranks(const std::vector<std::optional<RankState>>& states, const std::vector<std::string>& hosts);

class StallInspector {
public:
  struct Options {
    AttemptFolder attempt;
    std::vector<std::string> hosts; // of all ranks
    double after_s = 60;            // without progress it is a stall; 0: never
    double answer_s = 5;            // so long all are given to tell their state
    std::function<void()> ask{};    // asks all ranks for their states
    std::function<void(const std::string&)> say{};
  };
  explicit StallInspector(Options options);

  // Rank 0's progress at a moment of any one clock; often, from one thread. A stall is told once: in stall.json and in words; so
  // is its end. What cannot be written is left out.
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
  double advanced_s_ = -1;                // when advances_ last changed; below 0: not looked yet
  std::optional<double> asked_s_;         // while answers are awaited
  std::optional<StallRecord> told_;       // while the stall that was told lasts
};

} // namespace dt::engine
