#include "cli/answers/verdict/judged_text.hpp"
#include "cli/answers/verdict/limit_text.hpp"
#include "cli/answers/verdict/verdict_text.hpp"

#include "cli/output/number_text.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace dt::cli {
namespace {

using store::Outcome;
using store::Standing;

std::string shown(const store::Sample& sample)
{
  const auto& name = sample.title.empty() ? sample.candidate.name : sample.title;
  return name.empty() ? "the only label" : printable(name);
}

std::string names_of(const Standing& standing, const std::vector<std::size_t>& places)
{
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(places.size(), most); ++i) names.push_back(shown(standing.samples[places[i]]));
  if (places.size() > most) names.push_back(std::to_string(places.size() - most) + " more");
  return enumerated(std::move(names));
}

// Returns "local-sgd (2 runs), …" for the candidates that have too few runs to be judged.
std::string too_few(const Standing& standing)
{
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < standing.samples.size(); ++i)
    if (!has_enough_runs(standing.samples[i])) places.push_back(i);
  return places.empty() ? "" : "with fewer than 3 runs nothing can be said about " + names_of(standing, places);
}

// "by throughput"
std::string metric_text(const Standing& standing) { return "by " + std::string(store::metric_row(standing.metric).words); }

std::string place_text(const Standing& standing)
{
  const auto& place = standing.title.empty() ? standing.contest : standing.title;
  return place.empty() ? "" : " at " + printable(place);
}

// Returns "+4.5 % [+2.1, +6.9] against sync-sgd, p = 0.003", or less if less is known. The p value is Holm's.
std::string lead_text(const Standing& standing)
{
  const auto comparison = lead_over_second(standing);
  if (!comparison) return "";
  auto lead = effect_with_interval(*comparison, standing.metric);
  lead += (lead.empty() ? "ahead of " : " against ") + shown(standing.samples[1]);
  const double p = standing.ranked[1].adjusted_p;
  return std::isnan(p) ? lead : lead + ", p = " + number_text("%.2g", p);
}

// Who reached the target, if not all runs did: "5 of 5 runs reached the target only with a and b". Else empty.
std::string reached_by(const Standing& standing)
{
  constexpr std::size_t most = 3;
  if (!store::metric_row(standing.metric).needs_target || none_reached(standing)) return "";
  std::vector<std::size_t> all, some;
  for (std::size_t i = 0; i < standing.samples.size(); ++i) {
    const auto& sample = standing.samples[i];
    if (sample.with_target > 0) (sample.reached == sample.with_target ? all : some).push_back(i);
  }
  if (some.empty()) return "";
  if (some.size() <= most && (all.empty() || some.size() <= all.size())) {
    std::map<std::string, std::vector<std::size_t>> by_text;
    for (const auto i : some) by_text[reached_text(standing.samples[i])].push_back(i);
    std::vector<std::string> parts;
    for (const auto& [text, places] : by_text) parts.push_back(text + " with " + names_of(standing, places));
    return join(parts, ", ");
  }
  if (all.empty()) return "no candidate reached the target in all of its runs";
  const auto& first = standing.samples[all.front()];
  const bool is_alike = std::all_of(all.begin(), all.end(), [&](auto i) { return standing.samples[i].reached == first.reached; });
  return (is_alike ? reached_text(first) : "all runs reached the target") + " only with " + names_of(standing, all);
}

// Names the candidates that may be the best although some of their runs failed: "only 3 of 6 runs with b and c have succeeded".
// Runs do not fail by chance, so the others say less about the candidate. Empty if no run failed.
std::string succeeded_by(const Standing& standing)
{
  std::map<std::string, std::vector<std::size_t>> by_text;
  for (const auto place : may_be_best(standing)) {
    const auto& sample = standing.samples[place];
    if (sample.succeeded < sample.runs)
      by_text[std::to_string(sample.succeeded) + " of " + counted(sample.runs, "run")].push_back(place);
  }
  constexpr std::size_t most = 3;
  std::vector<std::string> parts;
  for (const auto& [text, places] : by_text)
    if (parts.size() < most) parts.push_back("only " + text + " with " + names_of(standing, places) + " have succeeded");
  return join(parts, ", ");
}

