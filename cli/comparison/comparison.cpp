#include "cli/comparison/comparison.hpp"

#include "cli/answers/comparison_tables.hpp"
#include "cli/answers/verdict/judged_text.hpp"
#include "cli/answers/verdict/limit_text.hpp"
#include "cli/answers/verdict_output.hpp"
#include "cli/command/context.hpp"
#include "cli/comparison/against_now.hpp"
#include "cli/comparison/formats.hpp"
#include "cli/output/cell.hpp"
#include "cli/output/output.hpp"
#include "cli/runs/compared_side.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/number.hpp"
#include "core/program/environment.hpp"
#include "core/record/baselines.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "store/analysis/doubts/separation.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/separation_query.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// Checks of what `dtctl compare` is asked to compare: what is refused, and what is warned about.

// Reads "2%" or "0.02" as 0.02. Throws a usage error for anything but a share from 0 to below 1: a number without a percent sign
// is a fraction, because 2 could mean either.
double share_of(const char* option, const std::string& text)
{
  const bool is_percent = text.ends_with('%');
  const auto digits = trim(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)));
  const double share = number_of<double>(digits).value_or(not_measured) / (is_percent ? 100 : 1);
  if (!(share >= 0 && share < 1))
    throw Error(ErrorKind::usage,
                fmt::format("{} takes a share from 0 to below 100%, such as 2% or 0.02, not {}", option, printable(text)));
  return share;
}

// NaN: none was given.
double threshold_of(const CompareOptions& options)
{
  return options.threshold.empty() ? not_measured : share_of("--threshold", options.threshold);
}

// The metric that is asked for, else the one by which both sides were tuned.
store::Metric metric_of(const CompareOptions& options, const ComparedSide& a, const ComparedSide& b)
{
  if (!options.metric.empty()) return store::metric_of(options.metric);
  return a.tuned_by == b.tuned_by ? find_choice<store::Metric>(a.tuned_by).value_or(store::Metric::throughput)
                                  : store::Metric::throughput;
}

// Warns about each difference between the compared runs, and prints them as the JSON member `differences`.
void warn_about(Context& context, const std::vector<std::string>& differences)
{
  for (const auto& difference : differences) context.messages.warn("{}", printable(difference));
  Json list = Json::array();
  for (const auto& difference : differences) list.push_back(difference);
  context.out.data("differences", std::move(list));
}

// Throws a usage error if no sample has a value of the metric.
void require_metric(store::Metric metric, const std::vector<const store::Sample*>& samples)
{
  const auto has_values = [](const store::Sample* sample) { return !sample->candidate.values.empty(); };
  if (std::any_of(samples.begin(), samples.end(), has_values)) return;
  const auto has_succeeded = [](const store::Sample* sample) { return sample->succeeded > 0; };
  if (std::none_of(samples.begin(), samples.end(), has_succeeded))
    throw Error(ErrorKind::usage, "none of these runs has succeeded, so there is nothing to compare; see: dtctl status");
  const auto& row = store::metric_row(metric);
  throw Error(ErrorKind::usage, "none of these runs has a value of " + std::string(row.words) +
                                    (row.needs_target ? ", because their recipes have no train.target_accuracy" : "") +
                                    "; choose another --metric");
}

// Throws a usage error if the succeeded runs have different target accuracies: times to them cannot be compared.
void require_one_target(const std::vector<store::Run>& a, const std::vector<store::Run>& b)
{
  std::set<double> targets;
  for (const auto* runs : {&a, &b})
    for (const auto& run : *runs)
      if (run.succeeded && run.target_accuracy > 0) targets.insert(run.target_accuracy);
  if (targets.size() < 2) return;
  throw Error(ErrorKind::usage, "times to different targets cannot be compared: the runs have the target accuracies " +
                                    format_shortest(*targets.begin()) + " and " + format_shortest(*targets.rbegin()) +
                                    "; choose another --metric, or runs with one target");
}

// A run and what it measured: another attempt, or a run on another machine, has the same key and other figures.
using Measurement = std::pair<std::string, std::string>;

