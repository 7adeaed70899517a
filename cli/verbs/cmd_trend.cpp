// dtctl trend: whether a recipe became slower or faster over weeks and months, and what changed then.
#include "cli/answers/trend.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct TrendOptions {
  Selector selector;
  std::string metric, by = "week";
  Period period() const { return by == "day" ? Period::day : by == "week" ? Period::week : Period::month; }
};

PointTrend trend_of_recipe(ResultsStore& results, const std::string& title, const std::string& key, store::Metric metric)
{
  const auto runs = store::runs_of_recipe(results.database(), key, metric);
  std::vector<std::string> keys;
  for (const auto& run : runs) keys.push_back(run.key);
  return trend_of(title, studies_of(runs, store::measured_of(results.database(), keys)));
}

// What is followed: points whose runs differ only in their seeds are one series, under the title of the first.
std::vector<std::pair<std::string, std::string>> titles_and_keys(ResultsStore& results,
                                                                 const std::vector<store::ComparedPoint>& points)
{
  std::map<std::string, const store::ComparedPoint*> by_key;
  std::vector<std::string> keys;
  for (const auto& point : points) {
    keys.push_back(point.runs.front().key);
    by_key.emplace(keys.back(), &point);
  }
  std::vector<std::pair<std::string, std::string>> series;
  for (const auto& [key, count] : store::recipes_of(results.database(), keys))
    series.emplace_back(store::title_of(*by_key.at(key)) +
                            (count > 1 ? fmt::format(", and {} with other seeds", counted(count - 1, "point")) : ""),
                        key);
  return series;
}

std::string sum_of(const PointTrend& trend)
{
  const auto studies = counted(trend.studies.size(), "study", "studies");
  if (trend.studies.size() < store::least_for_change)
    return fmt::format("{}; changes are looked for from {} studies on", studies, store::least_for_change);
  return fmt::format("{}: {}", studies, trend.changes.empty() ? "no change was found" : counted(trend.changes.size(), "change"));
}

ExitCode print_trends(Context& context, const TrendOptions& options)
{
  const auto metric = store::metric_of(options.metric);
  ResultsStore results(context);
  const auto points = compared_points(select(results, options.selector));
  if (points.empty()) throw Error(ErrorKind::usage, "no run is selected, so there is no recipe to follow");
  Json all = Json::array();
  for (const auto& [title, key] : titles_and_keys(results, points)) {
    const auto trend = trend_of_recipe(results, title, key, metric);
    const auto table = trend_table(trend, options.period(), store::metric_row(metric).title);
    if (!context.json) {
      context.out.heading(trend.title);
      context.out.table(without_empty_columns(table));
      context.out.field("", "in all", text_cell(sum_of(trend)));
    }
    all.push_back({{"point", trend.title},
                   {"studies", trend.studies.size()},
                   {"is_searched", trend.studies.size() >= store::least_for_change},
                   {"changes", changes_json(trend)},
                   {"periods", to_json(table)}});
  }
  context.out.data("metric", options.metric);
  context.out.data("by", options.by);
  context.out.data("points", std::move(all));
  return ExitCode::ok;
}

} // namespace

void add_trend(Commands& commands)
{
  auto options = std::make_shared<TrendOptions>();
  auto& verb = commands.add(
      {"trend", understand_verbs, "Print how a metric of a recipe drifted over weeks and months, and what changed then.",
       "For each point of the selected study: all succeeded runs of the home with the same recipe and data, by any\n"
       "build and with any seed. A row is a period, in UTC; it has the median of its runs and, from six runs on, its\n"
       "95 % interval.\n"
       "  change   the level of the studies' medians changes here (from 14 studies on). Of series without a change,\n"
       "           1 % get a false one, if studies do not depend on those before them; a slow drift gets more\n"
       "  new      builds, kernels, processors, hosts and libraries that no earlier run had\n\n"
       "Examples:\n"
       "  dtctl trend throughput nightly\n"
       "  dtctl trend step-time last --by month --where 'ranks=8'"},
      [options](Context& context) { return print_trends(context, *options); });
  verb.add_option("METRIC", options->metric, "as of compare --metric")
      ->required()
      ->type_name("METRIC")
      ->one_of(store::metric_names());
  add_selector(verb, options->selector);
  verb.add_option("--by", options->by, "length of a period: day, week (default; from Monday) or month")
      ->type_name("day|week|month")
      ->one_of({"day", "week", "month"});
}

} // namespace dt::cli
