// Candidates that are compared with each other by the same metric. Pure functions over numbers.
#pragma once

#include "store/analysis/statistics/round_model.hpp"

#include <span>
#include <vector>

namespace dt::store {

// The p values of a comparison of A with B, and which is the better one by its effect.
struct PairP {
  PairOfP p;
  bool a_is_better = false;
  // Both are deterministic: there is no p value, the effect is known, and it may lie within the margin.
  bool is_exact = false, is_equivalent = false;
};

// Compares any two of the candidates:
//
//   both are exact, and all runs of each are equal   compare_exact
//   time_to_target with a miss                       the rank test of compare_times_to_target
//   all others                                       RoundModel of all candidates: within rounds, or as independent samples
//
// Of times, smaller ones are better, whatever rule.better says. The candidates outlive the set.
class CandidateSet {
 public:
  // Throws Error (internal) for a value that the scale does not have.
  CandidateSet(std::span<const Candidate> candidates, Scale scale);

  // Candidate a with candidate b, by their indices.
  Comparison compare(std::size_t a, std::size_t b, Rule rule) const;
  // No p values if one of them has no run, or if their difference is confounded with the time or the nodes.
  PairP test(std::size_t a, std::size_t b, Rule rule) const;

  const SizeScatter& scatter() const { return model_.scatter(); }
  // As RoundModel::judge_with.
  void judge_with(std::span<const SizeScatter> sizes) { model_.judge_with(sizes); }

 private:
  Method method() const { return scale_ == Scale::difference ? Method::difference : Method::ratio; }
  bool needs_ranks(std::size_t a, std::size_t b) const;
  bool are_exact(std::size_t a, std::size_t b) const { return is_exact_[a] && is_exact_[b]; }

  std::span<const Candidate> candidates_;
  Scale scale_;
  std::vector<bool> has_miss_, is_exact_;
  RoundModel model_; // of the candidates without misses
};

// Compares A with B alone, as a CandidateSet of both does.
Comparison compare_candidates(const Candidate& a, const Candidate& b, Scale scale, Rule rule);

} // namespace dt::store