std::set<Measurement> measurements_of(const std::vector<store::Run>& runs)
{
  std::set<Measurement> all;
  for (const auto& run : runs) all.emplace(run.key, fmt::format("{} {} {}", run.throughput, run.step_s, run.wall_s));
  return all;
}

// Runs that are on both sides. A run belongs to every study whose recipe asks for the same work.
std::size_t shared_runs(const ComparedSide& a, const ComparedSide& b)
{
  const auto ours = measurements_of(a.runs), theirs = measurements_of(b.runs);
  return static_cast<std::size_t>(std::ranges::count_if(ours, [&](const auto& run) { return theirs.contains(run); }));
}

bool are_same_runs(const std::vector<store::Run>& a, const std::vector<store::Run>& b)
{
  return measurements_of(a) == measurements_of(b);
}

// Warns if some runs, but not all, are on both sides.
void check_overlap(Context& context, const ComparedSide& a, const ComparedSide& b)
{
  if (are_same_runs(a.runs, b.runs))
    return context.messages.info("A and B are the same runs: nothing of what a run is has changed");
  if (const auto shared = shared_runs(a, b); shared > 0)
    context.messages.warn("{} on both sides, so that A and B seem more alike than they are",
                          counted(shared, "run is", "runs are"));
}

// Warns about runs that do not count because they have not succeeded, or not yet. `side` is their name in the sentence.
void warn_about_unfinished(Context& context, const char* side, const std::vector<store::Run>& runs)
{
  const auto all = std::ranges::count(runs, false, &store::Run::is_control);
  const auto missing = std::ranges::count_if(runs, [](const auto& run) { return !run.succeeded && !run.is_control; });
  if (missing > 0)
    context.messages.warn("{} of {} runs of {} {} not succeeded and {} not count", missing, all, side,
                          missing == 1 ? "has" : "have", missing == 1 ? "does" : "do");
}

using store::Judged;
using store::Metric;

// The name of A and of B, once if they are equal.
std::string both(const std::string& a, const std::string& b) { return a == b ? a : a + " : " + b; }

// The key of a succeeded run of the point; empty if there is none.
std::string any_key_of(const store::ComparedPoint& point)
{
  for (const auto& run : point.runs)
    if (run.succeeded) return run.key;
  return {};
}

// Time, hosts and software in which the runs of two points differ. Simulated runs do not depend on when and where they ran.
store::Separation separation_of(const store::ComparedPoint& a, const ComparedSide& side_a, const store::ComparedPoint& b,
                                const ComparedSide& side_b)
{
  bool is_simulated = true;
  const auto measured_of = [&](const store::ComparedPoint& point, const ComparedSide& side) {
    std::map<std::string, std::string> blocks; // by key
    for (const auto& run : point.runs) {
      blocks.emplace(run.key, run.block);
      is_simulated = is_simulated && !run.platform.empty();
    }
    std::vector<store::Measured> measured;
    for (const auto& run : side.measured)
      if (const auto block = blocks.find(run.run); block != blocks.end()) measured.emplace_back(run).block = block->second;
    return measured;
  };
  auto separation = store::separation_of(measured_of(a, side_a), measured_of(b, side_b));
  if (is_simulated) {
    separation.is_together = true;
    separation.facts.clear();
  }
  return separation;
}

std::set<std::string> studies_of(const ComparedSide& side)
{
  std::set<std::string> studies;
  for (const auto& run : side.measured) studies.insert(run.study);
  return studies;
}

