// Rankings and scaling in words.
#include "core/counted.hpp"
#include "store/analysis/verdict/verdict.hpp"

#include "core/text.hpp"
#include "store/analysis/verdict/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace dt::store {
namespace {

std::string shown(const Sample& sample)
{
  const auto& name = sample.title.empty() ? sample.candidate.name : sample.title;
  return name.empty() ? "the only label" : printable(name);
}

// "a, b and c"
std::string listed(std::vector<std::string> names)
{
  if (names.size() < 2) return join(names, "");
  const auto last = names.back();
  names.pop_back();
  return join(names, ", ") + " and " + last;
}

std::string names_of(const Standing& standing, const std::vector<std::size_t>& places)
{
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(places.size(), most); ++i) names.push_back(shown(standing.samples[places[i]]));
  if (places.size() > most) names.push_back(std::to_string(places.size() - most) + " more");
  return listed(std::move(names));
}

bool has_enough_runs(const Sample& sample)
{
  const auto& values = sample.candidate.values;
  return static_cast<double>(values.size()) >= least_runs || (sample.candidate.is_exact && !values.empty());
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
std::string metric_text(const Standing& standing) { return "by " + std::string(metric_row(standing.metric).words); }

std::string place_text(const Standing& standing)
{
  const auto& place = standing.title.empty() ? standing.contest : standing.title;
  return place.empty() ? "" : " at " + printable(place);
}

// The first with the second: A is the second in a ranking, so the effect is turned round.
std::string lead_text(const Standing& standing, std::size_t place)
{
  const auto& comparison = *standing.ranked[place].with_best;
  auto turned = comparison;
  const bool is_difference = comparison.method == Method::difference;
  const auto turn = [&](double value) { return is_difference ? -value : 1 / value; };
  turned.effect = turn(comparison.effect);
  turned.interval = {turn(comparison.interval.high), turn(comparison.interval.low)};
  const auto interval = interval_text(turned, standing.metric);
  return effect_text(turned.effect, standing.metric) + (interval.empty() ? "" : " " + interval);
}

// Returns "+4.5 % [+2.1, +6.9] against sync-sgd, p = 0.003", or less if less is known. The p value is Holm's.
std::string lead_over_second(const Standing& standing)
{
  const auto& second = standing.ranked[1];
  if (!second.with_best) return "";
  auto lead = lead_text(standing, 1);
  lead += (lead.empty() ? "ahead of " : " against ") + shown(standing.samples[1]);
  if (!std::isnan(second.adjusted_p)) lead += ", p = " + number_text("%.2g", second.adjusted_p);
  return lead;
}

// What could be seen with so few runs.
std::string resolvable_text(const Standing& standing)
{
  const auto& first = standing.samples.front().candidate.values;
  const auto& second = standing.samples[1].candidate.values;
  const double resolvable =
      resolvable_difference(standing.scatter.cv, standing.scatter.freedom, static_cast<double>(first.size()),
                            static_cast<double>(second.size()), standing.rule.level);
  const auto scale = metric_row(standing.metric).scale;
  const auto centre = [&](std::size_t place) { return centre_of(standing.samples[place].candidate, scale); };
  const double effect = scale == Scale::difference ? centre(0) - centre(1) : centre(0) / centre(1);
  return resolvable_words(effect, scale, resolvable);
}

bool none_reached(const Standing& standing)
{
  return metric_row(standing.metric).needs_target &&
         std::all_of(standing.samples.begin(), standing.samples.end(), [](const Sample& s) { return s.reached == 0; });
}

// Who reached the target, if not all runs did: "5 of 5 runs reached the target only with a and b". Else empty.
std::string reached_by(const Standing& standing)
{
  constexpr std::size_t most = 3;
  if (!metric_row(standing.metric).needs_target || none_reached(standing)) return "";
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

// Of candidates that may be the best: those of whose runs some have not succeeded, which is no chance. "only 3 of
// 6 runs with b and c have succeeded". Else empty.
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

// Whether no rank test of the first with another could have decided.
bool cannot_decide(const Standing& standing)
{
  const auto is_open = [&](const Ranked& row) {
    return !row.with_best || (row.with_best->method == Method::ranks && row.with_best->smallest_p > 1 - standing.rule.level);
  };
  return standing.ranked[1].with_best && std::all_of(standing.ranked.begin(), standing.ranked.end(), is_open);
}

std::string size_words(const ScalingRow& row, bool in_nodes)
{
  const auto count = row.is_part ? row.size : in_nodes ? row.nodes : row.workers;
  return counted(count, row.is_part ? "part" : in_nodes ? "node" : row.workers == row.ranks ? "rank" : "worker");
}

// The largest point whose ranks do not train together; null if there is none.
const ScalingRow* copies_among(std::span<const ScalingRow> points)
{
  const auto found =
      std::ranges::find_if(points.rbegin(), points.rend(), [](const ScalingRow& point) { return point.copies > 0; });
  return found == points.rend() ? nullptr : &*found;
}

double ideal_ratio(const ScalingRow& row)
{
  return row.is_part ? 1 : static_cast<double>(row.size) / static_cast<double>(row.baseline_size);
}

// "1.76x on 2 ranks", "1.76x on 2 nodes (easgd)"
std::string speedup_words(const ScalingRow& row)
{
  const bool in_nodes = row.size == row.nodes && row.nodes != row.workers;
  return number_text("%.2fx", row.speedup) + " on " + size_words(row, in_nodes) +
         (row.label.empty() ? "" : " (" + printable(row.label) + ")");
}

// Where the interval of a ratio lies: -1 below 1, 1 above it, 0 if it contains 1. A bound that is printed as 1 counts as 1, so
// that the words never contradict the figures beside them. `half_digit`: half of the last printed digit.
int side_of_one(Interval ratio, double half_digit)
{
  if (ratio.high < 1 - half_digit) return -1;
  return ratio.low >= 1 + half_digit ? 1 : 0;
}
constexpr double half_of_a_percent_digit = 0.0005; // "100.0"
constexpr double half_of_a_factor_digit = 0.005;   // "1.00"

// Whether the efficiency differs from 100 %.
std::string against_ideal(const ScalingRow& row)
{
  if (!std::isfinite(row.efficiency_low)) return "";
  const int side = side_of_one({row.efficiency_low, row.efficiency_high}, half_of_a_percent_digit);
  if (side == 0) return ", not measurably different from 100 %";
  return side < 0 ? ", below 100 %" : ", above 100 %";
}

// Whether the efficiency at points[point] differs from that of the next smaller size.
std::string against_smaller(std::span<const ScalingRow> points, std::size_t point, std::size_t smaller, bool in_nodes)
{
  const auto interval = efficiency_interval(points, point, smaller);
  if (!std::isfinite(interval.low)) return "";
  const auto that = " that at " + size_words(points[smaller], in_nodes);
  const int side = side_of_one(interval, half_of_a_percent_digit);
  if (side == 0) return " and not measurably different from" + that;
  return (side < 0 ? " and below" : " and above") + that;
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
  auto text = number_text("%.2fx", row.speedup) + " the throughput of " + size_words(fewest, false);
  if (!std::isfinite(row.efficiency_low)) return text;
  text += " [" + number_text("%.2f", row.efficiency_low) + ", " + number_text("%.2f", row.efficiency_high) + "], ";
  const int side = side_of_one({row.efficiency_low, row.efficiency_high}, half_of_a_factor_digit);
  if (side == 0) return text + "not measurably different";
  return text + (side > 0 ? "faster" : "slower");
}

// What repeats are missing, if an efficiency has no interval.
std::string missing_repeats(std::span<const ScalingRow> points, bool in_nodes)
{
  if (std::all_of(points.begin(), points.end(), [](const auto& point) { return point.is_exact; }))
    return "the times are simulated and lack a machine's scatter";
  std::vector<Candidate> candidates;
  double fewest = least_runs;
  for (const auto& point : points) {
    candidates.push_back({point.label, point.throughputs});
    fewest = std::min(fewest, static_cast<double>(point.throughputs.size()));
  }
  if (fewest >= least_runs) return "";
  const auto scatter = pooled_scatter(candidates, Scale::ratio);
  const double resolvable = resolvable_difference(scatter.cv, scatter.freedom, fewest, fewest, 0.95);
  const auto outlying = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.outlying > 0; });
  const auto of_size = std::string("with fewer than 3 runs of a size") + (outlying ? " without the outliers" : "");
  const std::string ideal = points.front().is_part ? "that of the fewest parts" : "100 %";
  std::vector<std::string> beyond;
  for (const auto& point : points)
    if (!std::isfinite(point.efficiency_low) && is_beyond_resolvable(point.efficiency, Scale::ratio, resolvable))
      beyond.push_back(size_words(point, in_nodes));
  if (beyond.empty())
    return of_size + ", the runs do not show whether its efficiency differs from " + ideal + ": " +
           resolvable_words(1, Scale::ratio, resolvable);
  return of_size + " its efficiency has no interval, but the smallest difference from " + ideal +
         " that these runs could resolve is " + two_digits(100 * resolvable) + " %, and that of " + listed(std::move(beyond)) +
         " is larger";
}

} // namespace

