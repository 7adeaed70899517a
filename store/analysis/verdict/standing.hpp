// Rankings of candidates, and how far each is decided. Pure functions; cli/answers/verdict has the words.
#pragma once

#include "store/analysis/statistics/ranking.hpp"
#include "store/analysis/verdict/compared_points.hpp"
#include "store/analysis/verdict/limit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A ranking of candidates of one size by one metric, with its samples in the order of the ranking.
struct Standing {
  std::string contest; // "2 ranks"
  Metric metric = Metric::throughput;
  std::vector<Ranked> ranked;
  std::vector<Sample> samples;
  Scatter scatter;
  Rule rule;
  std::string title{}; // the contest as it is shown; empty: its name
  Limit limit{};       // if it is set, no candidate is behind
};
// The rankings of each contest's points by each metric, in this order. Their p values are adjusted together, because one verdict
// is made of them. A point without a label has the name of its size.
std::vector<Standing> standings_of(std::span<const Contest> contests, std::span<const Metric> metrics, const Rule& rule);

// The places of the candidates that may be the best: those that have runs and are not behind another one.
std::vector<std::size_t> may_be_best(const Standing& standing);

// Of a metric that needs a target: whether no run of any candidate reached it.
bool none_reached(const Standing& standing);
// Whether the candidate can be ranked: it has `least_runs` runs, or deterministic ones.
bool has_enough_runs(const Sample& sample);
std::size_t count_with_enough_runs(const Standing& standing);

// How far a ranking is decided.
enum class Outcome {
  one,             // may_be_best is one candidate
  equivalent,      // several, which are equivalent within the margin
  several,         // several, and which of them is the best is open
  none_reached,    // no run reached the target
  too_few_runs,    // fewer than two candidates have enough runs
  nothing_to_rank, // there is one candidate
  one_seed         // Standing::limit
};
Outcome outcome_of(const Standing& standing);
// Whether the candidates with enough runs were compared: `one`, `equivalent` or `several`.
bool is_ranked(Outcome outcome);
// Whether the same several candidates may be the best by both.
bool is_as_open(const Standing& one, const Standing& other);
// Whether no rank test of the first with another could have decided, so few are the runs.
bool cannot_decide(const Standing& standing);

// The first compared with the second: as Ranked::with_best of the second, which compares it with the first, turned round. None if
// they were not compared.
std::optional<Comparison> lead_over_second(const Standing& standing);

// Of Outcome::too_few_runs: the effect of the first against the second, and the smallest one that so few runs could resolve.
struct Unresolved {
  double effect, resolvable;
};
Unresolved unresolved_of(const Standing& standing);

// Why more runs of the same kind would not decide between those that may be the best (Outcome::several).
struct Hindrance {
  enum class Kind { none, confounded, no_scatter }; // no_scatter: the runs of neither differ among each other
  Kind kind = Kind::none;
  Confounded by = Confounded::no;
  std::size_t place = 0, other = 0; // of the two candidates
};
Hindrance hindrance_of(const Standing& standing);
// Whether a candidate that may be the best differs from the first by the interval of their pair alone, while p is corrected for
// all pairs.
bool differs_in_one_pair(const Standing& standing);

} // namespace dt::store