// Allows for what separates the points, with what the home knows about the scatter between studies of the same work. Returns what
// separates the sides as a whole; they are together if all of their points are.
// With a reference, A is judged by all studies of B's work.
store::Separation allow_for_separation(ResultsStore& results, const ComparedSide& a, const ComparedSide& b,
                                       const store::Matching& matching, std::vector<Judged>& comparisons, bool has_reference)
{
  auto whole = store::separation_of(a.measured, b.measured);
  whole.is_together = true;
  whole.by = store::Confounded::no;
  bool has_facts = false;
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    const auto& pair = matching.pairs[i];
    const auto separation = separation_of(pair.a, a, pair.b, b);
    has_facts = has_facts || !separation.facts.empty();
    if (separation.is_together) continue;
    whole.is_together = false;
    whole.by = std::max(whole.by, separation.by);
    const auto metric = comparisons[i].metric;
    if (!store::metric_row(metric).is_of_machine) continue;
    const bool is_a_judged = has_reference || separation.a_is_later;
    const auto repetitions = store::repetitions_of(results.database(), any_key_of(pair.a), any_key_of(pair.b), metric,
                                                   studies_of(is_a_judged ? a : b));
    comparisons[i] = store::across_studies(std::move(comparisons[i]), store::apart_of(separation, repetitions, has_reference));
  }
  if (!has_facts) whole.facts.clear();
  return whole;
}

void print_separation(Context& context, const store::Separation& separation)
{
  Json facts = Json::array();
  for (const auto& [name, a, b] : separation.facts) facts.push_back({{"name", name}, {"a", a}, {"b", b}});
  const bool is_known = std::isfinite(separation.apart_s);
  context.out.data("separation", {{"interleaved", separation.is_together},
                                  {"apart_s", is_known ? Json(separation.apart_s) : Json(nullptr)},
                                  {"later", is_known ? Json(separation.a_is_later ? "a" : "b") : Json(nullptr)},
                                  {"facts", std::move(facts)}});
  if (!separation.is_together) context.out.field("", "apart", text_cell(time_text(separation), Style::warning));
  auto title = separation.is_together ? "differ" : " ";
  for (const auto& [name, a, b] : separation.facts) {
    context.out.field("", title, text_cell(fmt::format("{}: A {}, B {}", name, printable(a), printable(b))));
    title = " ";
  }
}

std::vector<Judged> judged_pairs(const store::Matching& matching, Metric metric, store::Rule rule)
{
  std::vector<std::pair<store::Sample, store::Sample>> samples;
  std::vector<store::Candidate> candidates;
  for (const auto& pair : matching.pairs) {
    samples.emplace_back(sample_of(name_of(pair.a), pair.a.runs, metric), sample_of(name_of(pair.b), pair.b.runs, metric));
    samples.back().first.title = title_of(pair.a);
    samples.back().second.title = title_of(pair.b);
    candidates.push_back(samples.back().first.candidate);
    candidates.push_back(samples.back().second.candidate);
  }
  std::vector<const store::Sample*> all;
  for (const auto& [a, b] : samples) all.insert(all.end(), {&a, &b});
  require_metric(metric, all);
  const auto scatter = store::pooled_scatter(candidates, store::metric_row(metric).scale);
  rule.comparisons = std::max(1.0, static_cast<double>(std::count_if(samples.begin(), samples.end(), [](const auto& pair) {
                                return !pair.first.candidate.values.empty() && !pair.second.candidate.values.empty();
                              })));
  std::vector<Judged> comparisons;
  for (auto& [a, b] : samples) {
    const auto name = both(a.candidate.name, b.candidate.name), title = both(a.title, b.title);
    comparisons.push_back(judge(name, metric, std::move(a), std::move(b), rule, scatter));
    comparisons.back().title = title;
  }
  return comparisons;
}

// Gives the points of A and B titles that tell them all apart.
void give_titles(const CompareOptions& options, const ComparedSide& a, std::vector<store::ComparedPoint>& points_a,
                 const ComparedSide& b, std::vector<store::ComparedPoint>& points_b)
{
  auto all = points_a;
  all.insert(all.end(), points_b.begin(), points_b.end());
  auto of_recipe = a.labels;
  of_recipe.insert(b.labels.begin(), b.labels.end());
  const auto labels = labels_of(all, options.by.empty() ? of_recipe : std::map<std::string, std::string>());
  store::give_titles(points_a, labels);
  store::give_titles(points_b, labels);
}

std::vector<std::string> names_of(const std::vector<store::ComparedPoint>& points)
{
  std::vector<std::string> names;
  for (const auto& point : points) names.push_back(name_of(point));
  return names;
}

