#include "cli/answers/comparison_tables.hpp"

#include "cli/answers/verdict/judged_text.hpp"
#include "cli/answers/verdict/verdict_text.hpp"
#include "cli/output/table_column.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using store::Judged;
using store::Metric;
using store::Sample;
using store::Verdict;

Cell metric_cell(double value, Metric metric)
{
  switch (metric) {
  case Metric::throughput:
  case Metric::energy:
  case Metric::loss:
    return real_cell(value);
  case Metric::accuracy:
  case Metric::mfu:
    return percent_cell(value);
  case Metric::node_hours:
    return real_cell(value, 3);
  case Metric::samples:
    return real_cell(value, 6);
  default:
    return seconds_cell(value);
  }
}

// The mean that is compared, of the runs that did not diverge; of times to target with "(2/3)" if one of three runs missed the
// target.
Cell trained_cell(const Sample& sample, Metric metric)
{
  auto cell = metric_cell(store::centre_of(sample.candidate, store::metric_row(metric).scale), metric);
  if (!store::metric_row(metric).needs_target || sample.reached == sample.with_target) return cell;
  cell.text += fmt::format(" ({}/{})", sample.reached, sample.with_target);
  cell.style = Style::warning;
  return cell;
}

// The mean that is compared. Of times to target the median, in which misses are infinite, with "(2/3)" if one of three missed.
// Runs that diverged are named where they are left out.
Cell sample_cell(const Sample& sample, Metric metric)
{
  auto cell = trained_cell(sample, metric);
  if (sample.diverged == 0 || !store::metric_row(metric).is_of_training) return cell;
  cell.text += fmt::format(" ({} diverged)", sample.diverged);
  cell.style = Style::warning;
  return cell;
}

// A ratio or a difference, for people as "+4.5 % [+2.1, +6.9]".
Cell effect_cell(const store::Comparison& comparison, Metric metric)
{
  auto cell = real_cell(comparison.effect);
  if (!effect_text(comparison.effect, metric).empty()) cell.text = effect_with_interval(comparison, metric);
  return cell;
}

Style style_of(Verdict verdict)
{
  switch (verdict) {
  case Verdict::faster:
    return Style::good;
  case Verdict::slower:
    return Style::bad;
  case Verdict::equivalent:
    return Style::plain;
  case Verdict::cannot_tell:
    break;
  }
  return Style::warning;
}

Cell number_cell(double value) { return real_cell(value); }
Cell count_of(std::size_t count) { return count_cell(static_cast<std::int64_t>(count)); }

// "ratio", "paired-ratio", "pooled-difference", "ranks"
std::string name_of(store::Method method, store::Design design)
{
  if (method == store::Method::ranks) return "ranks";
  const auto prefix = [design] {
    switch (design) {
    case store::Design::paired:
      return "paired-";
    case store::Design::pooled:
      return "pooled-";
    case store::Design::exact:
      return "exact-";
    case store::Design::independent:
      break;
    }
    return "";
  }();
  return std::string(prefix) + (method == store::Method::ratio ? "ratio" : "difference");
}

Cell limit_cell(const store::Limit& limit)
{
  return limit.is_set() ? text_cell(limit.is_apart() ? "apart" : "one-seed") : data_cell(nullptr);
}

using Columns = std::vector<TableColumn<Judged>>;

