#include "store/analysis/prediction/what_if.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace dt::store {
namespace {

using enum Change::What;

constexpr std::array<std::pair<std::string_view, Change::What>, 4> factors{
    {{"bandwidth", bandwidth}, {"latency", latency}, {"jitter", jitter}, {"input", input}}};

Error unknown(const std::string& text)
{
  return Error(
      ErrorKind::usage,
      "--what-if " + text +
          " is not a change. Give bandwidth=2x (or another factor above 0), latency=0, jitter=0, input=0 (or a factor such "
          "as 0.5x), overlap=perfect, or all");
}

// "2x" and "0.5x", and "0" without the x.
std::optional<double> factor_of(std::string_view text)
{
  if (text == "0") return 0.0;
  if (!text.ends_with('x')) return std::nullopt;
  text.remove_suffix(1);
  const auto factor = number_of<double>(text);
  return factor && std::isfinite(*factor) && *factor >= 0 ? factor : std::nullopt;
}

Change parse_change(const std::string& text)
{
  if (text == "overlap=perfect") return {.what = overlap, .factor = 1, .text = text};
  for (const auto& [name, what] : factors) {
    if (!text.starts_with(std::string(name) + "=")) continue;
    const auto factor = factor_of(std::string_view(text).substr(name.size() + 1));
    if (!factor || (what == bandwidth && *factor == 0)) break;
    return {.what = what, .factor = *factor, .text = text};
  }
  throw unknown(text);
}

StepSpread scaled(StepSpread spread, double factor)
{
  for (auto* quantile : {&spread.p50, &spread.p95, &spread.p99, &spread.max}) *quantile = std::pow(*quantile, factor);
  spread.of_workers *= factor;
  return spread;
}

} // namespace

std::vector<Change> parse_changes(const std::vector<std::string>& texts)
{
  std::vector<Change> changes;
  for (const auto& list : texts)
    for (const auto& text : split(list, ',')) {
      if (text == "all")
        for (auto& change : usual_changes()) changes.push_back(std::move(change));
      else
        changes.push_back(parse_change(text));
    }
  return changes;
}

std::vector<Change> usual_changes()
{
  std::vector<Change> changes;
  for (const auto* text : {"bandwidth=2x", "latency=0", "jitter=0", "overlap=perfect", "input=0"})
    changes.push_back(parse_change(text));
  return changes;
}

Calibration changed(Calibration calibration, const Change& change)
{
  switch (change.what) {
  case bandwidth:
    calibration.link.beta_s /= change.factor;
    calibration.service_s += calibration.service_link_s / change.factor - calibration.service_link_s;
    calibration.service_link_s /= change.factor;
    break;
  case latency:
    calibration.link.alpha_s *= change.factor;
    break;
  case jitter:
    calibration.spread = scaled(calibration.spread, change.factor);
    break;
  case overlap:
    for (auto& bucket : calibration.buckets) bucket.ready = 0;
    break;
  case input:
    calibration.input_s *= change.factor;
    break;
  }
  return calibration;
}

std::vector<Gain> gains(const Calibration& calibration, const StudySize& size, std::span<const Change> changes)
{
  const double samples = static_cast<double>(size.workers) * size.batch;
  const double unchanged_s = step_at(calibration, size).step_s;
  std::vector<Gain> gains;
  for (const auto& change : changes) {
    const double step_s = step_at(changed(calibration, change), size).step_s;
    gains.push_back({change, samples / step_s, unchanged_s / step_s - 1});
  }
  std::stable_sort(gains.begin(), gains.end(), [](const Gain& a, const Gain& b) { return a.gain > b.gain; });
  return gains;
}

} // namespace dt::store
