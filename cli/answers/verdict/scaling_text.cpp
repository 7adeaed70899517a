#include "cli/answers/verdict/judged_text.hpp"
#include "cli/answers/verdict/verdict_text.hpp"

#include "cli/output/number_text.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::cli {
namespace {

using store::ScalingRow;
using store::Side;

std::string size_words(const ScalingRow& row, bool in_nodes)
{
  const auto count = row.is_part ? row.size : in_nodes ? row.nodes : row.workers;
  return counted(count, row.is_part ? "part" : in_nodes ? "node" : row.workers == row.ranks ? "rank" : "worker");
}

// "1.76x on 2 ranks", "1.76x on 2 nodes (easgd)"
std::string speedup_words(const ScalingRow& row, const store::PointLabels& labels)
{
  const bool in_nodes = row.size == row.nodes && row.nodes != row.workers;
  return number_text("%.2fx", row.speedup) + " on " + size_words(row, in_nodes) +
         (row.label.empty() ? "" : " (" + printable(labels.shown(row.label)) + ")");
}

std::string relation_of(Side side)
{
  switch (side) {
  case Side::below:
    return "below";
  case Side::above:
    return "above";
  case Side::alike:
    return "not measurably different from";
  case Side::unknown:
    break;
  }
  return "";
}

// ", below 100 % and not measurably different from that at 2 ranks": the efficiency against 100 %, and against that of the next
// smaller size, as far as they are known. `smaller`: that size; empty: there is none.
std::string sides_text(Side ideal, Side of_smaller, const std::string& smaller)
{
  return (ideal == Side::unknown ? "" : ", " + relation_of(ideal) + " 100 %") +
         (of_smaller == Side::unknown ? "" : " and " + relation_of(of_smaller) + " that at " + smaller);
}

// "1.91x, efficiency 95.6 % [91.4, 99.9]"; of a study whose smallest size is not 1, "1.95x that of 2 ranks, efficiency …".
std::string efficiency_text(const ScalingRow& row, const ScalingRow& smallest, bool in_nodes)
{
  auto text = number_text("%.2fx", row.speedup) + (row.baseline_size == 1 ? "" : " that of " + size_words(smallest, in_nodes)) +
              ", efficiency " + number_text("%.1f %%", row.efficiency * 100);
  if (std::isfinite(row.efficiency_low))
    text += " [" + number_text("%.1f", row.efficiency_low * 100) + ", " + number_text("%.1f", row.efficiency_high * 100) + "]";
  return text;
}

// How fast the parts are together, compared with the fewest parts.
std::string part_text(const ScalingRow& row, const ScalingRow& fewest)
{
  const auto text = number_text("%.2fx", row.speedup) + " the throughput of " + size_words(fewest, false);
  const auto side = against_ideal(row);
  if (side == Side::unknown) return text;
  return text + " [" + number_text("%.2f", row.efficiency_low) + ", " + number_text("%.2f", row.efficiency_high) + "], " +
         (side == Side::alike   ? "not measurably different"
          : side == Side::above ? "faster"
                                : "slower");
}

// Says why an efficiency has no interval: some size has too few runs, or the times are simulated. Empty if each has one.
std::string missing_text(std::span<const ScalingRow> points, bool in_nodes)
{
  if (std::ranges::all_of(points, [](const auto& point) { return point.is_exact; }))
    return "the times are simulated and lack a machine's scatter";
  const auto missing = store::missing_repeats(points);
  if (!missing.are_missing) return "";
  const auto of_size = std::string("with fewer than 3 runs of a size") + (missing.has_outliers ? " without the outliers" : "");
  const std::string ideal = points.front().is_part ? "that of the fewest parts" : "100 %";
  if (missing.beyond.empty())
    return of_size + ", the runs do not show whether its efficiency differs from " + ideal + ": " +
           resolvable_text(1, Metric::throughput, missing.resolvable);
  std::vector<std::string> beyond;
  for (const auto* point : missing.beyond) beyond.push_back(size_words(*point, in_nodes));
  return of_size + " its efficiency has no interval, but the smallest difference from " + ideal +
         " that these runs could resolve is " + two_digits(100 * missing.resolvable) + " %, and that of " +
         enumerated(std::move(beyond)) + " is larger";
}

} // namespace

std::string word_of(store::Scales scales)
{
  switch (scales) {
  case store::Scales::yes:
    return "yes";
  case store::Scales::no:
    return "no";
  case store::Scales::cannot_tell:
    return "cannot tell";
  case store::Scales::not_known:
    break;
  }
  return "not known";
}

std::string scale_text(const store::ScaleAnswer& answer, const store::PointLabels& labels)
{
  const auto word = word_of(answer.answer) + ": ";
  if (answer.copies != nullptr) return word + counted(answer.copies->ranks, "rank") + " of it do not train together";
  if (answer.best == nullptr) return word + "no two sizes were measured";
  const auto& best = *answer.best;
  auto text = word + speedup_words(best, labels);
  if (!std::isfinite(best.efficiency_low) && !best.is_exact) text += ", and without 3 runs of both sizes there is no interval";
  if (answer.is_within_error) text += ", not measurably faster than the smallest size";
  if (answer.largest != &best && answer.largest->label == best.label) text += "; " + speedup_words(*answer.largest, labels);
  return text;
}

VerdictText scaling_verdict(std::span<const ScalingRow> points, std::span<const std::string> facts)
{
  if (const auto* copies = store::copies_among(points))
    return {"It does not scale: " + copies->why_copies, distinct({facts.begin(), facts.end()})};
  std::vector<const ScalingRow*> measured;
  for (const auto& point : points)
    if (!point.throughputs.empty()) measured.push_back(&point);
  if (measured.empty()) return {"No run has succeeded, so nothing can be said"};
  const bool in_nodes = measured.front()->nodes != measured.back()->nodes && measured.back()->size == measured.back()->nodes;
  if (measured.size() == 1)
    return {"Only one size was measured (" + size_words(*measured.front(), in_nodes) + "), so there is no efficiency to report"};
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < measured.size(); ++i) {
    if (!std::isfinite(measured[i]->efficiency)) continue;
    const auto &row = *measured[i], &smaller = *measured[i - 1];
    const auto index = [&](const ScalingRow& point) { return static_cast<std::size_t>(&point - points.data()); };
    const auto of_smaller = i > 1 ? against_point(points, index(row), index(smaller)) : Side::unknown;
    lines.push_back(size_words(row, in_nodes) + ": " +
                    (row.is_part ? part_text(row, *measured.front())
                                 : efficiency_text(row, *measured.front(), in_nodes) +
                                       sides_text(against_ideal(row), of_smaller, size_words(smaller, in_nodes))));
  }
  if (lines.empty()) return {"The smallest size was not measured, so there is no efficiency to report"};
  std::vector<std::string> parts{missing_text(points, in_nodes)};
  parts.insert(parts.end(), facts.begin(), facts.end());
  auto headline = std::move(lines.back());
  lines.pop_back();
  return {std::move(headline), distinct(parts), std::move(lines)};
}

} // namespace dt::cli
