#include "cli/answers/verdict_output.hpp"

#include "cli/answers/comparison_tables.hpp"
#include "core/text.hpp"
#include "store/analysis/verdict/judged.hpp"

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

// Whether any run has a value of the metric.
bool has_values(const store::Contest& contest, Metric metric)
{
  return std::ranges::any_of(
      contest.points, [&](const auto& point) { return !store::sample_of("", point.runs, metric).candidate.values.empty(); });
}

// By throughput, and by the time to the target if all have the same. A program may report neither samples nor the time of its
// steps: its runs then have no throughput at all, and those that were measured otherwise are judged by that. Copies of one
// training have no throughput on purpose.
std::vector<Metric> metrics_of(const store::Contest& contest)
{
  std::vector<Metric> metrics{Metric::throughput};
  if (has_one_target(contest)) metrics.push_back(Metric::time_to_target);
  const bool has_copies = std::ranges::any_of(contest.points, [](const auto& point) {
    return std::ranges::any_of(point.runs, [](const auto& run) { return !run.copies.empty(); });
  });
  if (has_copies || has_values(contest, Metric::throughput)) return metrics;
  if (metrics.size() > 1 && has_values(contest, Metric::time_to_target)) return {Metric::time_to_target};
  return has_values(contest, Metric::accuracy) ? std::vector{Metric::accuracy} : metrics;
}

StudyVerdict contest_verdict(const store::Contest& contest, const std::vector<std::string>& facts, std::string_view tuned_by)
{
  auto metrics = metrics_of(contest);
  if (const auto metric = find_choice<Metric>(tuned_by)) metrics = {*metric};
  StudyVerdict verdict{.kind = VerdictKind::candidates, .text = {}, .standings = {}};
  verdict.standings = store::standings_of({&contest, 1}, metrics, {.margin = store::usual_margin});
  verdict.text = verdict_text(verdict.standings, facts);
  return verdict;
}

} // namespace

std::string_view name_of(VerdictKind kind)
{
  switch (kind) {
  case VerdictKind::none:
    break;
  case VerdictKind::candidates:
    return "candidates";
  case VerdictKind::scaling:
    return "scaling";
  }
  return "none";
}

StudyVerdict verdict_of(std::string_view kind, const std::vector<store::ComparedPoint>& compared,
                        const std::vector<store::ScalingRow>& points, std::vector<std::string> facts, std::string_view tuned_by)
{
  const bool has_results = std::ranges::any_of(points, [](const auto& point) { return point.runs > 0; });
  if (!tuned_by.empty() && !has_results)
    return {VerdictKind::none, {.headline = "No run with tuned values has ended yet, so nothing can be said"}, {}};
  for (auto& fact : condition_texts(store::condition_facts(compared), compared)) facts.push_back(std::move(fact));
  const auto contests = store::contests_of(compared);
  if (const auto* contest = main_contest(contests)) {
    for (const auto& point : points)
      if (point.copies > 0) facts.push_back(point.why_copies);
    return contest_verdict(*contest, facts, tuned_by);
  }
  const bool has_one_label =
      std::all_of(points.begin(), points.end(), [&](const auto& point) { return point.label == points.front().label; });
  const bool is_scaling = store::sizes_of_kind(kind) != store::StudySizes::labels;
  if (has_one_label && (points.size() > 1 || is_scaling)) return {VerdictKind::scaling, scaling_verdict(points, facts), {}};
  return {};
}

void print_verdict_text(Context& context, const VerdictText& text)
{
  const auto sentences = sentences_of(text);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    context.out.field("", i == 0 ? "verdict" : " ", text_cell(sentences[i] + (i == 0 ? "." : "")));
}

void print_verdict(Context& context, const StudyVerdict& verdict)
{
  Json standings = Json::array();
  if (context.json) // of thousands of candidates it is large, and only programs get it
    for (const auto& standing : verdict.standings) standings.push_back(to_json(standing));
  print_verdict_text(context, verdict.text);
  context.out.data(
      "verdict",
      {{"kind", name_of(verdict.kind)}, {"sentences", sentences_of(verdict.text)}, {"standings", std::move(standings)}});
}

} // namespace dt::cli
