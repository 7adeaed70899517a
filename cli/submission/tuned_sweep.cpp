#include "cli/submission/tuned_sweep.hpp"

#include "cli/answers/tuned_study.hpp"
#include "cli/checks/input_checks.hpp"
#include "cli/submission/rounds.hpp"
#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/record/event_record.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/point_label.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// Ends runs of the search that have taken more than twice as many samples, and twice as long, as the best setting of their point
// needed to its target: runs of dtengine with train.stop_at_target. A program of the user is judged by its evaluations: it ends
// if none has reached the target, and the last one was made after more than twice the time of the best setting.
class FarBehindTrials {
 public:
  FarBehindTrials(const Home& home, const std::vector<PlannedRun>& runs) : home_(home)
  {
    for (const auto& run : runs)
      if (const auto tried = tried_setting(series_of(sized_label(run.spec)));
          tried && run.spec.control && (run.spec.train.stop_at_target || run.spec.is_own_program())) {
        const auto point = fmt::format("{} {} {}", run.spec.ranks(), run.spec.resources.nodes, tried->series);
        trials_.emplace(run.key, Trial{point, run.spec.train.target_accuracy, run.spec.is_own_program(),
                                       static_cast<double>(run.spec.effective_global_batch())});
        if (const auto numbers = attempt_numbers(home.run(run.key)); !numbers.empty()) take_result(run.key, numbers.back());
      }
  }

  std::map<std::string, std::string> operator()(const std::vector<RunView>& runs)
  {
    for (const auto& run : runs)
      if (run.row.state == RunState::succeeded && run.live) take_result(run.row.key, run.live->attempt);
    std::map<std::string, std::string> hopeless;
    for (const auto& run : runs)
      if (const auto why = why_hopeless(run); !why.empty()) hopeless.emplace(run.row.key, why);
    return hopeless;
  }

 private:
  struct Trial {
    std::string point;
    double target = 0; // accuracy
    bool is_own_program = false;
    double batch = 0; // samples of a step
  };
  struct Needed {
    double samples = 0, time_s = 0;
  };

  // When a program made its last evaluation; nothing if it has made none, or if one has reached the target.
  static std::optional<double> evaluated_in_vain_s(const AttemptFolder& attempt, double target)
  {
    const auto evaluations = parse_events(read_file_if_exists(attempt.events()).value_or("")).evals;
    const bool has_reached =
        std::ranges::any_of(evaluations, [&](const EvalEvent& one) { return or_not_measured(one.accuracy) >= target; });
    return evaluations.empty() || has_reached ? std::nullopt : std::optional(evaluations.back().elapsed_s);
  }

  void take_result(const std::string& key, int attempt)
  {
    const auto trial = trials_.find(key);
    if (trial == trials_.end() || !seen_.insert(key).second) return;
    const auto result = read_result(AttemptFolder(home_.run(key), attempt));
    if (!result || !(result->time_to_accuracy_s > 0)) return;
    if (!trial->second.is_own_program && result->samples_to_accuracy <= 0) return;
    const Needed needed{static_cast<double>(result->samples_to_accuracy), result->time_to_accuracy_s};
    auto& best = best_.try_emplace(trial->second.point, needed).first->second;
    best = {std::min(best.samples, needed.samples), std::min(best.time_s, needed.time_s)};
  }

  std::string why_hopeless(const RunView& run) const
  {
    constexpr double factor = 2;
    const auto trial = trials_.find(run.row.key);
    if (run.row.state != RunState::running || !run.live || !run.live->begin || !run.live->heartbeat || trial == trials_.end())
      return {};
    const auto best = best_.find(trial->second.point);
    if (best == best_.end()) return {};
    const auto& [point, target, is_own_program, batch] = trial->second;
    const auto& needed = best->second;
    double time_s = run.live->heartbeat->unix_s - run.live->begin->unix_s;
    if (time_s <= factor * needed.time_s) return {};
    if (is_own_program) {
      time_s = evaluated_in_vain_s(AttemptFolder(home_.run(run.row.key), run.live->attempt), target).value_or(0);
      if (time_s <= factor * needed.time_s) return {};
      return fmt::format("its setting has taken {} without reaching the target in an evaluation; the best one took {}",
                         format_seconds(time_s), format_seconds(needed.time_s));
    }
    const double samples = batch * static_cast<double>(run.live->heartbeat->step);
    if (samples <= factor * needed.samples) return {};
    return fmt::format("its setting has taken {:.0f} samples and {} without reaching the target; the best one took {:.0f} and {}",
                       samples, format_seconds(time_s), needed.samples, format_seconds(needed.time_s));
  }

  Home home_;
  std::map<std::string, Trial> trials_; // by key
  std::map<std::string, Needed> best_;  // by point
  std::set<std::string> seen_;
};

class TunedSweep {
 public:
  TunedSweep(Context& context, const RecipeOptions& recipe, Resolved begun, const StudySpec& study, SubmissionOptions options)
      : context_(context), recipe_(recipe), rule_(tune_of_recipe(study))
  {
    for (const auto& run : begun.runs)
      if (run.spec.repeat == 0) add_point(run.spec);
    std::ranges::stable_sort(points_, {}, [](const TunedPoint& point) { return std::tuple(point.ranks, point.nodes); });
    begun.study.id = study_id(begun.study.name + " tuned", begun.study.run_keys);
    begun.study.tune = rule_;
    begun.runs.clear();
    rounds_.emplace(context, std::move(begun), std::move(options));
  }