namespace {

Standing unranked(std::string contest, Metric metric, std::vector<Sample> samples, const Rule& rule)
{
  Standing standing{
      .contest = std::move(contest), .metric = metric, .ranked = {}, .samples = std::move(samples), .scatter = {}, .rule = rule};
  standing.rule.better = metric_row(metric).better;
  return standing;
}

Standing unranked(const Contest& contest, Metric metric, const Rule& rule)
{
  std::vector<Sample> samples;
  for (const auto& point : contest.points) {
    samples.push_back(sample_of(point.candidate.empty() ? name_of(point) : point.candidate, point.runs, metric));
    samples.back().title = point.title.empty() && !point.candidate.empty() ? point.candidate : point.title;
  }
  auto standing = unranked(contest.name, metric, std::move(samples), rule);
  standing.title = contest.title;
  return standing;
}

// With one seed for all repeats no candidate is behind another one.
void limit_to_seed(Standing& standing)
{
  std::vector<const Sample*> samples;
  for (const auto& sample : standing.samples) samples.push_back(&sample);
  standing.limit = limit_of_seeds(standing.metric, samples);
  if (!standing.limit.is_set()) return;
  for (auto& ranked : standing.ranked) {
    if (ranked.rank != Rank::unknown) ranked.rank = Rank::open;
    ranked.excluded_by.clear();
    ranked.excluder.reset();
    ranked.adjusted_p = std::numeric_limits<double>::quiet_NaN();
  }
}

// Ranks all samples, and sorts them by their places.
void rank(std::span<Standing> standings)
{
  std::vector<std::vector<Candidate>> candidates;
  std::vector<Contestants> contests;
  for (const auto& standing : standings) {
    auto& own = candidates.emplace_back();
    for (const auto& sample : standing.samples) own.push_back(sample.candidate);
  }
  for (std::size_t i = 0; i < standings.size(); ++i)
    contests.push_back({candidates[i], standings[i].rule, metric_row(standings[i].metric).scale, standings[i].metric});
  auto ranked = rankings(contests);
  for (std::size_t i = 0; i < standings.size(); ++i) {
    auto& standing = standings[i];
    standing.scatter = pooled_scatter(candidates[i], contests[i].scale);
    standing.ranked = std::move(ranked[i]);
    std::vector<Sample> sorted;
    for (const auto& row : standing.ranked) sorted.push_back(std::move(standing.samples[row.candidate]));
    standing.samples = std::move(sorted);
    limit_to_seed(standing);
  }
}

} // namespace

