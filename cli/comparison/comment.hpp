// A comparison as a comment for a merge request: Markdown as GitHub and GitLab show it.
#pragma once

#include "store/analysis/verdict/verdict.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct ComparedTitles {
  std::string a, b;
  std::string apart; // how far apart the two were measured; empty: together
};

// The title says how many points are worse beyond the margin. A table has every point, and a list says what cannot be told and
// which points of the reference, `missing`, have no partner.
std::string comment_of(const ComparedTitles& titles, const std::vector<store::Judged>& comparisons,
                       const std::vector<std::string>& missing);

} // namespace dt::cli
