#include "cli/submission/raced_sweep.hpp"

#include "cli/answers/raced_study.hpp"
#include "cli/answers/verdict_output.hpp"
#include "cli/checks/input_checks.hpp"
#include "cli/output/label_columns.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/runs/tuned_points.hpp"
#include "cli/submission/rounds.hpp"
#include "core/counted.hpp"
#include "core/natural_key.hpp"
#include "core/spec/point_label.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// A point and its planned runs, by repeat.
struct Point {
  std::string label, series; // the label without the size if the study varies it, and without any size
  std::int64_t nodes = 0, ranks = 0;
  std::vector<std::size_t> runs{}; // indices in Resolved::runs
};

class RaceLoop {
 public:
  // `all` holds the most repeats of every point.
  RaceLoop(Context& context, Resolved all, const StudySpec& study, SubmissionOptions options)
      : context_(context), all_(std::move(all)), record_(race_of_recipe(study)), rule_(rule_of(record_)),
        budget_node_hours_(study.until.budget_node_hours)
  {
    for (std::size_t i = 0; i < all_.runs.size(); ++i) point_of(all_.runs[i].spec).runs.push_back(i);
    std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
      return std::tuple(natural_key(a.label), a.ranks, a.nodes) < std::tuple(natural_key(b.label), b.ranks, b.nodes);
    });
    for (auto& point : points_)
      std::sort(point.runs.begin(), point.runs.end(),
                [&](auto a, auto b) { return all_.runs[a].spec.repeat < all_.runs[b].spec.repeat; });
    auto begun = all_;
    begun.runs.clear();
    begun.study.id = study_id(all_.study.name + " until decided", keys_of_repeats(rule_.first));
    begun.study.race = record_;
    rounds_.emplace(context, std::move(begun), std::move(options));
    std::vector<std::string> labels;
    for (const auto& point : points_) labels.push_back(point.series);
    shown_ = store::PointLabels(labels, all_.study.labels);
  }

  ExitCode run()
  {
    while (true) {
      const auto rows = rounds_->rows();
      const auto race = store::race_of(race_points(rows), rule_);
      if (race.is_over) return finish(race, "");
      if (const auto limit = budget_limit(race, rows); !limit.empty()) return finish(race, limit);
      const auto code = round(race);
      if (code != ExitCode::ok && code != ExitCode::runs_failed) return code;
      if (const auto cancelled = rounds_->count_cancelled(keys_of(wanted(race))); cancelled > 0)
        return finish(race, fmt::format("{} cancelled; call the same command again to go on",
                                        counted(cancelled, "run that was", "runs that were")));
    }
  }

 private:
  Point& point_of(const RunSpec& spec)
  {
    const auto found = std::find_if(points_.begin(), points_.end(), [&](const Point& point) {
      return point.label == spec.label && point.nodes == spec.resources.nodes && point.ranks == spec.ranks();
    });
    return found != points_.end()
               ? *found
               : points_.emplace_back(Point{spec.label, series_of(spec.label), spec.resources.nodes, spec.ranks()});
  }

  std::vector<std::string> keys_of_repeats(std::int64_t repeats) const
  {
    std::vector<std::string> keys;
    for (const auto& run : all_.runs)
      if (run.spec.repeat < repeats) keys.push_back(run.key);
    return keys;
  }

  std::vector<std::string> keys_of(const std::vector<std::size_t>& runs) const
  {
    std::vector<std::string> keys;
    for (const auto run : runs) keys.push_back(all_.runs[run].key);
    return keys;
  }

  // Nothing: the run is missing. It has not ended, or it ended without success before this call, which tries it once more.
  std::optional<double> value_of(const store::RunRow& row) const
  {
    if (row.state != RunState::succeeded && !rounds_->has_tried(row.key)) return std::nullopt;
    return race_value(row, record_);
  }

  std::vector<store::RacePoint> race_points(const std::map<std::string, store::RunRow>& rows) const
  {
    std::vector<store::RacePoint> points;
    for (const auto& point : points_) {
      auto& race_point =
          points.emplace_back(store::RacePoint{.label = point.series, .ranks = point.ranks, .values = {}, .nodes = point.nodes});
      race_point.title = shown_.shown(point.series);
      for (const auto run : point.runs) {
        const auto row = rows.find(all_.runs[run].key);
        if (row == rows.end()) break;
        race_point.values.push_back(value_of(row->second));
      }
    }
    return points;
  }

  // The indices of the runs that the race asks for.
  std::vector<std::size_t> wanted(const store::Race& race) const
  {
    std::vector<std::size_t> runs;
    for (std::size_t p = 0; p < points_.size(); ++p)
      for (const auto run : points_[p].runs)
        if (all_.runs[run].spec.repeat < race.standings[p].repeats) runs.push_back(run);
    std::sort(runs.begin(), runs.end()); // the order of the plan: the repeats of all points are interleaved
    return runs;
  }

  // Node-hours of the runs that have ended, and an estimate for those that the next round adds. Returns why the budget does not
  // allow them; empty if it does.
  std::string budget_limit(const store::Race& race, const std::map<std::string, store::RunRow>& rows) const
  {
    if (budget_node_hours_ <= 0 || rows.empty()) return "";
    double spent = 0, ended = 0;
    for (const auto& [key, row] : rows) {
      const double node_hours = held_node_hours(row);
      if (std::isnan(node_hours)) continue;
      spent += node_hours;
      ++ended;
    }
    const auto runs = wanted(race);
    const auto more = std::count_if(runs.begin(), runs.end(), [&](auto run) {
      const auto row = rows.find(all_.runs[run].key);
      return row == rows.end() || !value_of(row->second);
    });
    const double needed = ended > 0 ? spent / ended * static_cast<double>(more) : 0;
    if (spent + needed <= budget_node_hours_) return "";
    return fmt::format("the budget: {:.3g} of {:.3g} node-hours are spent, and the next {} runs would need about {:.3g}", spent,
                       budget_node_hours_, more, needed);
  }

  // Submits the runs of the next look and waits for all of them.
  ExitCode round(const store::Race& race)
  {
    const auto runs = wanted(race);
    std::vector<PlannedRun> now;
    for (const auto run : runs) now.push_back(all_.runs[run]);
    const auto racing = std::count_if(race.standings.begin(), race.standings.end(), [](const auto& s) { return s.is_racing; });
    context_.messages.info("{} repeats: {} of {} points are not decided, {} runs in all", race.repeats, racing, points_.size(),
                           runs.size());
    return rounds_->run(std::move(now));
  }

  ExitCode finish(const store::Race& race, const std::string& limit)
  {
    auto outcome = rounds_->outcome();
    context_.out.table(without_empty_columns(race_table(race, limit, outcome.selection)));
    if (auto& verdict = outcome.verdict; verdict.kind == VerdictKind::candidates)
      verdict = {verdict.kind, race_verdict(race_points(rounds_->rows()), race, rule_, limit, outcome.facts), {}};
    return rounds_->finish(outcome);
  }

  Table race_table(const store::Race& race, const std::string& limit, const Selection& selection) const
  {
    std::vector<TableColumn<std::size_t>> columns{
        {{"nodes", "nodes", Align::right}, [&](std::size_t p) { return count_cell(points_[p].nodes); }},
        {{"ranks", "ranks", Align::right}, [&](std::size_t p) { return count_cell(points_[p].ranks); }},
        {{"repeats", "repeats", Align::right}, [&](std::size_t p) { return count_cell(count_ended(p, selection)); }},
        {{"reason", "stopped because"}, [&](std::size_t p) {
           const auto& reason = race.standings[p].reason;
           return text_cell(reason.empty() ? "of " + limit : reason);
         }}};
    std::vector<std::size_t> places(points_.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto labels = label_columns<std::size_t>(shown_, "label", [&](std::size_t p) { return points_[p].series; });
    return table_of("race", before(labels, columns), places, std::identity(), "no points");
  }

  std::int64_t count_ended(std::size_t point, const Selection& selection) const
  {
    return std::count_if(points_[point].runs.begin(), points_[point].runs.end(), [&](auto run) {
      return std::any_of(selection.runs.begin(), selection.runs.end(), [&](const RunView& view) {
        return view.row.key == all_.runs[run].key && is_final(view.row.state) && view.row.state != RunState::cancelled;
      });
    });
  }

  Context& context_;
  Resolved all_;
  StudyRace record_;
  store::RaceRule rule_;
  double budget_node_hours_; // 0: no limit
  std::vector<Point> points_;
  store::PointLabels shown_;
  std::optional<StudyInRounds> rounds_;
};