// The candidates that have enough runs, where fewer than two have: "no candidate" or "only one candidate".
std::string those_with_enough_runs(const Standing& standing)
{
  return count_with_enough_runs(standing) > 0 ? "only one candidate" : "no candidate";
}

// Why more runs of the same kind would not decide between those that may be the best; else that an interval is that of one pair,
// if one alone would decide.
std::string hindrance_text(const Standing& standing)
{
  const auto hindrance = hindrance_of(standing);
  const auto first = shown(standing.samples[hindrance.place]), other = shown(standing.samples[hindrance.other]);
  switch (hindrance.kind) {
  case store::Hindrance::Kind::confounded: {
    const auto [why, remedy] = words_about(hindrance.by);
    return first + " and " + other + " " + why + ": " + remedy;
  }
  case store::Hindrance::Kind::no_scatter:
    return "the runs of " + first + " do not differ among each other, nor those of " + other +
           ", as figures that are rounded or constant; nothing is known about their error";
  case store::Hindrance::Kind::none:
    break;
  }
  if (!differs_in_one_pair(standing)) return "";
  const auto enough = count_with_enough_runs(standing);
  return "an interval is that of one pair alone, and p is corrected for all " + std::to_string(enough * (enough - 1) / 2) +
         " pairs";
}

// "Undecided by time to target: for this one seed a is ahead, -4.5 % […] against b".
std::string one_seed_text(const Standing& standing, const std::string& metrics)
{
  const auto lead = lead_text(standing);
  const auto ahead = lead.starts_with("ahead") ? " is " + lead : " is ahead" + (lead.empty() ? "" : ", " + lead);
  return "Undecided " + metrics + ": for this one seed " + shown(standing.samples.front()) + ahead;
}

// "Undecided between 2 of 6 by throughput", "a is the best of 6 by throughput at 2 ranks: +4.5 % …". `metrics`: "by throughput";
// `place`: " at 2 ranks" or empty.
std::string outcome_text(const Standing& standing, const std::string& metrics, const std::string& place)
{
  const auto best = may_be_best(standing);
  const auto of_all = std::to_string(standing.ranked.size()) + " " + metrics + place;
  switch (outcome_of(standing)) {
  case Outcome::nothing_to_rank:
    return "There is only one candidate, so there is nothing to rank";
  case Outcome::none_reached:
    return "No run reached the target" + place + ", so no candidate is the best by " +
           std::string(store::metric_row(standing.metric).words);
  case Outcome::too_few_runs:
    return "Undecided " + metrics + place + ": " + those_with_enough_runs(standing) +
           " has 3 runs, so take at least 3 repeats (study.repeats)";
  case Outcome::one_seed:
    return one_seed_text(standing, metrics + place);
  case Outcome::several:
    return "Undecided between " + std::to_string(best.size()) + " of " + of_all +
           (cannot_decide(standing) ? ", because so few runs cannot decide" : "");
  case Outcome::equivalent: {
    const auto equivalent = names_of(standing, best) + " are equivalent within " + two_digits(100 * standing.rule.margin) +
                            (store::metric_row(standing.metric).scale == store::Scale::difference ? " points" : " %");
    return best.size() == standing.ranked.size() ? equivalent + " " + metrics + place : equivalent + " and the best of " + of_all;
  }
  case Outcome::one:
    break;
  }
  const auto lead = best.front() == 0 ? lead_text(standing) : std::string();
  return shown(standing.samples[best.front()]) + " is the best of " + of_all + (lead.empty() ? "" : ": " + lead);
}

// The reason why the ranking decides no more than it does, as part of a sentence. Empty if it decides.
std::string remark_on(const Standing& standing)
{
  switch (outcome_of(standing)) {
  case Outcome::too_few_runs: {
    const auto [effect, resolvable] = unresolved_of(standing);
    return resolvable_text(effect, standing.metric, resolvable);
  }
  case Outcome::one_seed:
    return limit_text(standing.limit);
  case Outcome::several:
    return hindrance_text(standing);
  default:
    return "";
  }
}

