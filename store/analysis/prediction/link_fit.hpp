// The network of a series: what one exchange sums, and α, β and γ from the times of communication alone. Pure functions.
#pragma once

#include "store/analysis/prediction/measured_study.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// Where α, β and γ come from.
struct LinkSource {
  std::optional<CostModel> network{};       // of a machine profile; otherwise they are fitted to the sizes' communication times
  std::span<const MeasuredSize> borrowed{}; // other sizes whose times of communication alone are used as well, if these have none
};

struct LinkFit {
  CostModel link{};
  std::vector<std::string> assumptions{}; // full sentences, for people
};

// Uses the times of the exchange alone and of the probe, an allreduce of plain MPI. Without any, communication takes no time.
LinkFit fit_link(const SeriesTraits& traits, const std::vector<Bucket>& buckets, std::span<const MeasuredSize> sizes,
                 const LinkSource& links);

// Whether the sizes have times of communication alone, from which a link can be fitted.
bool has_link_times(std::span<const MeasuredSize> sizes, const SeriesTraits& traits);

// The buckets that a run of the largest size recorded, else of a smaller one; else one that is ready at the end of the backward
// pass, or at its begin if the exchange runs beside the computation.
std::vector<Bucket> buckets_of(const SeriesTraits& traits, std::span<const MeasuredSize> sizes);

// The shape of the ranks at a size, for the cost formulas.
CostShape shape_of(const SeriesTraits& traits, const StudySize& size);

} // namespace dt::store