Standing standing_of(std::string contest, Metric metric, std::vector<Sample> samples, const Rule& rule)
{
  auto standing = unranked(std::move(contest), metric, std::move(samples), rule);
  rank({&standing, 1});
  return standing;
}

std::vector<Standing> standings_of(std::span<const Contest> contests, std::span<const Metric> metrics, const Rule& rule)
{
  std::vector<Standing> standings;
  for (const auto& contest : contests)
    for (const auto metric : metrics) standings.push_back(unranked(contest, metric, rule));
  rank(standings);
  return standings;
}

std::vector<std::size_t> may_be_best(const Standing& standing)
{
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < standing.ranked.size(); ++i)
    if (standing.ranked[i].rank != Rank::behind && standing.ranked[i].rank != Rank::unknown) places.push_back(i);
  return places;
}

std::string shown_name(const Standing& standing, std::size_t place) { return shown(standing.samples[place]); }

namespace {

enum class Outcome { one, equivalent, several, none_reached, too_few_runs, nothing_to_rank, one_seed };

Outcome outcome_of(const Standing& standing)
{
  if (standing.ranked.size() < 2) return Outcome::nothing_to_rank;
  if (none_reached(standing)) return Outcome::none_reached;
  if (std::count_if(standing.samples.begin(), standing.samples.end(), has_enough_runs) < 2) return Outcome::too_few_runs;
  if (standing.limit.is_set()) return Outcome::one_seed;
  const auto best = may_be_best(standing);
  if (best.size() == 1) return Outcome::one;
  return standing.ranked[best.front()].rank == Rank::equivalent ? Outcome::equivalent : Outcome::several;
}

// The candidates that have enough runs, where fewer than two have: "no candidate" or "only one candidate".
std::string those_with_enough_runs(const Standing& standing)
{
  return std::any_of(standing.samples.begin(), standing.samples.end(), has_enough_runs) ? "only one candidate" : "no candidate";
}

// For an undecided ranking: the remark that p values are corrected for all pairs, while an interval is that of one pair. Empty if
// no interval alone would decide.
std::string correction(const Standing& standing)
{
  const auto best = may_be_best(standing);
  const auto decides_alone = [&](std::size_t place) {
    const auto& pair = standing.ranked[place].with_best;
    return pair && (pair->verdict == Verdict::faster || pair->verdict == Verdict::slower);
  };
  if (std::none_of(best.begin(), best.end(), decides_alone)) return "";
  const auto enough = std::count_if(standing.samples.begin(), standing.samples.end(), has_enough_runs);
  return "an interval is that of one pair alone, and p is corrected for all " + std::to_string(enough * (enough - 1) / 2) +
         " pairs";
}

// Why more runs of the same kind would not decide between those that may be the best; else empty.
std::string hindrance(const Standing& standing)
{
  const auto best = may_be_best(standing);
  for (std::size_t later = 1; later < best.size(); ++later) {
    const auto &first = standing.samples[best[0]], &other = standing.samples[best[later]];
    if (const auto by = confounding_of(first.candidate, other.candidate); by != Confounded::no) {
      const auto [why, remedy] = words_about(by);
      return shown(first) + " and " + shown(other) + " " + why + ": " + remedy;
    }
    const auto& comparison = standing.ranked[best[later]].with_best;
    if (best[0] == 0 && comparison && comparison->has_no_scatter && comparison->design != Design::exact)
      return "the runs of " + shown(first) + " do not differ among each other, nor those of " + shown(other) +
             ", as figures that are rounded or constant; nothing is known about their error";
  }
  return "";
}

// "Undecided by time to target: for this one seed a is ahead, -4.5 % […] against b".
std::string one_seed_text(const Standing& standing, const std::string& metrics)
{
  const auto lead = lead_over_second(standing);
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
           std::string(metric_row(standing.metric).words);
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
                            (metric_row(standing.metric).scale == Scale::difference ? " points" : " %");
    return best.size() == standing.ranked.size() ? equivalent + " " + metrics + place : equivalent + " and the best of " + of_all;
  }
  case Outcome::one:
    break;
  }
  const auto lead = best.front() == 0 ? lead_over_second(standing) : std::string();
  return shown(standing.samples[best.front()]) + " is the best of " + of_all + (lead.empty() ? "" : ": " + lead);
}

