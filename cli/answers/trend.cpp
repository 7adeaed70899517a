#include "cli/answers/trend.hpp"

#include "core/counted.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// The facts of a study's runs, such as kernel and build: for the name of each fact, all values that the runs have.
using Facts = std::map<std::string, std::set<std::string>>;

Facts facts_of(const std::vector<const store::Measured*>& runs)
{
  Facts facts;
  for (const auto* run : runs) {
    for (const auto& [name, value] : run->facts) facts[name].insert(value);
    facts["hosts"].insert(run->hosts.begin(), run->hosts.end());
  }
  return facts;
}

// The values that no earlier study had. Of a fact that no earlier study had at all, nothing: the first study is the beginning.
std::vector<std::string> news_of(const Facts& facts, Facts& seen)
{
  constexpr std::size_t most_shown = 3;
  std::vector<std::string> news;
  for (const auto& [name, values] : facts) {
    auto& known = seen[name];
    std::vector<std::string> fresh;
    for (const auto& value : values)
      if (!known.contains(value)) fresh.push_back(printable(value));
    if (!known.empty() && !fresh.empty())
      news.push_back(name + ": " + (fresh.size() > most_shown ? fmt::format("{} new ones", fresh.size()) : join(fresh, ", ")));
    known.insert(values.begin(), values.end());
  }
  return news;
}

// NaN is null and "-"; infinity, of runs that missed their target, is "inf" and "missed".
Cell value_cell(double value) { return std::isinf(value) ? Cell{"inf", "missed", Style::warning} : real_cell(value); }
Json value_json(double value) { return value_cell(value).value; }

std::string change_text(const store::ChangePoint& change)
{
  if (std::isinf(change.after) || std::isinf(change.before))
    return std::isinf(change.after) ? "from here on most runs miss the target" : "from here on most runs reach the target";
  return fmt::format("{:+.1f} % from here on (p {:.2g})", 100 * (change.after / change.before - 1), change.p);
}

struct PeriodRow {
  std::string begin;
  std::size_t studies = 0;
  std::vector<double> values;
  std::vector<std::string> changes, news;
};

std::vector<PeriodRow> rows_of(const PointTrend& trend, Period period)
{
  std::vector<PeriodRow> rows;
  for (std::size_t i = 0; i < trend.studies.size(); ++i) {
    const auto& study = trend.studies[i];
    auto begin = begin_of(period, study.begin_unix_s);
    if (rows.empty() || rows.back().begin != begin)
      rows.push_back({.begin = std::move(begin), .values = {}, .changes = {}, .news = {}});
    auto& row = rows.back();
    ++row.studies;
    row.values.insert(row.values.end(), study.values.begin(), study.values.end());
    row.news.insert(row.news.end(), study.news.begin(), study.news.end());
    for (const auto& change : trend.changes)
      if (change.first == i) row.changes.push_back(change_text(change));
  }
  return rows;
}

Cell interval_cell(const store::Interval& interval)
{
  if (std::isnan(interval.low)) return {nullptr, "", Style::plain};
  return {Json::array({value_json(interval.low), value_json(interval.high)}),
          fmt::format("[{}, {}]", value_cell(interval.low).text, value_cell(interval.high).text), Style::plain};
}

} // namespace

std::string begin_of(Period period, double unix_s)
{
  namespace chrono = std::chrono;
  auto day = chrono::floor<chrono::days>(chrono::sys_seconds(chrono::seconds(static_cast<std::int64_t>(std::floor(unix_s)))));
  if (period == Period::week) day -= chrono::weekday(day) - chrono::Monday;
  const chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     period == Period::month ? 1U : static_cast<unsigned>(date.day()));
}

std::vector<TrendStudy> studies_of(const std::vector<store::TrendRun>& runs, const std::vector<store::Measured>& measured)
{
  std::map<std::string, const store::Measured*> by_key;
  for (const auto& run : measured) by_key[run.run] = &run;
  std::map<std::string, std::size_t> places;
  std::vector<TrendStudy> studies; // the runs come in the order of their begin
  std::vector<std::vector<const store::Measured*>> where;
  for (const auto& run : runs) {
    const auto place = places.try_emplace(run.study, studies.size()).first->second;
    if (place == studies.size()) {
      studies.push_back({.id = run.study, .begin_unix_s = run.begin_unix_s, .median = 0, .values = {}, .news = {}});
      where.emplace_back();
    }
    studies[place].values.push_back(run.value);
    if (const auto found = by_key.find(run.key); found != by_key.end()) where[place].push_back(found->second);
  }
  Facts seen;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    studies[i].median = median(studies[i].values);
    studies[i].news = news_of(facts_of(where[i]), seen);
  }
  return studies;
}

PointTrend trend_of(std::string title, std::vector<TrendStudy> studies)
{
  std::vector<double> medians;
  for (const auto& study : studies) medians.push_back(study.median);
  auto changes = store::change_points_of(medians);
  return {std::move(title), std::move(studies), std::move(changes)};
}

Table trend_table(const PointTrend& trend, Period period, std::string_view metric)
{
  Table table{"periods",
              {{"begin", period == Period::day    ? "day"
                         : period == Period::week ? "week of"
                                                  : "month of"},
               {"studies", "studies", Align::right, 3},
               {"runs", "runs", Align::right},
               {"median", std::string(metric), Align::right},
               {"interval", "median [95 %]", Align::left, 2},
               {"changes", "change"},
               {"news", "new", Align::left, 1}},
              {},
              "no run has a value"};
  for (const auto& row : rows_of(trend, period))
    table.rows.push_back({text_cell(row.begin),
                          count_cell(static_cast<std::int64_t>(row.studies)),
                          count_cell(static_cast<std::int64_t>(row.values.size())),
                          value_cell(median(row.values)),
                          interval_cell(store::median_interval(row.values)),
                          {Json(row.changes), join(row.changes, "; "), Style::warning},
                          {Json(row.news), join(row.news, "; "), Style::plain}});
  return table;
}

Json changes_json(const PointTrend& trend)
{
  Json changes = Json::array();
  for (const auto& change : trend.changes)
    changes.push_back({{"after_unix_s", trend.studies[change.first - 1].begin_unix_s},
                       {"unix_s", trend.studies[change.first].begin_unix_s},
                       {"study", trend.studies[change.first].id},
                       {"before", value_json(change.before)},
                       {"after", value_json(change.after)},
                       {"p", change.p}});
  return changes;
}

} // namespace dt::cli
