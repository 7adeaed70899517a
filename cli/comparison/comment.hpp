// A comparison as a comment for a merge request: Markdown as GitHub and GitLab show it.
#pragma once

#include "store/analysis/verdict/judged.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct ComparedTitles {
  std::string a, b;
  std::string apart; // how far apart the two were measured; empty: together
};

// "Regression: 1 of 3 points", "No regression in 3 points".
std::string headline_of(const std::vector<store::Judged>& comparisons);

// Writes a title with the number of points that are worse beyond the margin, a table with a row for each point, and a list of the
// comparisons without a result and of the points of the reference that A does not have (`missing`).
std::string comment_of(const ComparedTitles& titles, const std::vector<store::Judged>& comparisons,
                       const std::vector<std::string>& missing);

} // namespace dt::cli
