#include "cli/answers/why_output.hpp"

#include "cli/answers/why_tables.hpp"
#include "core/text.hpp"
#include "store/query/attribution_query.hpp"

#include <algorithm>
#include <cmath>

namespace dt::cli {
namespace {

constexpr const char* note = "Columns of factors are points of efficiency; they sum to 100 minus the efficiency. `dtctl results "
                             "--help` has their meaning.";

// The largest point of each label. A point without factors has no waterfall.
std::vector<store::Attribution> largest_points(const std::vector<store::Attribution>& points)
{
  std::vector<store::Attribution> largest;
  for (const auto& point : points)
    if (!largest.empty() && largest.back().label == point.label)
      largest.back() = point;
    else
      largest.push_back(point);
  std::erase_if(largest,
                [](const auto& point) { return point.is_baseline || point.is_throttled() || !std::isfinite(point.efficiency); });
  return largest;
}

// Why no point of the study can be attributed.
std::string why_not(const Selection& selection)
{
  const auto& runs = selection.runs;
  const bool is_own_program = std::any_of(runs.begin(), runs.end(), [](const RunView& run) {
    return run.row.state == RunState::succeeded && run.row.strategy.empty(); // a key that only dtengine reads
  });
  return "no run of study " + selection.study->name +
         (is_own_program
              ? " has a throughput: its program does not report samples or the time of its steps, so --why has nothing "
                "to divide among causes. Give dtctl_report.step() the samples of each step"
              : " has the sums of useful time that --why needs: none measured a step after its warm-up. Train longer, with a "
                "larger train.epochs or train.max_steps");
}

void print_waterfalls(Context& context, const std::vector<store::Attribution>& points, const store::PointLabels& labels)
{
  constexpr std::size_t most_waterfalls = 8;
  const auto largest = largest_points(points);
  for (std::size_t i = 0; i < std::min(largest.size(), most_waterfalls); ++i)
    context.out.drawing((i == 0 ? "" : "\n") + waterfall_of(largest[i], labels));
}

} // namespace

void print_why(Context& context, ResultsStore& results, const Selection& selection)
{
  if (!selection.whole_study)
    throw Error(ErrorKind::usage, "--why compares the sizes of a study, so it needs a whole study, without --failed and --where");
  const auto& study = *selection.study;
  const auto points = store::attributions_of_study(results.database(), study.id);
  if (points.empty() && study.succeeded > 0) throw Error(ErrorKind::usage, why_not(selection));
  const auto labels = labels_of(selection);
  context.out.table(without_empty_columns(attribution_table(points, labels)));
  print_waterfalls(context, points, labels);
  context.out.table(without_empty_columns(communication_table(points, labels)));
  Json sentences = Json::array();
  for (const auto& point : points)
    if (const auto parts = sentences_of(point, labels); !parts.empty()) {
      for (const auto& part : parts) context.out.field("", &part == &parts.front() ? "why" : " ", text_cell(part));
      sentences.push_back(join(parts, " "));
    }
  for (const auto& phases_note : missing_phases_notes(points)) {
    context.out.field("", "not reported", text_cell(phases_note, Style::warning));
    sentences.push_back(phases_note);
  }
  for (const auto& uncertainty : uncertainty_notes(points)) {
    context.out.field("", "uncertain", text_cell(uncertainty));
    sentences.push_back(uncertainty);
  }
  context.out.data("sentences", std::move(sentences));

  if (!context.json) context.messages.info(note);
}

} // namespace dt::cli
