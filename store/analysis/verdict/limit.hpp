// What keeps a verdict from saying what its interval seems to show: the runs do not hold all the scatter that decides.
#pragma once

#include "store/analysis/doubts/separation.hpp"
#include "store/analysis/statistics/between_studies.hpp"
#include "store/analysis/verdict/metric.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

struct Limit {
  enum class Kind {
    none,
    one_seed, // all repeats trained with one seed: the scatter of the training is not in them
    apart     // the sides were measured apart: what changes from study to study is not in them
  };
  Kind kind = Kind::none;
  std::string why{};    // "all repeats trained with one seed, so …"
  std::string remedy{}; // "give study.vary_seed: true"
  bool is_set() const { return kind != Kind::none; }
};

// The name for programs: "one-seed", "apart"; empty for none.
std::string_view name_of(Limit::Kind kind);

// Of accuracies and times to target: set if one of the samples has several runs, all with one seed.
Limit limit_of_seeds(Metric metric, std::span<const Sample* const> samples);

// Why a difference of two sides may be none of theirs, as the end of a sentence about them ("were measured on different nodes, so
// that …"), and what to do. Empty for Confounded::no.
struct Confounding {
  std::string why, remedy;
};
Confounding words_about(Confounded by);

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

// Of times to target that are compared by ranks and were measured apart: a rank has no interval that could be widened.
Limit limit_of_ranks();

} // namespace dt::store
