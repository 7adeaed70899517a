#include "store/analysis/verdict/limit.hpp"

#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace dt::store {
namespace {

constexpr const char* run_again = "--against-now runs both again, interleaved, and compares those runs";

// "is none", "is 1", "are 2".
std::string number_of_studies(const Repetitions& repetitions)
{
  std::set<std::string> studies;
  for (const auto& work : repetitions.works)
    for (const auto& study : work) studies.insert(study.study);
  return studies.empty() ? "is none" : studies.size() == 1 ? "is 1" : "are " + std::to_string(studies.size());
}

// Why the repetitions do not tell how far such studies differ by chance; empty if they do.
std::string missing_in(const Separation& separation, const Repetitions& repetitions, const BetweenStudies& between)
{
  const std::string unknown = "how far such studies differ by chance is not known";
  if (!separation.is_same_kind || std::isnan(separation.apart_s)) return unknown;
  if (!between.is_known())
    return unknown + " here: it takes three other studies of the same work on the same kind of machine, and there " +
           number_of_studies(repetitions);
  if (repetitions.longest_s < separation.apart_s)
    return unknown + ", because the " + std::to_string(between.studies) + " studies of the same work lie within " +
           format_duration(repetitions.longest_s);
  if (separation.other_hosts && repetitions.host_sets < 2)
    return unknown + ", because the " + std::to_string(between.studies) + " studies of the same work ran on the same hosts";
  return "";
}

} // namespace

std::string_view name_of(Limit::Kind kind)
{
  switch (kind) {
  case Limit::Kind::one_seed:
    return "one-seed";
  case Limit::Kind::apart:
    return "apart";
  case Limit::Kind::none:
    break;
  }
  return "";
}

Limit limit_of_seeds(Metric metric, std::span<const Sample* const> samples)
{
  const auto has_one_seed = [](const Sample* sample) { return sample->candidate.values.size() > 1 && sample->seeds == 1; };
  if (!metric_row(metric).is_of_training || std::none_of(samples.begin(), samples.end(), has_one_seed)) return {};
  return {Limit::Kind::one_seed, "the repeats trained with one seed, so they do not show how far trainings differ by chance",
          "study.vary_seed: true gives each repeat another seed"};
}

Confounding words_about(Confounded by)
{
  switch (by) {
  case Confounded::by_time:
    return {"were measured one after the other, so that a change of the machine looks like a difference",
            "measure them in rounds (study.order: random)"};
  case Confounded::by_nodes:
    return {"were measured on different nodes, so that a difference of the nodes looks like theirs",
            "measure them on the same ones, as in one allocation (study.layout: ladder)"};
  case Confounded::no:
    break;
  }
  return {};
}

Apart apart_of(const Separation& separation, const Repetitions& repetitions, bool is_gate)
{
  if (separation.is_together) return {};
  if (separation.is_one_study && separation.by != Confounded::no) {
    const auto [why, remedy] = words_about(separation.by);
    return {.between = {}, .limit = {Limit::Kind::apart, "A and B " + why, remedy}};
  }
  const auto between = between_studies_of(repetitions.works);
  const auto missing = missing_in(separation, repetitions, between);
  if (missing.empty()) return {.between = between, .gate = is_gate ? gate_of(repetitions) : Gate()};
  return {.between = {},
          .limit = {Limit::Kind::apart, "the studies are " + describe(separation) + ", and " + missing, run_again}};
}

Limit limit_of_ranks()
{
  return {Limit::Kind::apart, "the studies were measured apart, and a test by ranks cannot allow for that", run_again};
}

} // namespace dt::store
