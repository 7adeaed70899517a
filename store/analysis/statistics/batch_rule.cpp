#include "store/analysis/statistics/batch_rule.hpp"

#include "core/record/field.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::store {
namespace {

constexpr double tolerance = 0.1;

// Of the samples between two sizes.
double growth_between(const StepSamples& from, const StepSamples& to)
{
  return std::log(to.samples / from.samples) / std::log(to.workers / from.workers);
}

bool follows(std::span<const StepSamples> sizes, double growth)
{
  const auto& first = sizes.front();
  return std::ranges::all_of(sizes, [&](const StepSamples& size) {
    const double expected = first.samples * std::pow(size.workers / first.workers, growth);
    return std::abs(std::log(size.samples / expected)) < std::log(1 + tolerance);
  });
}

double growth_of_kind(std::string_view kind) { return kind == "weak" ? 1 : 0; }

} // namespace

double BatchRule::samples_at(double workers) const
{
  if (sizes.empty()) return not_measured;
  const auto above = std::ranges::find_if(sizes, [&](const StepSamples& size) { return size.workers >= workers; });
  if (above != sizes.end() && above->workers == workers) return above->samples;
  const bool is_between = above != sizes.begin() && above != sizes.end();
  const auto& near = above == sizes.begin() ? sizes.front() : *(above - 1);
  const double power = is_between ? growth_between(near, *above) : growth;
  return near.samples * std::pow(workers / near.workers, power);
}

BatchRule batch_rule(std::string_view kind, std::span<const StepSamples> sizes)
{
  BatchRule rule{.growth = growth_of_kind(kind)};
  for (const auto& size : sizes)
    if (size.workers > 0 && size.samples > 0) rule.sizes.push_back(size);
  std::ranges::sort(rule.sizes, {}, &StepSamples::workers);
  const auto same = [](const StepSamples& a, const StepSamples& b) { return a.workers == b.workers; };
  rule.sizes.erase(std::unique(rule.sizes.begin(), rule.sizes.end(), same), rule.sizes.end());
  if (rule.sizes.size() < 2) return rule;
  rule.is_recorded = true;
  for (const double growth : {rule.growth, 1 - rule.growth})
    if (follows(rule.sizes, growth)) {
      rule.growth = growth;
      return rule;
    }
  rule.growth = growth_between(rule.sizes.front(), rule.sizes.back());
  return rule;
}

bool contradicts(const BatchRule& rule, std::string_view kind)
{
  const bool is_chosen = kind == "strong" || kind == "weak" || kind == "partition";
  return is_chosen && rule.is_recorded && rule.growth != growth_of_kind(kind);
}

} // namespace dt::store
