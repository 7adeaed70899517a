#include "cli/report/html/chart_json.hpp"

#include "core/text.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// With seven significant digits, which is more than a chart can show.
Json rounded(double value)
{
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);
}

Json texts(const std::vector<std::string>& list)
{
  Json texts = Json::array();
  for (const auto& text : list) texts.push_back(printable(text));
  return texts;
}

Json to_json(const Axis& axis)
{
  return {{"title", printable(axis.title)}, {"scale", name_of(axis.scale)}, {"share", axis.is_share},
          {"zero", axis.from_zero},         {"ticks", axis.ticks},          {"categories", texts(axis.categories)}};
}

Json to_json(const Series& series)
{
  Json points = Json::array();
  for (const auto& point : series.points) {
    points.push_back({rounded(point.x), rounded(point.y), rounded(point.low), rounded(point.high), printable(point.note)});
    if (!point.beside.empty()) points.back().push_back(printable(point.beside));
  }
  return {{"name", printable(series.name)},
          {"mark", name_of(series.mark)},
          {"origin", name_of(series.origin)},
          {"colour", series.colour},
          {"points", std::move(points)}};
}

} // namespace

Json to_json(const Chart& chart)
{
  Json series = Json::array();
  for (const auto& one : chart.series) series.push_back(to_json(one));
  return {{"id", chart.id},
          {"title", printable(chart.title)},
          {"caption", printable(chart.caption)},
          {"stacked", chart.is_stacked},
          {"horizontal", chart.is_horizontal},
          {"x", to_json(chart.x)},
          {"y", to_json(chart.y)},
          {"series", std::move(series)}};
}

} // namespace dt::cli
