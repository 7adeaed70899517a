// The verdict on a study: what it says, in sentences.
#pragma once

#include "cli/context.hpp"
#include "store/analysis/scaling.hpp"
#include "store/analysis/verdict/verdict.hpp"
#include "store/query/queries.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct StudyVerdict {
  // "candidates": several labels at a common size, and which is the best; "scaling": one label at several sizes, and how
  // efficiency falls; "none": there is nothing to say, as of a single run.
  std::string kind;
  std::vector<std::string> sentences;     // without a full stop
  std::vector<store::Standing> standings; // of candidates: by throughput, and by time to target if all have the same
};

// `study`: null if the runs are none. `runs` are its runs and `points` its points.
StudyVerdict verdict_of(store::Database& database, const store::StudyRow* study, const std::vector<store::RunRow>& runs,
                        const std::vector<store::ScalingRow>& points);

// Prints the sentences, and for programs the object `verdict`.
void print_verdict(Context& context, const StudyVerdict& verdict);

} // namespace dt::cli
