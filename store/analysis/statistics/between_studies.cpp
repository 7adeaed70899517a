#include "store/analysis/statistics/between_studies.hpp"

#include "core/error.hpp"
#include "store/analysis/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace dt::store {
namespace {

// Groups of studies that are connected by works that they have in common. Each study is mapped to one study of its group.
class Groups {
 public:
  void join(const std::string& a, const std::string& b) { group_[root(a)] = root(b); }
  std::string root(const std::string& study)
  {
    const auto next = group_.try_emplace(study, study).first->second;
    return next == study ? study : group_[study] = root(next);
  }
  std::size_t studies() const { return group_.size(); }
  std::size_t groups() const
  {
    return static_cast<std::size_t>(
        std::count_if(group_.begin(), group_.end(), [](const auto& entry) { return entry.first == entry.second; }));
  }

 private:
  std::map<std::string, std::string> group_;
};

// Sums of squares and their degrees of freedom.
struct Squares {
  double sum = 0, freedom = 0;
  void add(double squares, double more)
  {
    sum += squares;
    freedom += more;
  }
  double variance() const { return freedom > 0 ? sum / freedom : 0; }
};

std::vector<double> means_of(const RepeatedWork& work)
{
  std::vector<double> means;
  for (const auto& study : work) means.push_back(study.moments.mean);
  return means;
}

// The part of a study's own scatter that the means of studies with more runs lack.
double additional(const BetweenStudies& between, double runs)
{
  return std::max(0.0, between.within * (1 / runs - 1 / between.runs));
}

} // namespace

double BetweenStudies::deviation() const { return std::sqrt(variance); }

BetweenStudies between_studies_of(std::span<const RepeatedWork> works)
{
  Groups groups;
  Squares between, within;
  double studies = 0, inverse_runs = 0;
  for (const auto& work : works) {
    if (work.size() < 2) continue;
    const auto means = moments_of(means_of(work));
    between.add(means.variance * (means.count - 1), means.count - 1);
    for (const auto& [study, moments] : work) {
      groups.join(study, work.front().study);
      if (moments.count > 1) within.add(moments.variance * (moments.count - 1), moments.count - 1);
      inverse_runs += 1 / moments.count;
      ++studies;
    }
  }
  BetweenStudies result{.freedom = static_cast<double>(groups.studies() - groups.groups()), .studies = groups.studies()};
  if (result.freedom < least_between_freedom) return result;
  result.variance = between.variance();
  result.runs = studies / inverse_runs;
  result.within = within.variance();
  return result;
}

Gate gate_of(const Repetitions& repetitions)
{
  Gate gate{.between = between_studies_of(repetitions.works)};
  if (repetitions.works.empty() || repetitions.works.back().empty()) return gate;
  const auto means = moments_of(means_of(repetitions.works.back()));
  gate.mean = means.mean;
  gate.studies = means.count;
  return gate;
}

namespace {

void require_independent_ratio(const Comparison& comparison, bool is_scatter_known)
{
  if (comparison.method != Method::ratio || comparison.design != Design::independent || !is_scatter_known)
    throw Error(ErrorKind::internal, "a comparison of independent ratios and a known scatter between studies are needed");
}

// The standard error of A's mean as a further study of the gate.
double error_of_further(const Gate& gate, const Moments& a)
{
  const double variance = gate.between.variance * (1 + 1 / gate.studies) + additional(gate.between, a.count);
  const double own = a.count > 1 ? a.variance / a.count : 0; // is in the variance as far as the others scatter as A does
  return std::sqrt(variance + std::max(0.0, own - gate.between.within / std::min(a.count, gate.between.runs)));
}

// That a study of this logarithm, relative to the gate's, is shown to be worse.
double share_shown(double error, double freedom, const Rule& rule, double level, double logarithm)
{
  const double t = student_t_quantile((1 + level) / 2, freedom), margin = std::log1p(rule.margin);
  const double away = rule.better == Better::larger ? logarithm : -logarithm; // worse: below 0
  return noncentral_t_lower_p(-t, freedom, (away + margin) / error);
}

} // namespace

Comparison against_gate(Comparison comparison, const Gate& gate)
{
  constexpr double most_false_alarms = 0.01, strict_level = 1 - 2 * most_false_alarms;
  require_independent_ratio(comparison, gate.is_known());
  if (!(comparison.a.count >= 1)) return comparison;
  const Estimate estimate{comparison.a.mean - gate.mean, error_of_further(gate, comparison.a), gate.between.freedom};
  if (!(estimate.standard_error >= least_scatter)) return comparison;
  auto& rule = comparison.rule;
  if (share_shown(estimate.standard_error, estimate.freedom, rule, rule.level, 0) > most_false_alarms)
    rule.level = std::max(rule.level, strict_level);
  const auto interval = confidence_interval(estimate, level_of_one(rule));
  comparison.effect = std::exp(estimate.value);
  comparison.interval = {std::exp(interval.low), std::exp(interval.high)};
  comparison.p = std::min(1.0, rule.comparisons * two_sided_p(estimate));
  comparison.has_no_scatter = false;
  comparison.verdict = verdict_of_ratio(comparison.interval, rule.margin, rule.better);
  return comparison;
}

double power_of(const Gate& gate, const Comparison& comparison, double share)
{
  return share_shown(error_of_further(gate, comparison.a), gate.between.freedom, comparison.rule, level_of_one(comparison.rule),
                     std::log(share));
}

Comparison across_studies(Comparison comparison, const BetweenStudies& between)
{
  require_independent_ratio(comparison, between.is_known());
  if (!std::isfinite(comparison.interval.low)) return comparison;
  const double variance =
      2 * between.variance + additional(between, comparison.a.count) + additional(between, comparison.b.count);
  const Estimate estimate{std::log(comparison.effect), std::sqrt(variance), between.freedom};
  const auto wide = confidence_interval(estimate, level_of_one(comparison.rule));
  comparison.interval.low = std::min(comparison.interval.low, std::exp(wide.low));
  comparison.interval.high = std::max(comparison.interval.high, std::exp(wide.high));
  comparison.p = std::max(comparison.p, std::min(1.0, comparison.rule.comparisons * two_sided_p(estimate)));
  comparison.verdict = verdict_of_ratio(comparison.interval, comparison.rule.margin, comparison.rule.better);
  return comparison;
}

} // namespace dt::store
