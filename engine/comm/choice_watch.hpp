// Watches the sums that happen anyway, and reconsiders a choice whose sums are slower than predicted. No communication: the caller makes
// the ranks' numbers one, and so all ranks decide alike.
#pragma once

#include "engine/comm/allreduce_timings.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// A look, after some steps: the seconds that a step waited for its sums ÷ those predicted, of each step the least of all ranks (the last one
// to come waits for nobody). When the median is above 1.3, the choice whose sums took the most seconds beyond the predicted ones is tried
// against others for some rounds, in each a step with every contender: plain MPI (the first algorithm) and what is predicted to be faster than the
// sums were seen. The fastest of those that surely beat the chosen one by 5% becomes the choice; else plain MPI, where it was faster at all;
// else all stays. What was seen is what is predicted from then on, but never less than the timings say. Trials become rarer.
class ChoiceWatch {
public:
  static constexpr std::size_t steps_a_look = 16, rounds = 7, most_contenders = 4, first_pause = 64;

  ChoiceWatch(AllreduceTimings timings, std::vector<AllreduceChoice> choices);
  // Index of the algorithm that sums so many bytes now.
  std::size_t algorithm_for(std::size_t bytes) const;
  // A sum of this step. Equal on all ranks.
  void expect_sum(std::size_t bytes);
  // Seconds that this rank spent in a sum of so many bytes, or waited for it.
  void waited(std::size_t bytes, double seconds);
  // The step's sums are complete. True: seen() must become, number by number, the least of all ranks', and then look() be called.
  bool end_step();
  std::span<double> seen() { return seen_; }
  void look();

  // Algorithms on trial, the chosen one first; empty: no trial.
  const std::vector<std::size_t>& contenders() const { return contenders_; }
  const AllreduceTimings& timings() const { return timings_; }
  const std::vector<AllreduceChoice>& choices() const { return choices_; }
  // "step 48: sums of 9.5 MiB by tree took 2.9 times as long as predicted; tree 1.39 s, mpi 498 ms, ring 180 ms; ring from now on".
  const std::vector<std::string>& changes() const { return changes_; }
  // "1.04 times what was predicted, in the median of steps 33 to 48"; empty before the first look.
  const std::string& last_look() const { return last_look_; }

private:
  struct Share { // of one choice in the sums since the last look
    double expected_s = 0, waited_s = 0, bytes = 0;
    std::size_t sums = 0;
  };
  double expected_s(std::size_t choice, std::size_t algorithm, std::size_t bytes) const;
  std::size_t most_beyond_prediction(std::span<const double> seen) const;
  void begin_trial(std::size_t choice, double seen);
  void end_trial();
  std::size_t winner(const std::vector<std::vector<double>>& seen) const;

  AllreduceTimings timings_;
  std::vector<AllreduceChoice> choices_;
  std::vector<double> corrections_; // of each choice: seen ÷ predicted, since the last trial
  std::vector<Share> shares_;
  double expected_s_ = 0, waited_s_ = 0; // of the step in progress
  std::vector<double> seen_;             // waited ÷ expected, of the steps since the last look; at a look, of each choice behind them
  std::size_t steps_ = 0, rest_until_ = 0, pause_ = first_pause;

  std::vector<std::size_t> contenders_;
  std::size_t tried_choice_ = 0;
  std::size_t tried_bytes_ = 0;
  double trial_seen_ = 0; // that began it

  std::vector<std::string> changes_;
  std::string last_look_;
};

} // namespace dt::engine
