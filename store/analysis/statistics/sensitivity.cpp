#include "store/analysis/statistics/sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {
namespace {

bool has_baseline(const ScalingRow& row) { return row.baseline_size > 0 && row.baseline_size != row.size; }

double result_of(const ScalingRow& row) { return has_baseline(row) ? row.speedup : row.throughput; }

// How far the figure moves the result, NaN counting as not at all.
double reach(const FigureRange& range, double as_assumed)
{
  return std::fmax(std::fmax(std::abs(range.lower - as_assumed), std::abs(range.higher - as_assumed)), 0);
}

FigureRange& range_of(Sensitivity& sensitivity, const std::string& key)
{
  auto& figures = sensitivity.figures;
  const auto known = std::find_if(figures.begin(), figures.end(), [&](const auto& range) { return range.key == key; });
  if (known != figures.end()) return *known;
  return figures.emplace_back(FigureRange{.key = key});
}

void add_varied(const ScalingRow& row, const VariedFigure& figure, Sensitivity& sensitivity)
{
  const double result = result_of(row);
  auto& range = range_of(sensitivity, figure.key);
  (figure.change < 0 ? range.lower : range.higher) = result;
  sensitivity.share = std::abs(figure.change);
  sensitivity.least = std::fmin(sensitivity.least, result);
  sensitivity.most = std::fmax(sensitivity.most, result);
  sensitivity.efficiency_least = std::fmin(sensitivity.efficiency_least, row.efficiency);
  sensitivity.efficiency_most = std::fmax(sensitivity.efficiency_most, row.efficiency);
}

bool is_known(const Sensitivity& sensitivity, const VariedFigure& figure)
{
  return std::ranges::any_of(sensitivity.missing,
                             [&](const auto& other) { return other.key == figure.key && other.change == figure.change; });
}

// Of the same size, and compared with the same smallest size.
bool is_alike(const ScalingRow& point, const ScalingRow& varied)
{
  return point.ranks == varied.ranks && point.nodes == varied.nodes && has_baseline(point) == has_baseline(varied) &&
         std::isfinite(varied.throughput);
}

Sensitivity sensitivity_of(const ScalingRow& point, std::span<const ScalingRow> varied,
                           std::span<const VariedFigure> without_result)
{
  const double result = result_of(point);
  Sensitivity sensitivity{.label = point.label, .size = point.size, .is_speedup = has_baseline(point), .as_assumed = result};
  sensitivity.least = sensitivity.most = result;
  sensitivity.efficiency = sensitivity.efficiency_least = sensitivity.efficiency_most = point.efficiency;
  for (const auto& row : varied)
    if (const auto figure = varied_figure(row.label); figure && figure->series == point.label && is_alike(point, row))
      add_varied(row, *figure, sensitivity);
  for (const auto& figure : without_result)
    if (figure.series == point.label && !is_known(sensitivity, figure)) sensitivity.missing.push_back(figure);
  std::stable_sort(sensitivity.figures.begin(), sensitivity.figures.end(),
                   [&](const auto& a, const auto& b) { return reach(a, result) > reach(b, result); });
  return sensitivity;
}

} // namespace

std::vector<Sensitivity> sensitivities_of(std::span<const ScalingRow> points, std::span<const ScalingRow> varied,
                                          std::span<const VariedFigure> without_result)
{
  std::vector<Sensitivity> all;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_largest = i + 1 == points.size() || points[i + 1].label != points[i].label;
    if (!is_largest || !std::isfinite(points[i].throughput)) continue;
    auto sensitivity = sensitivity_of(points[i], varied, without_result);
    if (!sensitivity.figures.empty() || !sensitivity.missing.empty()) all.push_back(std::move(sensitivity));
  }
  return all;
}

} // namespace dt::store
