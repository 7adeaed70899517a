// Compares candidates that were measured in common rounds. A round holds one run of each candidate: a repeat of a study whose
// rounds were shuffled, or of a ladder. What differs from round to round, such as a drift of the machine, is not scatter. Pure
// functions over numbers.
#pragma once

#include "store/analysis/statistics/candidate.hpp"

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
  Moments a{}, b{};    // as Comparison::a and b
  WithinRounds within{};
  std::size_t left_out = 0; // rounds that only one of both has
  double p() const;         // two-sided, with its price
};

// How the candidates of one size of a study scatter, on the scale of their values.
struct SizeScatter {
  // Over the candidates that have enough rounds: the sum of their variances, the number of candidates, and the sum of the degrees
  // of freedom of their variances.
  double variances = 0, candidates = 0, freedom = 0;
  // Bartlett's statistic of their residuals and its degrees of freedom; 0 with fewer than three candidates.
  double unlikeness = 0, unlikeness_freedom = 0;
};

// Additive model of runs on the scale of their values: value = candidate + round + residual. A pair of candidates is analysed
// with the first of these designs that it allows:
//
//   pooled        Student's t on the differences within their common rounds, with a variance V that the residuals of all
//                 candidates give, whose degrees of freedom decide at few repeats. Only if there are three or more candidates
//                 with `least_runs` rounds, and either the pair has at most `few_runs` common rounds or Bartlett's test of the
//                 residual variances [Bartlett1937] does not reject at `unlike_level`. Residuals say nothing about differences
//                 between candidates, so neither this choice nor V has a price
//   paired        in ladders, which are planned for this: Student's t on the differences within at least `least_runs` common
//                 rounds, with their own variance
//   independent   Welch's t; or paired, if its p value is below that of Welch's t even when multiplied by `paired_price`. (The
//                 error of its interval is divided by this price.)
//
// V lies between the mean residual variance u of all c candidates and the pair's own W, according to how unlike the candidates
// are. With Bartlett's statistic B and its degrees of freedom f_B, a pair in n rounds, and the residual mean squares s²:
//
//   V = w W + (1 - w) u,                            1/freedom = w/f_W + (1 - w)/f_u,  f_u about (n - 1)(c - 1)
//   W = ((c - 1)(s²_a + s²_b)/2 - u)/(c - 2),       f_W = 2 (n - 1)(c - 2)/(c - 1)
//   w = 1 - f_B/B, or 1 - `larger_needs` f_B/B if W > u; at least 0
//
// W is free of what other candidates leave in the residuals of a and b. w is the credibility of W [Buhlmann1967]: B is about f_B
// if all scatter alike. A larger variance is believed sooner, because it guards against a false verdict.
//
// Where all sizes of a study together have three or more candidates in rounds, a candidate's variance in Welch's t is averaged
// with the mean variance of all if it has at most `few_runs` runs, because a few runs can be alike by chance. The mean variance
// counts as `prior_freedom` degrees of freedom.
//
// One model holds the candidates of one size. `judge_with` lets all sizes of a study decide together how unlike the candidates
// are (Bartlett's statistics and their degrees of freedom are added) and what the mean variance is, so that two candidates at two
// sizes are three or more, too. Nothing changes if the mean variances of the sizes differ (Bartlett's test of them rejects at
// `alike_sizes_level`): the scatter of a large cluster says nothing about that of one node.
//
// Candidates need not have all rounds. Of several runs of a candidate in a round the mean counts. Limits and prices were chosen
// by simulation (docs/validation.md, scripts/measure statistics).
class RoundModel {
 public:
  static constexpr double unlike_level = 0.05, larger_needs = 0.65, paired_price = 5, few_runs = 5, prior_freedom = 2,
                          alike_sizes_level = 0.01;

  // All values must be finite; `ratio` and `time_to_target`: positive, too.
  RoundModel(std::span<const Candidate> candidates, Scale scale);

  // Candidate a with candidate b, by their indices.
  PairTest test(std::size_t a, std::size_t b) const;
  const SizeScatter& scatter() const { return scatter_; }
  // Judges the scatter by all sizes of the study, of which this model is one.
  void judge_with(std::span<const SizeScatter> sizes);

 private:
  using Cells = std::vector<std::pair<std::size_t, double>>; // round and mean of its runs, by round

  void take_cells(std::span<const Candidate> candidates);
  void fit();
  // Chooses variances and designs by this scatter.
  void judge(const SizeScatter& scatter);
  // The scatter around a and b in so many common rounds, by the residuals of all candidates (V above).
  WithinRounds pooled(std::size_t a, std::size_t b, double rounds) const;
  // The variance of `count` runs, averaged with `mean` if they are few.
  static double steadied(double variance, double count, double mean);

  Scale scale_;
  std::vector<Moments> measured_; // of all runs, by candidate
  std::vector<Moments> moments_;  // the same with steadied variances, for Welch's t
  std::vector<bool> in_ladder_;   // by candidate: its rounds are those of a ladder
  std::vector<Cells> cells_;      // empty: not all of its runs are in rounds
  std::size_t rounds_ = 0;
  std::vector<std::size_t> fitted_;      // candidates with enough rounds
  SizeScatter scatter_;                  // of this size
  std::optional<WithinRounds> residual_; // of three or more candidates
  std::vector<double> residual_squares_; // mean squares by candidate, if there is residual_
  double unlikeness_ = 1;                // Bartlett's statistic by its degrees of freedom, of all sizes: about 1 if all are alike
  bool is_unlike_ = false;               // Bartlett's test rejects
};

} // namespace dt::store
