// Compares candidates that were measured in common rounds. A round holds one run of each candidate: a repeat of a study whose
// rounds were shuffled, or of a ladder. What differs from round to round, such as a drift of the machine, is not scatter. Pure
// functions over numbers.
#pragma once

#include "store/analysis/verdict/candidate.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace dt::store {

// Of two candidates, on the scale of their values (logarithms for ratios).
struct PairTest {
  Design design = Design::independent;
  Estimate estimate{}; // a - b
  // The differences within the common rounds, and the scatter that their error is computed with (Design::paired and pooled).
  Moments differences{};
  WithinRounds within{};
  std::size_t left_out = 0; // rounds that only one of both has
};

// Additive model of runs on the scale of their values: value = candidate + round + residual. A pair is analysed in two ways, and
// the one with the smaller p value counts:
//
//   by its own runs     within rounds (paired), if the rounds of all candidates differ: an F test of the model with rounds
//   against
//                       the one without rejects at `round_level`; otherwise, or without `least_runs` common rounds, as
//                       independent samples (Welch's t)
//   by those of all     (pooled) with the variance of the residuals of all candidates, which has about (rounds - 1)(candidates -
//   1)
//                       degrees of freedom and so decides at few repeats. Only if there are three or more candidates with
//                       `least_runs` rounds, they scatter alike (Bartlett's test of their residual variances [Bartlett1937] does
//                       not reject at `alike_level`), and the variance within the pair's own differences is at most `most_own`
//                       times as large. Its p value is doubled, and its interval has half the error: the price of a second
//                       analysis
//
// Candidates need not have all rounds. Of several runs of a candidate in a round the mean counts. The limits and the price were
// chosen by simulation so that at most 5.5 % of studies of equal candidates have a false verdict, also if some scatter twice as
// much as others, and no case has less power than Welch's t (docs/benchmarks.md, scripts/benchmark-statistics).
class RoundModel {
 public:
  static constexpr double alike_level = 0.05, most_own = 1.25, round_level = 0.1, price = 2;

  // All values must be finite; `ratio` and `time_to_target`: positive, too.
  RoundModel(std::span<const Candidate> candidates, Scale scale);

  // Candidate a with candidate b, by their indices.
  PairTest test(std::size_t a, std::size_t b) const;
  // Whether the candidates share a variance, and whether rounds differ.
  bool is_pooled() const { return pooled_.has_value(); }
  bool do_rounds_differ() const { return rounds_differ_; }

 private:
  using Cells = std::vector<std::pair<std::size_t, double>>; // round and mean of its runs, by round

  void take_cells(std::span<const Candidate> candidates);
  void fit();

  Scale scale_;
  std::vector<Moments> moments_; // of all runs, by candidate
  std::vector<Cells> cells_;     // empty: not all of its runs are in rounds
  std::size_t rounds_ = 0;
  bool rounds_differ_ = false;
  std::optional<WithinRounds> pooled_;
};

} // namespace dt::store
