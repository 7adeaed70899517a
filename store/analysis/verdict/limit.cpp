#include "store/analysis/verdict/limit.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace dt::store {
namespace {

std::size_t count_studies(const Repetitions& repetitions)
{
  std::set<std::string_view> studies;
  for (const auto& work : repetitions.works)
    for (const auto& study : work) studies.insert(study.study);
  return studies.size();
}

// Why the repetitions do not tell how far such studies differ by chance.
Limit limit_of(const Separation& separation, const Repetitions& repetitions, const BetweenStudies& between)
{
  const auto limit = [&](Limit::Kind kind) {
    return Limit{.kind = kind, .separation = separation, .studies = between.studies, .longest_s = repetitions.longest_s};
  };
  if (!separation.is_same_kind || std::isnan(separation.apart_s)) return limit(Limit::Kind::unlike);
  if (!between.is_known()) {
    auto few = limit(Limit::Kind::few_studies);
    few.studies = count_studies(repetitions);
    return few;
  }
  if (repetitions.longest_s < separation.apart_s) return limit(Limit::Kind::near);
  if (separation.other_hosts && repetitions.host_sets < 2) return limit(Limit::Kind::same_hosts);
  return {};
}

} // namespace

Limit limit_of_seeds(Metric metric, std::span<const Sample* const> samples)
{
  const auto has_one_seed = [](const Sample* sample) { return sample->candidate.values.size() > 1 && sample->seeds == 1; };
  if (!metric_row(metric).is_of_training || std::none_of(samples.begin(), samples.end(), has_one_seed)) return {};
  return {.kind = Limit::Kind::one_seed};
}

Apart apart_of(const Separation& separation, const Repetitions& repetitions, bool is_gate)
{
  if (separation.is_together) return {};
  if (separation.is_one_study && separation.by != Confounded::no)
    return {.limit = {.kind = Limit::Kind::one_study, .separation = separation}};
  const auto between = between_studies_of(repetitions.works);
  const auto limit = limit_of(separation, repetitions, between);
  if (limit.is_set()) return {.limit = limit};
  return {.between = between, .gate = is_gate ? gate_of(repetitions) : Gate()};
}

} // namespace dt::store
