// The points of a study by a metric and by their node-hours (`dtctl results --best-by`).
#pragma once

#include "cli/command/context.hpp"
#include "store/analysis/verdict/compared_points.hpp"
#include "store/query/queries.hpp"

#include <limits>
#include <string>
#include <vector>

namespace dt::cli {

struct BestPoints {
  Table table;             // the best first; those of the Pareto set are marked
  std::string explanation; // of the mark
  std::size_t points = 0;  // all of them; the table has the first `most_rows`
};
// Throws a usage error if there is no such metric (store::metric_rows), or if no run has a figure for it.
BestPoints best_points_of(const std::vector<store::ComparedPoint>& points, const std::string& metric,
                          const store::PointLabels& labels, std::size_t most_rows = std::numeric_limits<std::size_t>::max());

// Prints them.
void print_best(Context& context, const BestPoints& best);

} // namespace dt::cli