void print_unmatched(Context& context, const store::Matching& matching)
{
  for (const auto& [side, points] : {std::pair{"A", &matching.only_a}, {"B", &matching.only_b}}) {
    const auto names = names_of(*points);
    if (!names.empty())
      context.messages.warn("{} of {} without a partner: {}", counted(names.size(), "point is", "points are"), side,
                            printable(join(names, "; ")));
    context.out.data(std::string("only_") + (side[0] == 'A' ? "a" : "b"), names);
  }
}

// Prints how many points of A are slower than the reference, and returns the exit code. A point of A without a succeeded run,
// or with ranks that do not train together, makes it ExitCode::runs_failed, because nothing shows that the point is as fast as
// before.
ExitCode print_regressions(Context& context, const std::vector<Judged>& comparisons, double threshold)
{
  std::vector<std::string> slower;
  std::size_t open = 0, without_runs = 0, without_data = 0, copies = 0, by_threshold = 0;
  for (const auto& judged : comparisons) {
    const bool is_shown = store::is_regression(judged), is_beyond = store::is_worse_by(judged, threshold);
    if (is_shown || is_beyond) slower.push_back(judged.name);
    by_threshold += is_beyond && !is_shown ? 1 : 0;
    without_data += store::has_data(judged) ? 0 : 1;
    open += store::has_data(judged) && judged.comparison.verdict == store::Verdict::cannot_tell ? 1 : 0;
    without_runs += judged.a.succeeded == 0 ? 1 : 0;
    copies += judged.a.copies > 0 && !store::has_data(judged) ? 1 : 0;
  }
  auto text = slower.empty() ? std::string("none was shown")
                             : fmt::format("{} of {}: {}", slower.size(), comparisons.size(), join(slower, "; "));
  if (by_threshold > 0)
    text +=
        fmt::format("; {} of them by your --threshold of {} alone, not by statistics", by_threshold, format_percent(threshold));
  if (open > 0) text += fmt::format("; {} of {} cannot tell", open, comparisons.size());
  if (without_data > without_runs) text += fmt::format("; {} of {} without data", without_data, comparisons.size());
  if (without_runs > 0) text += fmt::format("; {} without a succeeded run of A", without_runs);
  if (copies > 0) text += fmt::format("; {} whose ranks do not train together", copies);
  const bool is_clear = slower.empty() && open == 0 && without_data == 0;
  context.out.field("regressions", "regressions",
                    {slower, text, slower.empty() ? is_clear ? Style::good : Style::warning : Style::bad});
  if (!slower.empty()) return ExitCode::regression;
  return without_runs + copies > 0 ? ExitCode::runs_failed : ExitCode::ok;
}

void print_comparisons(Context& context, const std::vector<Judged>& comparisons)
{
  context.out.table(comparison_table(comparisons));
  if (comparisons.size() == 1) return context.out.field("", "verdict", text_cell(sentence_of(comparisons.front()) + "."));
  const auto counts = verdict_counts(comparisons);
  context.out.data("verdicts", counts);
  context.out.field("", "verdict", text_cell(fmt::format("Of {} points, A against B: {}.", comparisons.size(), counts)));
  if (comparisons.front().comparison.rule.comparisons > 1)
    context.out.field("", " ",
                      text_cell("Intervals and p values are corrected for the number of points: with a probability of 95 %, "
                                "all intervals contain the true effects."));
  for (const auto& judged : comparisons) // the table has what the others say
    if (judged.comparison.verdict == store::Verdict::cannot_tell)
      context.out.field("", " ", text_cell(judged.title + ": " + sentence_of(judged)));
}

// The packages that differ between the two sides, if each has one Python environment. `from` is what A is compared with.
std::vector<std::string> package_changes(ResultsStore& results, const ComparedSide& a, const ComparedSide& from)
{
  if (a.environments.size() != 1 || from.environments.size() != 1 || a.environments == from.environments) return {};
  const auto changes = environment_changes(results.home().environments(), *from.environments.begin(), *a.environments.begin());
  if (changes.empty()) return {};
  return {"from B to A the Python environment changed: " + join(texts_of(changes), "; ")};
}