recipes::Plan plan_of(Context& context, const RecipeOptions& options, std::int64_t repeats)
{
  auto more = options;
  more.set.push_back(fmt::format("study.repeats={}", repeats));
  return load_plan(context, more);
}

void refuse_unfit(const recipes::Plan& plan)
{
  if (plan.kind == recipes::PlanKind::single && plan.runs.size() == 1)
    throw Error(ErrorKind::usage, plan.name + " has a single point, so there is nothing to decide; add a sweep or a study");
  if (plan.runs.front().study.layout == StudyLayout::ladder)
    throw Error(ErrorKind::usage, plan.name + " asks for a ladder, whose runs share one allocation that ends with them; "
                                              "--until-decided needs study.layout: separate");
  if (!plan.runs.front().study.tune.keys.empty())
    throw Error(ErrorKind::usage, plan.name + " tunes its points (study.tune), so dtctl sweep decides which runs it needs; leave "
                                              "--until-decided out, or remove study.tune");
  if (plan.runs.front().study.order == StudyOrder::listed)
    throw Error(ErrorKind::usage, plan.name +
                                      " asks for study.order: listed. A machine that changes within a round would then favour "
                                      "the same point in each round; --until-decided needs study.order: random");
  for (const auto& run : plan.runs)
    if (run.study.until.metric == Metric::time_to_target && run.train.target_accuracy <= 0)
      throw Error(ErrorKind::usage, fmt::format("{}: study.until.metric is time-to-target, but {} no target; set "
                                                "train.target_accuracy, or take the metric throughput",
                                                plan.name, run.label.empty() ? "the run has" : printable(run.label) + " has"));
  if (plan.runs.front().study.until.metric == Metric::time_to_target && !plan.runs.front().study.vary_seed)
    throw Error(ErrorKind::usage, plan.name + " trains all repeats of a point with one seed, so more repeats do not show how far "
                                              "trainings differ by chance; study.until.metric: time-to-target needs "
                                              "study.vary_seed: true");
}

} // namespace

ExitCode sweep_until_decided(Context& context, const RecipeOptions& recipe, const SubmissionOptions& options)
{
  const auto asked = load_plan(context, recipe);
  refuse_unfit(asked);
  const auto& study = asked.runs.front().study;
  const auto rule = rule_of(race_of_recipe(study));
  auto plan = plan_of(context, recipe, options.dry_run ? rule.first : rule.most);
  warn_of(context, plan);
  check_inputs(context, context.home(), plan);
  auto resolved = resolve(context.home(), std::move(plan), options.dry_run ? MissingData::accept : MissingData::refuse);
  if (options.dry_run) {
    context.messages.info("the first {} repeats of at most {}; after them the rule of study.until decides which points go on",
                          rule.first, rule.most);
    return submit(context, std::move(resolved), options);
  }
  tell_unasked(context, resolved);
  return RaceLoop(context, std::move(resolved), study, options).run();
}

} // namespace dt::cli
