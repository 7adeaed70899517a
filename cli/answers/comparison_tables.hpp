// Tables of comparisons and rankings.
#pragma once

#include "cli/output/cell.hpp"
#include "store/analysis/verdict/judged.hpp"
#include "store/analysis/verdict/standing.hpp"

#include <vector>

namespace dt::cli {

// Columns: point, A, B, runs, effect with its interval, verdict. One row per comparison, all by the same metric.
Table comparison_table(const std::vector<store::Judged>& comparisons);

// Columns: candidate, runs, value, its ratio to the best with its interval, p by Holm's correction, whether it may be the best.
Table standing_table(const store::Standing& standing);

// A ranking for programs: metric, contest, sentence, may_be_best and the rows of standing_table.
Json to_json(const store::Standing& standing);

// Returns "2 faster, 1 cannot tell".
std::string verdict_counts(const std::vector<store::Judged>& comparisons);

} // namespace dt::cli