store::Matching matched_points(const CompareOptions& options, const ComparedSide& a, const ComparedSide& b)
{
  auto points_a = store::points_without_titles(a.runs, options.by), points_b = store::points_without_titles(b.runs, options.by);
  give_titles(options, a, points_a, b, points_b);
  return store::matched(std::move(points_a), std::move(points_b));
}

// Writes the formats that are asked for, and prints the one without a file.
void put_formats(Context& context, const CompareOptions& options, const ReportedComparison& reported)
{
  for (const auto& [format, file] : wanted_formats(options.formats)) {
    const auto text = format->text(reported);
    if (file.empty())
      context.out.block(std::string(format->name), text);
    else
      write_file_atomic(file, text, Readers::everybody);
  }
}

// Prints nothing.
class NoOutput : public Output {
 public:
  void heading(std::string_view) override {}
  void field(const std::string&, const std::string&, const Cell&) override {}
  void table(const Table&) override {}
  void block(const std::string&, std::string_view) override {}
  void drawing(std::string_view) override {}
  void data(const std::string&, Json) override {}
  void finish(ExitCode) override {}
  void fail(const Error&, ExitCode) override {}
};

bool prints_a_format(const CompareOptions& options)
{
  return std::ranges::any_of(wanted_formats(options.formats), [](const auto& wanted) { return wanted.file.empty(); });
}

ExitCode compare_sides(Context& printed, ResultsStore& results, const CompareOptions& options, const ComparedSide& a,
                       const ComparedSide& b, const store::Rule& rule)
{
  NoOutput nothing; // a format that is printed takes the place of what people read
  const bool is_replaced = prints_a_format(options) && !printed.json;
  Context context{is_replaced ? nothing : printed.out, printed.messages, printed.terminal, printed.err_terminal, printed.json};
  const auto metric = metric_of(options, a, b);
  check_overlap(context, a, b);
  if (store::metric_row(metric).needs_target) require_one_target(a.runs, b.runs);
  const auto matching = matched_points(options, a, b);
  context.out.field("a", "A", text_cell(a.title));
  context.out.field("b", "B", text_cell(b.title));
  auto comparisons = judged_pairs(matching, metric, rule);
  const auto separation = allow_for_separation(results, a, b, matching, comparisons, !options.reference.empty());
  for (std::size_t i = 0; i < comparisons.size(); ++i)
    if (are_same_runs(matching.pairs[i].a.runs, matching.pairs[i].b.runs))
      comparisons[i] = store::of_same_runs(std::move(comparisons[i]));
  print_separation(context, separation);
  print_comparisons(context, comparisons);
  print_unmatched(context, matching);
  warn_about_unfinished(context, "A", a.runs);
  warn_about_unfinished(context, "B", b.runs);
  auto differences = store::differences(matching);
  for (auto& change : package_changes(results, a, b)) differences.push_back(std::move(change));
  warn_about(context, differences);
  if (options.reference.empty()) return ExitCode::ok;
  const auto code = print_regressions(context, comparisons, threshold_of(options));
  put_formats(printed, options,
              {.titles = {a.title, b.title, separation.is_together ? "" : time_text(separation)},
               .comparisons = std::move(comparisons),
               .missing = names_of(matching.only_b),
               .file = a.recipe});
  return code;
}

// Runs both sides again, interleaved, and compares those runs.
ExitCode compare_now(Context& context, ResultsStore& results, const CompareOptions& options, const ComparedSide& a,
                     const ComparedSide& b, const store::Rule& rule)
{
  if (are_same_runs(a.runs, b.runs))
    throw Error(ErrorKind::usage,
                "A and B are the same runs, so there are no two of them to run again: a run belongs to every study "
                "whose recipe asks for the same work");
  check_overlap(context, a, b);
  const auto now = run_against_now(context, results, a, b, matched_points(options, a, b), options.by);
  context.out.data("study", now.study);
  if (now.code != ExitCode::ok && now.code != ExitCode::runs_failed) return now.code;
  return compare_sides(context, results, options, now.a, now.b, rule);
}