// The reason why the ranking decides no more than it does, as part of a sentence. Empty if it decides.
std::string remark_on(const Standing& standing)
{
  switch (outcome_of(standing)) {
  case Outcome::too_few_runs:
    return resolvable_text(standing);
  case Outcome::one_seed:
    return standing.limit.why + "; " + standing.limit.remedy;
  case Outcome::several: {
    const auto why = hindrance(standing);
    return why.empty() ? correction(standing) : why;
  }
  default:
    return "";
  }
}

// Whether the same candidates may be the best by both.
bool is_as_open(const Standing& one, const Standing& other)
{
  if (outcome_of(one) != Outcome::several || outcome_of(other) != Outcome::several) return false;
  const auto names = [](const Standing& standing) {
    std::set<std::string> names_of_best;
    for (const auto place : may_be_best(standing)) names_of_best.insert(standing.ranked[place].name);
    return names_of_best;
  };
  return names(one) == names(other);
}

// What a further metric says: nothing if it says no more than the first one did.
std::string further_text(const Standing& standing, const Standing& first)
{
  const auto outcome = outcome_of(standing);
  const auto best = may_be_best(standing), best_of_first = may_be_best(first);
  const auto names_equal = [&](std::size_t i, std::size_t j) { return standing.ranked[i].name == first.ranked[j].name; };
  if (outcome == Outcome::too_few_runs && outcome_of(first) == outcome) return "";
  if (is_as_open(standing, first)) return "";
  if (outcome == Outcome::one && outcome_of(first) == Outcome::one && names_equal(best.front(), best_of_first.front())) {
    const auto lead = best.front() == 0 ? lead_over_second(standing) : std::string();
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
    if (place == 0 || !comparison || lines.size() + 1 >= most) continue;
    const auto interval = interval_text(*comparison, standing.metric), effect = effect_text(comparison->effect, standing.metric);
    if (effect.empty()) continue;
    lines.push_back(shown(standing.samples[place]) + ": " + effect + (interval.empty() ? "" : " " + interval) + " " +
                    std::string(metric_row(standing.metric).words) + " against " + shown(standing.samples.front()));
  }
  return lines;
}

