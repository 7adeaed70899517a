// Runs the two sides of a comparison again, in the shuffled rounds of one study, so that what changes from hour to hour and from
// node to node meets both alike.
#pragma once

#include "cli/runs/compared_side.hpp"
#include "core/error.hpp"
#include "core/spec/run_key.hpp"
#include "store/analysis/verdict/compared_points.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dt::cli {

// The runs of a point, as they were planned, by repeat.
using PlannedPoint = std::vector<PlannedRun>;

// Points that are run against each other. The runs of `a` get the label "side=A", those of `b` "side=B".
struct PlannedPair {
  PlannedPoint a, b;
};

// The runs of the pairs again, in order of submission: rounds, each with every point of every pair once, in random order. There
// are as many rounds as the longest point has runs, and at least three. Round k repeats run k of each point, with its seed; the
// rounds beyond the runs of a point have further seeds if its runs differ in theirs. The repeat number of a round is
// first_repeat + k. `name`: of the study.
std::vector<PlannedRun> in_rounds(std::span<const PlannedPair> pairs, std::int64_t first_repeat, const std::string& name);

struct AgainstNow {
  ExitCode code = ExitCode::ok; // other than ok and runs_failed: not all runs could be submitted, and the sides are empty
  std::string study;            // id of the study
  ComparedSide a, b;            // its runs, with the labels of those that they repeat
};

// Submits the succeeded runs of the matched points again, as one study, and waits for them. A call that was interrupted while
// they ran is continued by the next one. `by`: as side_of. Throws a usage error if a run cannot be run again (planned_again), or
// if A and B do the same work.
AgainstNow run_against_now(Context& context, ResultsStore& results, const ComparedSide& a, const ComparedSide& b,
                           const store::Matching& matching, const std::string& by);

} // namespace dt::cli