// What the ranking by another metric adds to the ranking by the first one. Empty if it adds nothing.
std::string further_text(const Standing& standing, const Standing& first)
{
  const auto outcome = outcome_of(standing);
  const auto best = may_be_best(standing), best_of_first = may_be_best(first);
  const auto names_equal = [&](std::size_t i, std::size_t j) { return standing.ranked[i].name == first.ranked[j].name; };
  if (outcome == Outcome::too_few_runs && outcome_of(first) == outcome) return "";
  if (is_as_open(standing, first)) return "";
  if (outcome == Outcome::one && outcome_of(first) == Outcome::one && names_equal(best.front(), best_of_first.front())) {
    const auto lead = best.front() == 0 ? lead_text(standing) : std::string();
    return metric_text(standing) + " too" + (lead.empty() ? "" : ": " + lead);
  }
  auto text = outcome_text(standing, metric_text(standing), "");
  if (outcome != Outcome::one && outcome != Outcome::equivalent && !text.empty())
    text.replace(0, 1, lower_case(std::string_view(text).substr(0, 1)));
  return text;
}

// "b: -3.1 % [-8.0, +2.1] time to target against a", for the candidates that may be the best after the first.
std::vector<std::string> contenders(const Standing& standing)
{
  constexpr std::size_t most = 6;
  std::vector<std::string> lines;
  if (outcome_of(standing) != Outcome::several) return lines;
  for (const auto place : may_be_best(standing)) {
    const auto& comparison = standing.ranked[place].with_best;
    if (place == 0 || !comparison || lines.size() + 1 >= most || effect_text(comparison->effect, standing.metric).empty())
      continue;
    lines.push_back(shown(standing.samples[place]) + ": " + effect_with_interval(*comparison, standing.metric) + " " +
                    std::string(store::metric_row(standing.metric).words) + " against " + shown(standing.samples.front()));
  }
  return lines;
}

} // namespace

std::string shown_name(const Standing& standing, std::size_t place) { return shown(standing.samples[place]); }

std::vector<std::string> sentences_of(const VerdictText& text)
{
  std::vector<std::string> sentences;
  if (!text.headline.empty()) sentences.push_back(text.headline);
  for (const auto* more : {&text.lines, &text.remarks}) sentences.insert(sentences.end(), more->begin(), more->end());
  return sentences;
}

std::string sentence_of(const VerdictText& text)
{
  auto sentence = text.headline;
  for (const auto& remark : text.remarks) sentence += "; " + remark;
  return sentence;
}

std::string enumerated(std::vector<std::string> names)
{
  if (names.size() < 2) return join(names, "");
  const auto last = std::move(names.back());
  names.pop_back();
  return join(names, ", ") + " and " + last;
}

std::vector<std::string> distinct(const std::vector<std::string>& texts)
{
  std::vector<std::string> kept;
  for (const auto& text : texts)
    if (!text.empty() && std::ranges::find(kept, text) == kept.end()) kept.push_back(text);
  return kept;
}

VerdictText verdict_text(const Standing& standing)
{
  auto text = outcome_text(standing, metric_text(standing), place_text(standing));
  const auto best = may_be_best(standing);
  if (outcome_of(standing) == Outcome::several && best.size() < standing.ranked.size()) text += ": " + names_of(standing, best);
  return {std::move(text),
          distinct({remark_on(standing), is_ranked(outcome_of(standing)) ? too_few(standing) : "", reached_by(standing),
                    succeeded_by(standing)}),
          {}};
}

VerdictText verdict_text(std::span<const Standing> standings, std::span<const std::string> facts)
{
  const auto& first = standings.back();
  std::vector<std::string> parts{remark_on(first)};
  auto metrics = metric_text(first);
  for (std::size_t i = standings.size() - 1; i-- > 0;) {
    parts.push_back(further_text(standings[i], first));
    if (!parts.back().empty()) parts.push_back(remark_on(standings[i]));
    if (is_as_open(standings[i], first)) metrics += " and " + metric_text(standings[i]);
  }
  if (is_ranked(outcome_of(first))) parts.push_back(too_few(first));
  parts.push_back(reached_by(first));
  parts.push_back(succeeded_by(first));
  parts.insert(parts.end(), facts.begin(), facts.end());
  return {outcome_text(first, metrics, place_text(first)), distinct(parts), contenders(first)};
}

} // namespace dt::cli