// Columns for programs only.
Columns data_columns()
{
  const auto real = [](std::string name, double (*value)(const Judged&)) {
    return TableColumn<Judged>{{std::move(name), ""}, [value](const Judged& j) { return number_cell(value(j)); }};
  };
  const auto count = [](std::string name, std::size_t (*value)(const Judged&)) {
    return TableColumn<Judged>{{std::move(name), ""}, [value](const Judged& j) { return count_of(value(j)); }};
  };
  return {
      {{"metric", ""}, [](const Judged& j) { return text_cell(std::string(store::metric_row(j.metric).name)); }},
      {{"method", ""}, [](const Judged& j) { return text_cell(name_of(j.comparison.method, j.comparison.design)); }},
      count("runs_a", [](const Judged& j) { return j.comparison.runs_a; }),
      count("runs_b", [](const Judged& j) { return j.comparison.runs_b; }),
      count("outlying_a", [](const Judged& j) { return j.a.outlying; }),
      count("outlying_b", [](const Judged& j) { return j.b.outlying; }),
      count("diverged_a", [](const Judged& j) { return j.a.diverged; }),
      count("diverged_b", [](const Judged& j) { return j.b.diverged; }),
      count("reached_a", [](const Judged& j) { return j.a.reached; }),
      count("target_runs_a", [](const Judged& j) { return j.a.with_target; }),
      count("reached_b", [](const Judged& j) { return j.b.reached; }),
      count("target_runs_b", [](const Judged& j) { return j.b.with_target; }),
      real("low", [](const Judged& j) { return j.comparison.interval.low; }),
      real("high", [](const Judged& j) { return j.comparison.interval.high; }),
      real("p", [](const Judged& j) { return j.comparison.p; }),
      real("resolvable", [](const Judged& j) { return j.resolvable; }),
      {{"regression", ""}, [](const Judged& j) { return data_cell(store::is_regression(j)); }},
      {{"more_runs_of_each", ""},
       [](const Judged& j) { return j.more.per_side > 0 ? count_of(j.more.per_side) : data_cell(nullptr); }},
      real("more_node_hours", [](const Judged& j) { return j.more.per_side > 0 ? j.more_node_hours : not_measured; }),
      {{"limit", ""}, [](const Judged& j) { return limit_cell(j.limit); }},
      {{"between_studies", ""},
       [](const Judged& j) { return j.between.is_known() ? count_of(j.between.studies) : data_cell(nullptr); }},
      real("between_deviation", [](const Judged& j) { return j.between.is_known() ? j.between.deviation() : not_measured; }),
      {{"sentence", ""}, [](const Judged& j) { return text_cell(sentence_of(j)); }},
  };
}

// A candidate of a ranking.
struct Place {
  const store::Ranked* ranked;
  const Sample* sample;
  Metric metric;
  std::string title, title_of_excluder;
};

std::string_view name_of(store::Rank rank)
{
  switch (rank) {
  case store::Rank::best:
    return "best";
  case store::Rank::equivalent:
    return "equivalent";
  case store::Rank::open:
    return "open";
  case store::Rank::behind:
    return "behind";
  case store::Rank::unknown:
    break;
  }
  return "unknown";
}

Cell best_cell(const Place& place)
{
  if (place.sample->candidate.values.empty())
    return {false, place.sample->diverged > 0 ? "diverged" : place.sample->succeeded > 0 ? "no data" : "no runs", Style::warning};
  switch (place.ranked->rank) {
  case store::Rank::behind:
    return {false, "behind " + place.title_of_excluder, Style::plain};
  case store::Rank::best:
    return {true, "the best", Style::good};
  case store::Rank::equivalent:
    return {true, "equivalent", Style::good};
  default:
    return {true, "may be the best", Style::good};
  }
}

