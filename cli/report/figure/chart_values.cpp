#include "cli/report/figure/chart_values.hpp"

#include "cli/output/store_tables.hpp"
#include "core/text.hpp"

#include <cmath>

namespace dt::cli {
namespace {

std::string text_of(double value) { return std::isfinite(value) ? format_shortest(value) : ""; }
Json value_of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string category_of(const Axis& axis, double x)
{
  const auto index = static_cast<std::size_t>(x);
  return index < axis.categories.size() ? axis.categories[index] : "";
}

Json json_of(const Axis& axis)
{
  return {{"title", axis.title},
          {"scale", name_of(axis.scale)},
          {"is_share", axis.is_share},
          {"ticks", axis.ticks},
          {"categories", axis.categories}};
}

Json json_of(const ChartPoint& point, const Axis& x)
{
  Json value{{"x", value_of(point.x)},
             {"y", value_of(point.y)},
             {"low", value_of(point.low)},
             {"high", value_of(point.high)},
             {"note", point.note}};
  if (!x.categories.empty()) value["category"] = category_of(x, point.x);
  return value;
}

Json json_of(const Series& series, const Axis& x)
{
  Json points = Json::array();
  for (const auto& point : series.points) points.push_back(json_of(point, x));
  return {{"name", series.name},
          {"label", series.label},
          {"mark", name_of(series.mark)},
          {"origin", name_of(series.origin)},
          {"points", std::move(points)}};
}

Json json_of(const Chart& chart)
{
  Json series = Json::array();
  for (const auto& one : chart.series) series.push_back(json_of(one, chart.x));
  return {{"id", chart.id},           {"label", chart.label},           {"title", chart.title},
          {"caption", chart.caption}, {"is_stacked", chart.is_stacked}, {"x", json_of(chart.x)},
          {"y", json_of(chart.y)},    {"series", std::move(series)}};
}

} // namespace

std::string csv_of(std::span<const Chart> charts)
{
  auto csv = csv_line({"chart", "label", "series", "origin", "mark", "x", "category", "y", "low", "high", "note"});
  for (const auto& chart : charts)
    for (const auto& series : chart.series)
      for (const auto& point : series.points)
        csv += csv_line({chart.id, series.label.empty() ? chart.label : series.label, series.name,
                         std::string(name_of(series.origin)), std::string(name_of(series.mark)), text_of(point.x),
                         category_of(chart.x, point.x), text_of(point.y), text_of(point.low), text_of(point.high), point.note});
  return csv;
}

Json json_of(std::span<const Chart> charts)
{
  Json list = Json::array();
  for (const auto& chart : charts) list.push_back(json_of(chart));
  return list;
}

} // namespace dt::cli
