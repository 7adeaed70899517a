#include "cli/answers/study_answer.hpp"

#include "cli/answers/verdict/verdict_text.hpp"
#include "cli/answers/why_tables.hpp"
#include "cli/output/number_text.hpp"
#include "cli/runs/tuned_points.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"
#include "store/analysis/verdict/judged.hpp"
#include "store/analysis/verdict/study_answer.hpp"
#include "store/query/attribution_query.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using store::Standing;
using store::StudyAnswer;

const store::ComparedPoint& point_at(const StudyAnswer& answer, const Standing& standing, std::size_t place)
{
  return answer.points[standing.ranked[place].candidate];
}

std::string unit_of(const StudyAnswer& answer, std::int64_t size) { return counted(size, answer.by_nodes ? "node" : "rank"); }

// How many more runs of each point that may be the best would decide between them, as far as the runs so far tell; nothing if
// that is not known.
std::optional<std::size_t> more_runs(const Standing& standing)
{
  const auto enough = static_cast<double>(store::count_with_enough_runs(standing));
  std::size_t most = 0;
  for (const auto place : store::may_be_best(standing)) {
    auto comparison = standing.ranked[place].with_best;
    if (place == 0) continue;
    if (!comparison) return std::nullopt;
    comparison->rule.comparisons = std::max(1.0, enough * (enough - 1) / 2);
    comparison->verdict = store::Verdict::cannot_tell; // the verdict of this pair alone may be another one
    const auto more = store::more_repeats(*comparison, standing.samples[place].candidate, standing.samples.front().candidate);
    if (!more.known || !more.decides) return std::nullopt;
    most = std::max(most, more.per_side);
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

// "1 node is the soonest size; the runs do not decide between 6 of 8 on it: sync-sgd, …", if all points that may be the best have
// one size; else nothing.
std::string undecided_at_a_size(const StudyAnswer& answer, const std::vector<std::size_t>& best)
{
  const auto& standing = answer.soonest;
  const auto size_of = [&](std::size_t place) {
    const auto& point = point_at(answer, standing, place);
    return std::pair(point.nodes, point.ranks);
  };
  if (std::ranges::any_of(best, [&](std::size_t place) { return size_of(place) != size_of(best.front()); })) return "";
  const auto& first = point_at(answer, standing, best.front());
  std::vector<std::string> titles;
  for (const auto place : best) titles.push_back(printable(point_at(answer, standing, place).title));
  const auto all = std::ranges::count_if(
      answer.points, [&](const auto& point) { return std::pair(point.nodes, point.ranks) == size_of(best.front()); });
  return fmt::format("{} is the soonest size; the runs do not decide between {} of {} on it: {}",
                     unit_of(answer, answer.by_nodes ? first.nodes : first.ranks), best.size(), all, enumerated(titles));
}

std::string soonest_text(const StudyAnswer& answer)
{
  const auto& standing = answer.soonest;
  const auto outcome = store::outcome_of(standing);
  const auto verdict = verdict_text(standing);
  auto text = verdict.headline;
  const double centre = standing.ranked.front().centre;
  if (outcome == store::Outcome::one && std::isfinite(centre))
    return fmt::format("{}; it reaches {:.4g} % after {}", text, answer.target * 100, seconds_cell(centre).text);
  if (outcome != store::Outcome::several) return text;
  const auto best = store::may_be_best(standing);
  if (const auto at_a_size = undecided_at_a_size(answer, best); !at_a_size.empty())
    text = at_a_size;
  else if (best.size() == 2 && standing.ranked.size() == 2)
    text += ": " + enumerated({shown_name(standing, best[0]), shown_name(standing, best[1])});
  if (const double longer = standing.ranked[best.back()].centre / standing.ranked[best.front()].centre - 1;
      std::isfinite(longer) && longer > 0)
    text += fmt::format("; the slowest of them takes {} % longer", two_digits(100 * longer));
  const bool would_decide = store::hindrance_of(standing).kind == store::Hindrance::Kind::none;
  if (const auto more = would_decide ? more_runs(standing) : std::nullopt)
    return fmt::format("{}; about {} of each of them would decide (study.repeats)", text, counted(*more, "more run"));
  return verdict.remarks.empty() ? text : text + "; " + verdict.remarks.front();
}

std::string cheapest_text(const StudyAnswer& answer)
{
  if (!answer.cheapest || store::none_reached(*answer.cheapest)) return "";
  const auto& standing = *answer.cheapest;
  const double centre = standing.ranked.front().centre;
  if (!std::isfinite(centre)) return "";
  const bool is_decided = store::outcome_of(standing) == store::Outcome::one;
  return fmt::format("{} {} with {} node-hours", is_decided ? "The cheapest is" : "The cheapest, not decided, is",
                     shown_name(standing, 0), two_digits(centre));
}

std::string more_nodes_text(const StudyAnswer& answer)
{
  if (answer.steps.empty()) return "";
  const auto unit = answer.by_nodes ? "nodes" : "ranks";
  const auto& best = point_at(answer, answer.soonest, 0);
  const auto of = best.title.empty() ? std::string() : " with " + printable(best.title);
  if (answer.worth_until > 0)
    return fmt::format("Beyond {}{}, twice as many {} save less than a tenth of the time", unit_of(answer, answer.worth_until),
                       of, unit);
  return fmt::format("Up to {}{}, the most that were measured, twice as many {} save a tenth of the time or more; dtctl predict "
                     "--metric time-to-target looks farther",
                     unit_of(answer, answer.steps.back().to), of, unit);
}

const store::Attribution* attribution_of(const StudyAnswer& answer, const std::vector<store::Attribution>& attributions)
{
  const auto& best = point_at(answer, answer.soonest, 0);
  const auto found = std::ranges::find_if(attributions, [&](const store::Attribution& one) {
    return one.label == best.candidate && one.nodes == best.nodes && one.ranks == best.ranks && !one.is_baseline;
  });
  return found == attributions.end() ? nullptr : &*found;
}

std::string gain_text(const StudyAnswer& answer, const std::vector<store::Attribution>& attributions)
{
  if (!answer.gain) return "";
  const auto& gain = *answer.gain;
  std::string cause;
  if (const auto* attribution = attribution_of(answer, attributions)) cause = largest_cost_of(*attribution);
  auto text = fmt::format(
      "From {} to {} the target is reached {:.3g} times sooner: {:.3g} times the throughput{}, {:.3g} times the samples",
      unit_of(answer, gain.from), unit_of(answer, gain.to), gain.sooner, gain.speed, cause.empty() ? "" : " (" + cause + ")",
      gain.samples);
  if (std::abs(std::log(gain.rest)) > 0.02) text += fmt::format(", {:.3g} times the time for evaluations and warm-up", gain.rest);
  return text;
}

struct Search {
  std::int64_t runs = 0;
  double node_hours = 0;
  std::int64_t without_optimum = 0; // points whose search is over and has found none
};

std::string basis_text(const StudyAnswer& answer, const Search& search)
{
  auto text = fmt::format("This rests on {} with at least {} at each point, after a search of {} ({} node-hours)",
                          counted(answer.runs, "run"), counted(answer.seeds, "seed"), counted(search.runs, "run"),
                          two_digits(search.node_hours));
  if (search.without_optimum > 0)
    text += fmt::format("; {} whose search found no optimum {} not compared (more study.tune.runs may find it)",
                        counted(search.without_optimum, "point"), search.without_optimum == 1 ? "is" : "are");
  return text;
}

Json point_json(const StudyAnswer& answer, const Standing& standing)
{
  const auto& point = point_at(answer, standing, 0);
  const double centre = standing.ranked.front().centre;
  return {{"label", point.candidate},
          {"nodes", point.nodes},
          {"ranks", point.ranks},
          {"value", std::isfinite(centre) ? Json(centre) : Json()},
          {"decided", store::outcome_of(standing) == store::Outcome::one}};
}

Json gain_json(const store::SizeGain& gain)
{
  return {{"from", gain.from},        {"to", gain.to},           {"sooner", gain.sooner},
          {"throughput", gain.speed}, {"samples", gain.samples}, {"evaluations_and_warm_up", gain.rest}};
}

} // namespace

AnswerText answer_of(store::Database& database, const std::optional<StudyRecord>& study,
                     const std::vector<store::ComparedPoint>& points, const std::vector<store::RunRow>& rows)
{
  if (!study || study->tune.metric != name_of(Metric::time_to_target)) return {};
  const auto answer = store::study_answer(points, {.margin = store::usual_margin});
  if (!answer) return {};
  Search search;
  for (const auto& point : tuned_points_of(study, rows)) {
    search.runs += point.ended;
    search.node_hours += point.node_hours;
    if (point.is_over() && !point.is_tuned()) ++search.without_optimum;
  }
  std::vector<store::Attribution> attributions;
  if (answer->gain) attributions = store::attributions_of_study(database, study->id);
  AnswerText text;
  for (auto& sentence : {soonest_text(*answer), cheapest_text(*answer), more_nodes_text(*answer),
                         gain_text(*answer, attributions), basis_text(*answer, search)})
    if (!sentence.empty()) text.sentences.push_back(sentence + ".");
  text.data = {{"soonest", point_json(*answer, answer->soonest)},
               {"cheapest", answer->cheapest ? point_json(*answer, *answer->cheapest) : Json()},
               {"worth_until", answer->worth_until > 0 ? Json(answer->worth_until) : Json()},
               {"gain", answer->gain ? gain_json(*answer->gain) : Json()},
               {"runs", answer->runs},
               {"seeds", answer->seeds},
               {"search_runs", search.runs},
               {"search_node_hours", search.node_hours},
               {"points_without_optimum", search.without_optimum},
               {"sentences", text.sentences}};
  return text;
}

void print_answer(Context& context, const AnswerText& answer)
{
  for (std::size_t i = 0; i < answer.sentences.size(); ++i)
    context.out.field("", i == 0 ? "answer" : " ", text_cell(answer.sentences[i], i == 0 ? Style::strong : Style::plain));
  if (!answer.data.is_null()) context.out.data("answer", answer.data);
}

} // namespace dt::cli
