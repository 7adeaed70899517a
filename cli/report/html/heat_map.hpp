// The heat map of ranks and phases: a table in which a phase that takes a rank longer than the others is warm.
#pragma once

#include "store/query/pictures/phases.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Ranks beyond this number are left out: those with the least work.
inline constexpr std::size_t most_heat_rows = 64;

// A table as HTML: a row per rank, a column per phase, mean milliseconds of a step. The colour of a cell is the difference from
// the phase's median over the workers: from 3, 10, 25 and 50 % on.
std::string heat_map_html(const std::vector<store::RankPhases>& ranks);

} // namespace dt::cli