  ExitCode run()
  {
    while (true) {
      const auto wanted = look();
      if (!wanted) return finish();
      auto resolved = resolve_runs(*wanted);
      tell(wanted->size());
      std::vector<std::string> keys;
      for (const auto& planned : resolved) keys.push_back(planned.key);
      FarBehindTrials far_behind(context_.home(), resolved);
      const auto code = rounds_->run(std::move(resolved), std::move(far_behind));
      if (code != ExitCode::ok && code != ExitCode::runs_failed) return code;
      if (const auto cancelled = rounds_->count_cancelled(keys); cancelled > 0) {
        context_.messages.warn("{} cancelled; call the same command again to go on", counted(cancelled, "run was", "runs were"));
        return finish();
      }
    }
  }

 private:
  void add_point(const RunSpec& spec)
  {
    TunedPoint point{.series = series_of(sized_label(spec)),
                     .label = sized_label(spec),
                     .nodes = spec.resources.nodes,
                     .ranks = spec.ranks(),
                     .global_batch = spec.effective_global_batch()};
    point.keys = tuned_keys(spec);
    points_.push_back(std::move(point));
  }

  // The runs that the study needs from now on, with those that it has. Nothing: all have ended.
  std::optional<std::vector<recipes::TunedRun>> look()
  {
    std::vector<store::RunRow> rows;
    for (auto& [key, row] : rounds_->rows()) rows.push_back(std::move(row));
    const auto counts = [&](const store::RunRow& row) {
      return row.state != RunState::cancelled && (rounds_->has_tried(row.key) || rounds_->failed_by_setting(row));
    };
    replay_searches(points_, rows, rule_, counts);
    std::vector<recipes::TunedRun> wanted;
    for (const auto& point : points_)
      for (const auto& trial : point.search.trials) wanted.push_back({point.label, point.texts(trial.setting), true, trial.seed});
    if (!std::ranges::all_of(points_, &TunedPoint::is_over)) return wanted;
    add_results(wanted);
    const auto ended = std::ranges::count_if(rows, [&](const auto& row) {
      return !row.is_control && is_final(row.state) && (row.state == RunState::succeeded || counts(row));
    });
    if (ended == count_results(wanted)) return std::nullopt;
    return wanted;
  }

  // In rounds, each with every point once, so that a machine that changes affects all points.
  void add_results(std::vector<recipes::TunedRun>& wanted) const
  {
    for (std::int64_t repeat = 0; repeat < rule_.results; ++repeat)
      for (const auto& point : points_)
        if (point.is_tuned())
          wanted.push_back({point.label,
                            point.keys.empty() ? std::map<std::string, std::string>() : point.texts(*point.search.best), false,
                            repeat});
  }

  static std::int64_t count_results(const std::vector<recipes::TunedRun>& runs)
  {
    return std::ranges::count(runs, false, &recipes::TunedRun::is_search);
  }

  std::vector<PlannedRun> resolve_runs(const std::vector<recipes::TunedRun>& wanted) const
  {
    auto options = recipe_;
    options.tuned = wanted;
    auto runs = resolve(context_.home(), recipes::load_plan(find_recipe(options.recipe), load_options(options))).runs;
    if (runs.size() != wanted.size())
      throw Error(ErrorKind::usage, "two points of this study are the same run once they are tuned, so they cannot be compared; "
                                    "leave one of them out");
    return runs;
  }

  void tell(std::size_t runs) const
  {
    const auto tuned = std::ranges::count_if(points_, &TunedPoint::is_over);
    const auto total = static_cast<std::ptrdiff_t>(points_.size());
    context_.messages.info("{} of {} points are tuned{}; {} runs in all", tuned, total,
                           tuned == total ? ", and run now with seeds that the tuning has not used" : "", runs);
  }

  ExitCode finish()
  {
    const auto outcome = rounds_->outcome();
    context_.out.table(tuning_table(points_, own_labels(outcome.selection), rule_));
    const auto code = rounds_->finish(outcome);
    const bool is_whole = std::ranges::all_of(points_, &TunedPoint::is_tuned);
    return code == ExitCode::ok && !is_whole ? ExitCode::runs_failed : code;
  }

  Context& context_;
  RecipeOptions recipe_;
  StudyTune rule_;
  std::vector<TunedPoint> points_; // the smallest size first
  std::optional<StudyInRounds> rounds_;
};

} // namespace

ExitCode sweep_tuned(Context& context, const RecipeOptions& recipe, recipes::Plan plan, const SubmissionOptions& options)
{
  warn_of(context, plan);
  check_inputs(context, context.home(), plan);
  const auto study = plan.runs.front().study;
  auto resolved = resolve(context.home(), std::move(plan), options.dry_run ? MissingData::accept : MissingData::refuse);
  if (options.dry_run) {
    const auto results = static_cast<std::int64_t>(resolved.runs.size()), points = results / study.repeats;
    context.messages.info("the points with the recipe's own values. The search takes at most {} for each of the {} points before "
                          "(study.tune.runs): at most {} runs in all",
                          counted(study.tune.runs, "run"), points, results + points * study.tune.runs);
    return submit(context, std::move(resolved), options);
  }
  tell_unasked(context, resolved);
  return TunedSweep(context, recipe, std::move(resolved), study, options).run();
}

} // namespace dt::cli
