// The network of a series: what one exchange sums, and α, β and γ from the times of communication alone. Pure functions.
#pragma once

#include "store/analysis/prediction/measured_study.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<CostSample> samples{};      // that α, β and γ are fitted to
  double deviation = 0;                   // of one sample from the fit, relative: its scatter, and how exact the formulas are
};

// Uses the times of the exchange alone and of the probe, an allreduce of plain MPI. Without any, communication takes no time.
// `trunk_share`: of the trunks between supernodes, for the sizes that cross them; 1: they limit nothing.
LinkFit fit_link(const SeriesTraits& traits, const std::vector<Bucket>& buckets, std::span<const MeasuredSize> sizes,
                 const LinkSource& links, double trunk_share = 1);

// How badly a link disagrees with the samples of the fit: the sum of squares of their relative errors, each divided by the fit's
// deviation.
double misfit(const LinkFit& fit, const CostModel& link);

// How much longer the bytes of a sum take because they cross trunks between supernodes: 1 if none does or the trunks limit
// nothing. A trunk has this share of the bandwidth of its supernode's links together. Halving-doubling, and plain MPI in the
// worst case, exchange the largest messages between all nodes of two supernodes at once; topology-aware keeps these messages
// inside; of a ring and of a tree, one stream crosses each trunk.
double trunk_stretch(std::string_view allreduce, const CostShape& shape, double trunk_share);

// Shares that a trunk may have: from 1, with which it limits nothing, down to the bandwidth of one node's link. Only 1 if no
// supernodes are known.
std::vector<double> possible_trunk_shares(const SeriesTraits& traits);

// Whether the sizes have times of communication alone, from which a link can be fitted.
bool has_link_times(std::span<const MeasuredSize> sizes, const SeriesTraits& traits);

// The buckets that a run of the largest size recorded, else of a smaller one; else one that is ready at the end of the backward
// pass, or at its begin if the exchange runs beside the computation.
std::vector<Bucket> buckets_of(const SeriesTraits& traits, std::span<const MeasuredSize> sizes);

// The shape of the ranks at a size, for the cost formulas.
CostShape shape_of(const SeriesTraits& traits, const StudySize& size);

} // namespace dt::store
