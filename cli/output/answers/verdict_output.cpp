#include "cli/output/answers/verdict_output.hpp"

#include "cli/output/answers/comparison_tables.hpp"
#include "core/text.hpp"
#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <utility>

namespace dt::cli {
namespace {

using store::Metric;

// The contest with the most candidates; of several, the one of the largest size, which comes last. Null if there is none.
const store::Contest* main_contest(const std::vector<store::Contest>& contests)
{
  const store::Contest* main = nullptr;
  for (const auto& contest : contests)
    if (main == nullptr || contest.points.size() >= main->points.size()) main = &contest;
  return main;
}

// Times to different targets are not compared.
bool has_one_target(const store::Contest& contest)
{
  std::vector<double> targets;
  for (const auto& point : contest.points)
    for (const auto& run : point.runs) targets.push_back(run.target_accuracy);
  return !targets.empty() && targets.front() > 0 &&
         std::all_of(targets.begin(), targets.end(), [&](double target) { return target == targets.front(); });
}

void print(Context& context, const std::string& kind, const std::vector<std::string>& sentences, Json standings)
{
  Json value{{"kind", kind}, {"sentences", sentences}, {"standings", std::move(standings)}};
  for (const auto& sentence : sentences) context.out.field("", "verdict", text_cell(sentence + "."));
  context.out.data("verdict", std::move(value));
}

void print_contest(Context& context, const store::Contest& contest)
{
  std::vector<Metric> metrics{Metric::throughput};
  if (has_one_target(contest)) metrics.push_back(Metric::time_to_target);
  std::vector<std::string> sentences;
  Json standings = Json::array();
  for (const auto metric : metrics) {
    const auto standing = store::standing_of(contest, metric, {});
    sentences.push_back(sentence_of(standing));
    standings.push_back(to_json(standing));
  }
  print(context, "candidates", sentences, std::move(standings));
}

} // namespace

void print_verdict(Context& context, ResultsStore& results, const Selection& selection,
                   const std::vector<store::ScalingRow>& points)
{
  const auto contests =
      store::contests_of(store::points_of(store::compared_runs(results.database(), rows_of(selection.runs), "")));
  if (const auto* contest = main_contest(contests)) {
    print_contest(context, *contest);
    return;
  }
  const bool has_one_label =
      std::all_of(points.begin(), points.end(), [&](const auto& point) { return point.label == points.front().label; });
  const bool is_scaling = selection.study && store::sizes_of_kind(selection.study->kind) != store::StudySizes::labels;
  if (has_one_label && (points.size() > 1 || is_scaling))
    return print(context, "scaling", {store::scaling_sentence(points)}, Json::array());
  print(context, "none", {}, Json::array());
}

} // namespace dt::cli