// Throws a usage error if no run of the standing's contest has the metric.
void require_values(const store::Standing& standing)
{
  std::vector<const store::Sample*> samples;
  for (const auto& sample : standing.samples) samples.push_back(&sample);
  require_metric(standing.metric, samples);
}

ExitCode rank(Context& context, const CompareOptions& options, const ComparedSide& a, const store::Rule& rule)
{
  const auto metric = metric_of(options, a, a);
  if (store::metric_row(metric).needs_target) require_one_target(a.runs, {});
  const auto points = store::points_of(a.runs, options.by, options.by.empty() ? a.labels : std::map<std::string, std::string>());
  const auto contests = store::contests_of(points, options.by);
  if (contests.empty())
    throw Error(ErrorKind::usage, "there are no two candidates of one size to rank; name a second selector, or a key that varies "
                                  "with --by (the efficiency of the sizes: dtctl results)\n  points:" +
                                      store::listed(points));
  context.out.field("a", "study", text_cell(a.title));
  Json rankings = Json::array();
  for (const auto& standing : store::standings_of(contests, {&metric, 1}, rule)) {
    require_values(standing);
    if (!context.json) {
      if (contests.size() > 1) context.out.heading(standing.title);
      context.out.table(standing_table(standing));
      print_verdict_text(context, verdict_text(standing));
    }
    rankings.push_back(to_json(standing));
  }
  context.out.data("rankings", std::move(rankings));
  warn_about_unfinished(context, "the study", a.runs);
  warn_about(context, store::differences(contests));
  return ExitCode::ok;
}

// The same options with the study of the baseline as the reference.
CompareOptions with_baseline(ResultsStore& results, CompareOptions options)
{
  const auto baselines = read_baselines(results.home());
  const auto& baseline = baseline_named(baselines, options.baseline);
  options.reference = baseline.study;
  if (store::find_studies(results.database(), baseline.study).empty())
    throw Error(ErrorKind::usage,
                fmt::format("the study of baseline {}, {} ({}), is not in this home any more; set it again: dtctl "
                            "baseline set {} STUDY",
                            options.baseline, printable(baseline.study_name), short_key(baseline.study), options.baseline));
  return options;
}

} // namespace

ExitCode compare(Context& context, ResultsStore& results, const CompareOptions& given)
{
  if (!wanted_formats(given.formats).empty() && given.reference.empty() && given.baseline.empty())
    throw Error(ErrorKind::usage, "--format says whether A is worse than a reference: give --reference STUDY or --baseline NAME");
  const auto options = given.baseline.empty() ? given : with_baseline(results, given);
  const store::Rule rule{.margin = share_of("--margin", options.margin)};
  if (!options.metric.empty()) store::metric_of(options.metric);
  if (!std::isnan(threshold_of(options)) && options.reference.empty())
    throw Error(ErrorKind::usage, "--threshold is the rule of a check: give --reference STUDY or --baseline NAME");
  const auto a = side_of(results, {.what = options.a, .where = options.where_a}, options.by);
  if (is_reference_file(options.reference)) {
    if (options.against_now)
      throw Error(ErrorKind::usage, "--against-now runs a study of this home again, not a file; name the study that " +
                                        printable(options.reference) + " was exported from");
    return compare_sides(context, results, options, a, read_reference(options.reference, options.where_b, options.by), rule);
  }
  const auto& b = options.reference.empty() ? options.b : options.reference;
  const bool is_within_a = b.empty() && options.where_b.empty();
  if (is_within_a && options.against_now)
    throw Error(ErrorKind::usage, "--against-now needs B (or --reference): the study whose runs are run again beside those of A");
  if (is_within_a) return rank(context, options, a, rule);
  // With --where-b alone, B is another part of A.
  const auto other = side_of(results, {.what = b.empty() ? options.a : b, .where = options.where_b}, options.by);
  return options.against_now ? compare_now(context, results, options, a, other, rule)
                             : compare_sides(context, results, options, a, other, rule);
}

} // namespace dt::cli
