#include "cli/answers/sensitivity_output.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string result_text(const store::Sensitivity& sensitivity, double value)
{
  return sensitivity.is_speedup ? fmt::format("{:.1f}x", value) : real_cell(value).text + " samples/s";
}

std::string range_text(const store::Sensitivity& sensitivity, double one, double other)
{
  return result_text(sensitivity, std::fmin(one, other)) + " to " + result_text(sensitivity, std::fmax(one, other));
}

// "bandwidth" for "platform.bandwidth".
std::string name_of_figure(const std::string& key) { return key.substr(key.find('.') + 1); }

// "bandwidth +20 %, latency ±20 %"
std::string missing_text(const std::vector<VariedFigure>& missing)
{
  std::map<std::string, std::vector<double>> changes;
  for (const auto& [key, change, series] : missing) changes[name_of_figure(key)].push_back(change);
  std::vector<std::string> texts;
  for (const auto& [name, of_figure] : changes)
    texts.push_back(of_figure.size() > 1 ? fmt::format("{} ±{:.3g} %", name, 100 * std::abs(of_figure.front()))
                                         : fmt::format("{} {:+.3g} %", name, 100 * of_figure.front()));
  return join(texts, ", ");
}

Json json_of(const store::Sensitivity& sensitivity)
{
  Json figures = Json::array();
  for (const auto& [key, lower, higher] : sensitivity.figures)
    figures.push_back({{"key", key}, {"lower", real_cell(lower).value}, {"higher", real_cell(higher).value}});
  Json missing = Json::array();
  for (const auto& figure : sensitivity.missing) missing.push_back({{"key", figure.key}, {"change", figure.change}});
  return {{"label", sensitivity.label},
          {"size", sensitivity.size},
          {"result", sensitivity.is_speedup ? "speedup" : "throughput"},
          {"share", sensitivity.share},
          {"as_assumed", sensitivity.as_assumed},
          {"least", sensitivity.least},
          {"most", sensitivity.most},
          {"efficiency", real_cell(sensitivity.efficiency).value},
          {"efficiency_least", real_cell(sensitivity.efficiency_least).value},
          {"efficiency_most", real_cell(sensitivity.efficiency_most).value},
          {"figures", std::move(figures)},
          {"missing", std::move(missing)}};
}

} // namespace

std::string describe(const store::Sensitivity& sensitivity)
{
  const double as_assumed = sensitivity.as_assumed;
  auto text = result_text(sensitivity, as_assumed) + (sensitivity.size > 0 ? fmt::format(" at size {}", sensitivity.size) : "");
  if (!sensitivity.figures.empty()) {
    const auto& first = sensitivity.figures.front();
    text += fmt::format("; {} over ±{:.3g} % of each assumed figure{}, most by {} ({})",
                        range_text(sensitivity, sensitivity.least, sensitivity.most), sensitivity.share * 100,
                        sensitivity.missing.empty() ? "" : " that has a result", name_of_figure(first.key),
                        range_text(sensitivity, std::isnan(first.lower) ? as_assumed : first.lower,
                                   std::isnan(first.higher) ? as_assumed : first.higher));
  }
  if (!sensitivity.missing.empty()) text += "; without a result: " + missing_text(sensitivity.missing);
  return text;
}

void print_sensitivities(Context& context, const std::vector<store::Sensitivity>& all, const store::PointLabels& labels)
{
  if (all.empty()) return;
  Json data = Json::array();
  for (const auto& sensitivity : all) {
    const auto point = all.size() > 1 ? labels.shown(sensitivity.label) + ": " : "";
    context.out.field("", &sensitivity == &all.front() ? "range" : " ", text_cell(point + describe(sensitivity)));
    data.push_back(json_of(sensitivity));
  }
  context.out.data("sensitivities", std::move(data));
}

} // namespace dt::cli
