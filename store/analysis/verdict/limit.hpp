// What keeps a verdict from saying what its interval seems to show: the runs do not hold all the scatter that decides.
#pragma once

#include "store/analysis/doubts/separation.hpp"
#include "store/analysis/statistics/between_studies.hpp"
#include "store/analysis/verdict/metric.hpp"

#include <cstddef>
#include <span>

namespace dt::store {

struct Limit {
  enum class Kind {
    none,
    one_seed, // all repeats trained with one seed: the scatter of the training is not in them
    // The sides were measured apart, and what changes from study to study is not in them. Studies of the same work would tell how
    // far such studies differ by chance, but
    one_study,   // the sides are of one study, which can be measured again in rounds
    unlike,      // the kinds of machine differ or are not known, or the times are not known
    few_studies, // there are only so many `studies`
    near,        // those `studies` lie within `longest_s`, nearer than the sides
    same_hosts,  // those `studies` ran on the same hosts, and the sides did not
    by_ranks     // the comparison is a test by ranks: a rank has no interval that could be widened
  };
  Kind kind = Kind::none;
  Separation separation{}; // of the sides that were measured apart
  std::size_t studies = 0;
  double longest_s = 0;
  bool is_set() const { return kind != Kind::none; }
  bool is_apart() const { return kind > Kind::one_seed; }
};

// Of accuracies and times to target: set if one of the samples has several runs, all with one seed.
Limit limit_of_seeds(Metric metric, std::span<const Sample* const> samples);

// Two studies that were measured apart, and what studies of the same works tell about the scatter between such studies.
struct Apart {
  BetweenStudies between{};
  Gate gate{};   // known if A is judged by the studies of the reference's work
  Limit limit{}; // not set if the scatter between studies is known
};
// The repetitions count only if they reach as far in time as the sides lie apart and, if the sides ran on different hosts, over
// different hosts too; and never if the sides ran on different processors. Within one study they tell nothing: it can be measured
// again in rounds.
// is_gate: B is the reference by which A is judged.
Apart apart_of(const Separation& separation, const Repetitions& repetitions, bool is_gate = false);

} // namespace dt::store