std::vector<TableColumn<Place>> standing_columns(Metric metric)
{
  const auto& row = store::metric_row(metric);
  return {
      {{"name", "candidate"},
       [](const Place& p) {
         return Cell{p.ranked->name, p.title};
       }},
      {{"runs", "runs", Align::right}, [](const Place& p) { return count_of(p.sample->candidate.values.size()); }},
      {{"value", std::string(row.title), Align::right}, [](const Place& p) { return sample_cell(*p.sample, p.metric); }},
      {{"effect", "against the first [95 %]", Align::right, 1},
       [](const Place& p) {
         return p.ranked->with_best ? effect_cell(*p.ranked->with_best, p.metric) : Cell{nullptr, "-"};
       }},
      {{"low", ""},
       [](const Place& p) { return number_cell(p.ranked->with_best ? p.ranked->with_best->interval.low : not_measured); }},
      {{"high", ""},
       [](const Place& p) { return number_cell(p.ranked->with_best ? p.ranked->with_best->interval.high : not_measured); }},
      {{"adjusted_p", "p (Holm)", Align::right, 2}, [](const Place& p) { return real_cell(p.ranked->adjusted_p, 2); }},
      {{"may_be_best", "verdict"}, best_cell},
      {{"rank", ""}, [](const Place& p) { return text_cell(std::string(name_of(p.ranked->rank))); }},
      {{"excluded_by", ""}, [](const Place& p) { return text_cell(p.ranked->excluded_by); }},
      {{"outlying", ""}, [](const Place& p) { return count_of(p.sample->outlying); }},
      {{"reached", ""}, [](const Place& p) { return count_of(p.sample->reached); }},
      {{"target_runs", ""}, [](const Place& p) { return count_of(p.sample->with_target); }},
  };
}

} // namespace

Table comparison_table(const std::vector<Judged>& comparisons)
{
  Columns columns{
      {{"point", "point"},
       [](const Judged& j) {
         return Cell{j.name, j.title.empty() ? j.name : j.title};
       }},
      {{"a", "A", Align::right}, [](const Judged& j) { return sample_cell(j.a, j.metric); }},
      {{"b", "B", Align::right}, [](const Judged& j) { return sample_cell(j.b, j.metric); }},
      {{"runs", "runs", Align::right, 1},
       [](const Judged& j) {
         return Cell{nullptr, fmt::format("{}+{}", j.comparison.runs_a, j.comparison.runs_b)};
       }},
      {{"effect", "A against B [95 %]", Align::right}, [](const Judged& j) { return effect_cell(j.comparison, j.metric); }},
      {{"verdict", "verdict"},
       [](const Judged& j) { return text_cell(word_of(finding_of(j), j.metric), style_of(j.comparison.verdict)); }},
  };
  for (auto& column : data_columns()) columns.push_back(std::move(column));
  return table_of("comparisons", columns, comparisons, std::identity(), "nothing was compared");
}

Table standing_table(const store::Standing& standing)
{
  std::vector<Place> places;
  for (std::size_t i = 0; i < standing.ranked.size(); ++i) {
    const auto& ranked = standing.ranked[i];
    places.push_back({&ranked, &standing.samples[i], standing.metric, shown_name(standing, i),
                      ranked.excluder ? shown_name(standing, *ranked.excluder) : ""});
  }
  return table_of("ranking", standing_columns(standing.metric), places, std::identity(), "nothing was ranked");
}

Json to_json(const store::Standing& standing)
{
  Json best = Json::array();
  for (const auto place : may_be_best(standing)) best.push_back(standing.ranked[place].name);
  const auto text = verdict_text(standing);
  return {{"metric", std::string(store::metric_row(standing.metric).name)},
          {"contest", standing.contest},
          {"sentence", sentence_of(text)},
          {"sentences", sentences_of(text)},
          {"may_be_best", std::move(best)},
          {"limit", limit_cell(standing.limit).value},
          {"ranking", to_json(standing_table(standing))}};
}

std::string verdict_counts(const std::vector<Judged>& comparisons)
{
  using store::Finding;
  std::vector<std::string> parts;
  for (const auto finding :
       {Finding::faster, Finding::slower, Finding::equivalent, Finding::same_runs, Finding::different_in_these_runs,
        Finding::alike_in_these_runs, Finding::for_this_seed, Finding::cannot_tell, Finding::no_data}) {
    const auto count = std::ranges::count(comparisons, finding, [](const auto& judged) { return finding_of(judged); });
    if (count == 0) continue;
    const auto word = word_of(finding, comparisons.front().metric);
    parts.push_back(fmt::format("{} {}", count, finding == Finding::no_data ? "without data" : word));
  }
  return join(parts, ", ");
}

} // namespace dt::cli