// Whether the candidates with enough runs were compared.
bool is_ranked(const Standing& standing)
{
  const auto outcome = outcome_of(standing);
  return outcome == Outcome::one || outcome == Outcome::equivalent || outcome == Outcome::several;
}

// Each remark once, without empty ones. Two metrics may have the same one.
std::vector<std::string> distinct(const std::vector<std::string>& remarks)
{
  std::vector<std::string> kept;
  for (const auto& remark : remarks)
    if (!remark.empty() && std::find(kept.begin(), kept.end(), remark) == kept.end()) kept.push_back(remark);
  return kept;
}

} // namespace

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

VerdictText verdict_text(const Standing& standing)
{
  auto text = outcome_text(standing, metric_text(standing), place_text(standing));
  const auto best = may_be_best(standing);
  if (outcome_of(standing) == Outcome::several && best.size() < standing.ranked.size()) text += ": " + names_of(standing, best);
  return {
      std::move(text),
      distinct({remark_on(standing), is_ranked(standing) ? too_few(standing) : "", reached_by(standing), succeeded_by(standing)}),
      {}};
}

std::string sentence_of(const Standing& standing) { return sentence_of(verdict_text(standing)); }

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
  if (is_ranked(first)) parts.push_back(too_few(first));
  parts.push_back(reached_by(first));
  parts.push_back(succeeded_by(first));
  parts.insert(parts.end(), facts.begin(), facts.end());
  return {outcome_text(first, metrics, place_text(first)), distinct(parts), contenders(first)};
}

ScaleAnswer scale_answer(std::span<const ScalingRow> points)
{
  if (const auto* copies = copies_among(points))
    return {"no", "no: " + counted(copies->ranks, "rank") + " of it do not train together"};
  const ScalingRow *best = nullptr, *largest = nullptr;
  for (const auto& point : points) {
    if (!std::isfinite(point.efficiency) || point.size == point.baseline_size) continue;
    if (best == nullptr || point.speedup > best->speedup) best = &point;
    if (largest == nullptr || point.size >= largest->size) largest = &point;
  }
  if (best == nullptr) return {"not known", "not known: no two sizes were measured"};
  const auto side = side_of_one({best->efficiency_low * ideal_ratio(*best), best->efficiency_high * ideal_ratio(*best)},
                                half_of_a_factor_digit);
  const bool has_interval = std::isfinite(best->efficiency_low);
  const bool is_more = best->speedup >= 1 + half_of_a_factor_digit;
  const std::string word = side > 0 || (best->is_exact && is_more) ? "yes" : side < 0 || best->is_exact ? "no" : "cannot tell";
  auto text = word + ": " + speedup_words(*best);
  if (!has_interval && !best->is_exact) text += ", and without 3 runs of both sizes there is no interval";
  if (has_interval && side == 0) text += ", not measurably faster than the smallest size";
  if (largest != best && largest->label == best->label) text += "; " + speedup_words(*largest);
  return {word, std::move(text), best};
}

VerdictText scaling_verdict(std::span<const ScalingRow> points, std::span<const std::string> facts)
{
  if (const auto* copies = copies_among(points))
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
    const auto& row = *measured[i];
    auto text =
        row.is_part ? part_text(row, *measured.front()) : efficiency_text(row, *measured.front(), in_nodes) + against_ideal(row);
    const auto index = [&](const ScalingRow* point) { return static_cast<std::size_t>(point - points.data()); };
    if (i > 1 && !row.is_part) text += against_smaller(points, index(measured[i]), index(measured[i - 1]), in_nodes);
    lines.push_back(size_words(row, in_nodes) + ": " + text);
  }
  if (lines.empty()) return {"The smallest size was not measured, so there is no efficiency to report"};
  std::vector<std::string> parts{missing_repeats(points, in_nodes)};
  parts.insert(parts.end(), facts.begin(), facts.end());
  auto headline = std::move(lines.back());
  lines.pop_back();
  return {std::move(headline), distinct(parts), std::move(lines)};
}

} // namespace dt::store
