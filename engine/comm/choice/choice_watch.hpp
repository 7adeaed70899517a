// ChoiceWatch: observes the sums of a run and changes the selection when sums are slower than predicted. It does not communicate:
// the caller makes the observed numbers equal on all ranks, so all ranks decide alike.
#pragma once

#include "engine/comm/choice/allreduce_timings.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::comm {

// After some steps the watch makes a "look". It uses, for each step, (seconds waited for sums) ÷ (seconds predicted), and takes
// the minimum over the ranks, because the last rank to arrive waits for no other rank. If the median over the steps is above 1.3,
// a trial begins for the choice that lost the most time against its prediction. The contenders are the first algorithm
// (plain MPI on a real machine) and the algorithms whose prediction is below the observed time; each round of the trial has one
// step per contender. The fastest contender that beats the chosen algorithm by 5% with confidence replaces it. Otherwise the
// first algorithm replaces it if its median was faster; otherwise nothing changes. From then on predictions are scaled to the
// observed times, but never below the timings. The pause between trials doubles.
class ChoiceWatch {
 public:
  static constexpr std::size_t steps_a_look = 16, rounds = 7, most_contenders = 4, first_pause = 64;

  ChoiceWatch(AllreduceTimings timings, std::vector<AllreduceChoice> choices);
  // Index of the algorithm to use now for a sum of `bytes` bytes.
  std::size_t algorithm_for(std::size_t bytes) const;
  // Registers a sum of the current step. Collective in effect: all ranks must register the same sums.
  void expect_sum(std::size_t bytes);
  // Adds the seconds that this rank spent in, or waited for, a sum of `bytes` bytes.
  void waited(std::size_t bytes, double seconds);
  // Ends a step, after its sums are complete. If it returns true, the caller must replace each number of seen() by its minimum
  // over all ranks and then call look().
  bool end_step();
  std::span<double> seen() { return seen_; }
  void look();

  // The algorithms in the current trial, the chosen one first. Empty: no trial.
  const std::vector<std::size_t>& contenders() const { return contenders_; }
  const AllreduceTimings& timings() const { return timings_; }
  const std::vector<AllreduceChoice>& choices() const { return choices_; }
  // "step 48: sums of 9.5 MiB by tree took 2.90 times as long as predicted; tree 1.39 s, mpi 498 ms, ring 180 ms; ring from now
  // on".
  const std::vector<std::string>& changes() const { return changes_; }
  // "1.04 times what was predicted, in the median of steps 33 to 48"; empty before the first look.
  const std::string& last_look() const { return last_look_; }

 private:
  struct Share { // totals of the sums of one choice since the last look
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
  std::vector<double> corrections_; // for each choice: observed ÷ predicted time, since the last trial
  std::vector<Share> shares_;
  double expected_s_ = 0, waited_s_ = 0; // totals of the current step
  // waited ÷ expected time of each step since the last look; at a look, followed by one value per choice
  std::vector<double> seen_;
  std::size_t steps_ = 0, rest_until_ = 0, pause_ = first_pause;

  std::vector<std::size_t> contenders_;
  std::size_t tried_choice_ = 0;
  std::size_t tried_bytes_ = 0;
  double trial_seen_ = 0; // the ratio that started the trial

  std::vector<std::string> changes_;
  std::string last_look_;
};

} // namespace dt::comm
