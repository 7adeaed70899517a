#include "recipes/expansion/expand.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/program/program_words.hpp"
#include "core/spec/point_label.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/spec/tuned_key.hpp"
#include "core/text.hpp"
#include "recipes/checks/checks.hpp"
#include "recipes/expansion/placeholders.hpp"
#include "recipes/expansion/sensitivity.hpp"
#include "recipes/reading/data_keys.hpp"
#include "recipes/reading/diagnostics.hpp"
#include "recipes/reading/platforms.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace dt::recipes {
namespace {

using Point = std::vector<const Level*>;

// Whether a key has the value that the machine profile gives it.
bool is_of_profile(const Resolved& resolved, std::string_view key)
{
  const auto *used = resolved.settings.find(key), *given = resolved.profile.find(key);
  return used != nullptr && given != nullptr && used->mark.file == given->mark.file && used->mark.line == given->mark.line &&
         used->mark.column == given->mark.column;
}

// Whether the run is there to see how well it trains: its accuracy, or when it reaches its target.
bool measures_training(const RunSpec& run)
{
  if (run.is_simulated()) return false; // it computes no accuracy
  if (run.train.target_accuracy > 0) return true;
  const auto& metrics = run.program.metrics;
  if (run.is_own_program()) return metrics.contains("accuracy") || metrics.contains("accuracy_percent");
  return run.train.eval_every_epochs > 0;
}

// Whether some point of the sweep sets the key.
bool assigns(const Sweep& sweep, std::string_view path)
{
  const auto does = [&](const Level& level) {
    return std::any_of(level.assignments.begin(), level.assignments.end(),
                       [&](const Assignment& assignment) { return assignment.path == path; });
  };
  return std::any_of(sweep.include.begin(), sweep.include.end(), does) ||
         std::any_of(sweep.factors.begin(), sweep.factors.end(),
                     [&](const Factor& factor) { return std::any_of(factor.levels.begin(), factor.levels.end(), does); });
}

class Expander {
 public:
  Expander(const Resolved& resolved, Diagnostics& diagnostics, Diagnostics& warnings)
      : resolved_(resolved), diagnostics_(diagnostics), warnings_(warnings), read_well_(diagnostics.empty()),
        may_leave_out_gpus_(may_leave_out_gpus(resolved))
  {
  }

  Expansion run()
  {
    const auto& sweep = resolved_.sweep;
    report(find_study_problems(resolved_.base.study), {});
    if (is_too_much()) return {};
    if (!sweep.factors.empty() || sweep.include.empty()) add_combinations();
    warn_of_idle_exclusions();
    for (const auto& level : sweep.include) add_point({&level}, Excludes::no);
    if (cells_.empty() && read_well_ && diagnostics_.empty())
      diagnostics_.add(sweep.exclude_mark, "`sweep.exclude` excludes all runs");
    if (diagnostics_.empty()) report(find_problems_between(cells_), {});
    auto labels = labels_of_series();
    const bool varies = varies_seed();
    for (auto& cell : cells_) cell.study.vary_seed = varies;
    check_tuning(varies);
    auto runs = resolved_.tuned.empty() ? with_controls(repeat_cells()) : tuned_runs();
    if (diagnostics_.empty())
      for (auto& varied : varied_runs(runs)) runs.push_back(std::move(varied));
    for (auto& run : runs) fill_command(run);
    return {std::move(runs), std::move(labels)};
  }

 private:
  bool is_too_much()
  {
    const auto& study = resolved_.base.study;
    const auto sizes = std::max<std::size_t>(1, study.ranks.size() + study.nodes.size() + study.parts.size());
    const auto runs_of_a_point = sizes * static_cast<std::size_t>(study.repeats); // no overflow: at most 500,000 values x 10,000
    if (resolved_.sweep.count_points(most_runs) <= most_runs / runs_of_a_point) return false;
    diagnostics_.add(resolved_.file,
                     "asks for more than " + std::to_string(most_runs) + " runs (points of the sweep x sizes x repeats)");
    return true;
  }

  // Adds all combinations. Counts like an odometer; the last factor changes fastest.
  void add_combinations()
  {
    const auto& factors = resolved_.sweep.factors;
    std::vector<std::size_t> digits(factors.size(), 0);
    for (bool more = true; more;) {
      Point point;
      for (std::size_t i = 0; i < factors.size(); ++i) point.push_back(&factors[i].levels[digits[i]]);
      add_point(point, Excludes::yes);
      more = false;
      for (std::size_t i = factors.size(); i-- > 0 && !more;) {
        digits[i] = (digits[i] + 1) % factors[i].levels.size();
        more = digits[i] != 0;
      }
    }
  }

  // Whether a condition of sweep.exclude holds. Remembers which ones have held.
  bool is_excluded(const RunSpec& cell)
  {
    bool is_excluded = false;
    const auto& exclude = resolved_.sweep.exclude;
    for (std::size_t i = 0; i < exclude.size(); ++i) {
      if (!holds(exclude[i].condition, cell)) continue;
      has_excluded_.insert(i);
      is_excluded = true;
    }
    return is_excluded;
  }

  void warn_of_idle_exclusions()
  {
    if (!read_well_ || !diagnostics_.empty()) return;
    const auto& exclude = resolved_.sweep.exclude;
    for (std::size_t i = 0; i < exclude.size(); ++i)
      if (!has_excluded_.contains(i))
        warnings_.add(exclude[i].mark,
                      "this condition of `sweep.exclude` holds for no run of the sweep, so it leaves nothing out");
  }

  enum class Excludes { no, yes }; // whether sweep.exclude applies

  void add_point(const Point& point, Excludes excludes)
  {
    auto spec = resolved_.base;
    for (const auto* level : point) {
      for (const auto& assignment : level->assignments) assign(spec, assignment);
      spec.label += (spec.label.empty() ? "" : " ") + level->label;
    }
    if (resolved_.settings.find("resources.signal_ahead") == nullptr) fit_signal(spec.resources);
    if (!spec.model.layers.empty() && spec.model.name.empty()) spec.model.name = "custom";
    if (spec.is_own_program()) drop_engine_keys(spec, point);
    if (!spec.is_own_program() && assigned_in(point, "program.command") != nullptr) spec.program = {}; // the point runs dtengine
    if (!spec.is_own_program()) refuse_unused_data_keys(spec, point);
    if (spec.is_simulated() && !take_platform(spec, point)) return;
    if (read_well_) refuse_duplicate(spec, point);
    label_point(spec);
    const bool has_rate = is_given("sync.alpha", point) || is_given("sync.rho", point);
    const bool has_progress = is_given("sync.progress", point);
    const bool has_gpus = is_given("resources.gpus_per_node", point);
    for (auto& cell : sizes_of(std::move(spec), point)) {
      if (!cell.is_own_program() && may_leave_out_gpus_) cell.resources.gpus_per_node = cell.resources.gpus_per_rank = 0;
      if (!has_gpus && cell.is_own_program()) fit_gpus(cell.resources);
      if (excludes == Excludes::yes && is_excluded(cell)) continue;
      if (!has_rate && is_elastic(cell.sync.strategy) && cell.workers() > 0) cell.sync.alpha = default_alpha(cell.workers());
      if (!has_progress && exchanges_beside_computation(cell.sync)) cell.sync.progress = ProgressMode::automatic;
      report(find_problems(cell), point);
      check_placeholders(cell, point);
      if (cell.is_own_program()) {
        cells_.push_back(std::move(cell));
        continue;
      }
      for (const auto& doubt : find_sync_doubts(cell)) warnings_.add(mark_of(doubt.keys, point), with_defaults(doubt, point));
      cells_.push_back(std::move(cell));
    }
  }

  // Whether the sweep sets the key at that point.
  static bool varies(std::string_view path, const Point& point)
  {
    const auto assigns = [&](const auto* level) {
      return std::any_of(level->assignments.begin(), level->assignments.end(),
                         [&](const Assignment& assignment) { return assignment.path == path; });
    };
    return std::any_of(point.begin(), point.end(), assigns);
  }

  bool is_given(std::string_view path, const Point& point) const
  {
    return resolved_.settings.find(path) != nullptr || varies(path, point);
  }

  static const Assignment* assigned_in(const Point& point, std::string_view path)
  {
    for (const auto* level : point)
      for (const auto& assignment : level->assignments)
        if (assignment.key->path == path) return &assignment;
    return nullptr;
  }

  // A data key without effect is probably a misunderstanding, so it is refused. It is allowed if the recipe gives the key and the
  // point names another data set.
  void refuse_unused_data_keys(const RunSpec& spec, const Point& point)
  {
    for (const auto& key : data_keys()) {
      const bool of_recipe = assigned_in(point, "data.name") == nullptr && resolved_.settings.find(key.path) != nullptr;
      if (uses(spec.data.name, key) || (!of_recipe && assigned_in(point, key.path) == nullptr)) continue;
      report({{{key.path, "data.name"},
               ticked(key.path) + " has no effect, because " + ticked(spec.data.name) + " " + std::string(key.instead) +
                   "; remove it"}},
             point);
    }
  }

  // A key that only dtengine reads is refused. It is allowed, and has no effect, if the recipe gives the key and the point gives
  // the program: then other points of the sweep run dtengine.
  void drop_engine_keys(RunSpec& spec, const Point& point)
  {
    const bool of_point = assigned_in(point, "program.command") != nullptr;
    spec.program.sync = spec.program.sync || gives_sync(point, of_point);
    for (const auto& key : spec_keys()) {
      if (!has_no_effect(key.path, spec.program) || !is_given(key.path, point)) continue;
      if (!of_point || assigned_in(point, key.path) != nullptr)
        report({{{key.path, "program.command"},
                 ticked(key.path) + " has no effect, because only dtengine reads it and `program.command` runs another program; "
                                    "remove it"}},
               point);
      set_value(spec, key, default_of(key));
    }
  }

  // Whether a key of `sync` is given for the program. Those of a recipe are not, if the program is a point's: then they are those
  // of the points that run dtengine.
  bool gives_sync(const Point& point, bool program_of_point) const
  {
    return std::ranges::any_of(spec_keys(), [&](const Key& key) {
      return key.field != nullptr && key.path.starts_with("sync.") &&
             (program_of_point ? assigned_in(point, key.path) != nullptr : is_given(key.path, point));
    });
  }

  // Reports placeholders in program.command that cannot be filled, each at its word.
  void check_placeholders(const RunSpec& spec, const Point& point)
  {
    const auto& words = spec.program.command;
    for (std::size_t i = 0; i < words.size(); ++i) {
      try {
        with_values(words[i], spec);
      } catch (const Error& error) {
        diagnostics_.add(mark_of_word(point, i), "`program.command` " + std::string(error.what()));
      }
    }
  }

  Mark mark_of_word(const Point& point, std::size_t word) const
  {
    const auto* assigned = assigned_in(point, "program.command");
    if (assigned == nullptr) assigned = resolved_.settings.find("program.command");
    if (assigned == nullptr) return resolved_.file;
    return word < assigned->items.size() ? assigned->items[word] : assigned->mark;
  }

  void fill_command(RunSpec& run) const
  {
    if (!diagnostics_.empty()) return;
    for (auto& word : run.program.command) word = with_values(word, run);
  }

  // Fills the recipe's label with the values of the point. The size is no part of it.
  void label_point(const RunSpec& spec)
  {
    if (!resolved_.label) return;
    const auto [place, is_new] = labels_.try_emplace(spec.label);
    if (!is_new) return;
    const auto& [text, mark] = *resolved_.label;
    try {
      const auto& label = place->second = std::string(trim(with_values(text, spec)));
      if (printable(label) != label)
        diagnostics_.add(mark, "`label` gives " + ticked(printable(label)) + ", which does not print");
    } catch (const Error& error) {
      diagnostics_.add(mark, "`label` " + std::string(error.what()));
    }
  }

  // The label of each series. Sizes of a series must have one label, and two series must not.
  std::map<std::string, std::string> labels_of_series()
  {
    std::map<std::string, std::string> labels, series_by_label;
    if (!resolved_.label || !diagnostics_.empty()) return labels;
    const auto& mark = resolved_.label->mark;
    for (const auto& cell : cells_) {
      const auto series = series_of(sized_label(cell));
      const auto& label = labels_.at(cell.label);
      const auto& known = labels.try_emplace(series, label).first->second;
      if (known != label) {
        diagnostics_.add(mark, "`label` gives " + ticked(known) + " and " + ticked(label) +
                                   " to points that differ only in their size; leave the size out, because dtctl adds it");
        break;
      }
      const auto& first = series_by_label.try_emplace(label, series).first->second;
      if (first == series) continue;
      diagnostics_.add(mark, "`label` gives " + ticked(label) + " to two points of the sweep, " + ticked(first) + " and " +
                                 ticked(series) + "; add a key that differs between them, such as `{" +
                                 differing_key(first, series) + "}`");
      break;
    }
    return labels;
  }

  // The path of a swept key of which the two labels have different values.
  std::string differing_key(const std::string& one, const std::string& other) const
  {
    const auto words = label_words(one), others = label_words(other);
    std::vector<std::string> paths;
    for (const auto& factor : resolved_.sweep.factors) paths.insert(paths.end(), factor.paths.begin(), factor.paths.end());
    for (const auto& level : resolved_.sweep.include)
      for (const auto& assignment : level.assignments) paths.push_back(assignment.path);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i < others.size() && words[i].key == others[i].key && words[i].value == others[i].value) continue;
      for (const auto& path : paths)
        if (path == words[i].key || path.ends_with("." + words[i].key) || path == words[i].key + ".name") return path;
    }
    return paths.empty() ? "" : paths.back();
  }

  // Adds the figures of the platform that neither recipe nor point gives. The label tells simulated runs from measured ones, so
  // that nothing averages or ranks them together. False if there is no such platform.
  bool take_platform(RunSpec& spec, const Point& point)
  {
    const auto* platform = platforms_.find(spec.resources.platform, mark_of({"resources.platform"}, point), diagnostics_);
    if (platform == nullptr) return false;
    for (const auto& [key, assignment] : platform->settings.given())
      if (!is_given(key->path, point)) assign(spec, assignment);
    if (!is_given("resources.nodes_per_supernode", point)) spec.resources.nodes_per_supernode = spec.platform.nodes_per_supernode;
    spec.resources.platform = platform->name;
    spec.label = "simulated" + (spec.label.empty() ? "" : " " + spec.label);
    return true;
  }

  // Limits the default warning to a quarter of the time limit. A warning that the recipe gives is checked instead.
  static void fit_signal(ResourcesSpec& resources)
  {
    resources.signal_ahead_s = std::min(resources.signal_ahead_s, resources.time_limit_s / 4);
  }

  // Each size of a study asks for the GPUs that its ranks see, unless the recipe says how many a job asks for.
  static void fit_gpus(ResourcesSpec& resources) { resources.gpus_per_node = resources.gpus_per_rank * resources.ranks_per_node; }

  // dtengine uses no GPU, so its runs ask for none if the GPUs are the machine's (its profile has them) or meant for other points
  // of the sweep. A recipe of dtengine alone that asks for GPUs is a mistake of its author (checks/program_checks.cpp).
  static bool may_leave_out_gpus(const Resolved& resolved)
  {
    const auto is_of_recipe = [&](std::string_view key) {
      return resolved.settings.find(key) != nullptr && !is_of_profile(resolved, key);
    };
    return assigns(resolved.sweep, "program.command") ||
           (!is_of_recipe("resources.gpus_per_node") && !is_of_recipe("resources.gpus_per_rank"));
  }

  // The matrix alone cannot produce a point twice, but a zip or an included point can.
  void refuse_duplicate(const RunSpec& spec, const Point& point)
  {
    const auto& sweep = resolved_.sweep;
    const auto is_zip = [](const Factor& factor) { return factor.paths.size() > 1; };
    if (sweep.include.empty() && std::none_of(sweep.factors.begin(), sweep.factors.end(), is_zip)) return;
    if (points_
            .insert(canonical_text(spec) + spec.data.path + '\n' + join(spec.program.files, "\n") + '\n' + spec.train.start_from +
                    '\n' + spec.train.algorithms_from + '\n' + spec.train.compute_profile)
            .second)
      return;
    const auto& mark = point.back()->assignments.front().mark;
    diagnostics_.add(mark, "the point " + ticked(spec.label) + " is the same run as an earlier point of the sweep");
  }

  std::vector<RunSpec> sizes_of(RunSpec spec, const Point& point)
  {
    std::vector<RunSpec> cells;
    for (const auto nodes : spec.study.nodes) {
      cells.push_back(spec);
      cells.back().resources.nodes = nodes;
    }
    for (const auto ranks : spec.study.ranks) {
      cells.push_back(spec);
      cells.back().resources.ranks_per_node = std::max<std::int64_t>(1, ranks / spec.resources.nodes);
      if (ranks % spec.resources.nodes != 0)
        report({{{"study.ranks", "resources.nodes"},
                 "`study.ranks` lists " + std::to_string(ranks) + ", which cannot be spread evenly over " +
                     std::to_string(spec.resources.nodes) + " nodes (`resources.nodes`)"}},
               point);
    }
    for (const auto parts : spec.study.parts) cells.push_back(divided(spec, parts, point));
    if (cells.empty()) cells.push_back(std::move(spec));
    return cells;
  }

  // Returns the run with the cores of each node divided into `parts` ranks. [You2017, "Optimizing for a single KNL chip"]
  RunSpec divided(RunSpec spec, std::int64_t parts, const Point& point)
  {
    auto& resources = spec.resources;
    const auto cores = resources.ranks_per_node * resources.threads_per_rank;
    if (cores % parts != 0)
      report({{{"study.parts", "resources.threads_per_rank", "resources.ranks_per_node"},
               "`study.parts` lists " + std::to_string(parts) + ", but the " + std::to_string(cores) +
                   " cores of a node (`resources.ranks_per_node` x `resources.threads_per_rank`) are not a multiple of it"}},
             point);
    const auto threads = std::max<std::int64_t>(1, cores / parts);
    spec.train.modelled_rate *= static_cast<double>(threads) / static_cast<double>(resources.threads_per_rank);
    resources.ranks_per_node = parts;
    resources.threads_per_rank = threads;
    return spec;
  }

  // In random order, the runs are shuffled in rounds, each with every cell once. A study that is interrupted then has all sizes,
  // and a machine that becomes slower affects all sizes.
  std::vector<RunSpec> repeat_cells()
  {
    const auto& study = resolved_.base.study;
    const bool random = study.order == StudyOrder::random && (is_study() || resolved_.settings.find("study.order") != nullptr);
    std::vector<RunSpec> runs;
    runs.reserve(cells_.size() * static_cast<std::size_t>(study.repeats));
    if (random) {
      Random generator(static_cast<std::uint64_t>(study.seed));
      for (std::int64_t round = 0; round < study.repeats; ++round)
        for (const auto i : shuffled(cells_.size(), generator)) runs.push_back(take_repeat(cells_[i], round));
      return runs;
    }
    for (auto& cell : cells_)
      for (std::int64_t round = 0; round < study.repeats; ++round) runs.push_back(take_repeat(cell, round));
    return runs;
  }

  // Reports keys that study.tune tunes although the sweep sets them, and a study whose search and results would share seeds.
  void check_tuning(bool varies_seed)
  {
    const auto& tune = resolved_.base.study.tune;
    for (const auto& [path, range] : tune.keys)
      if (assigns(resolved_.sweep, path))
        report({{{"study.tune.keys"}, ticked(path) + " is tuned and swept; leave it out of one of them"}}, {});
    if (!tune.keys.empty() && !varies_seed)
      report({{{"study.vary_seed", "study.tune.keys"},
               "the tuned values must be tried with seeds that the tuning has not used; `study.tune` needs `study.vary_seed: "
               "true` and a `train.seed` that is not swept"}},
             {});
    for (const auto& cell : cells_) report(find_tune_problems(cell), {});
  }

  // In random order, the results of the same round are shuffled. Runs of a search keep their order.
  std::vector<std::size_t> order_of_tuned() const
  {
    const auto& all = resolved_.tuned;
    const auto& study = resolved_.base.study;
    Random generator(static_cast<std::uint64_t>(study.seed));
    std::vector<std::size_t> order;
    while (order.size() < all.size()) {
      const auto begin = order.size();
      auto end = begin;
      while (end < all.size() && all[end].is_search == all[begin].is_search && all[end].repeat == all[begin].repeat) ++end;
      const bool is_random = study.order == StudyOrder::random && !all[begin].is_search;
      for (const auto i : shuffled(end - begin, generator)) order.push_back(begin + (is_random ? i : order.size() - begin));
    }
    return order;
  }

  // The runs that the search of study.tune asks for. Its own are no points of the study (RunSpec::control).
  std::vector<RunSpec> tuned_runs()
  {
    std::map<std::string, const RunSpec*> points;
    for (const auto& cell : cells_) points.emplace(sized_label(cell), &cell);
    std::vector<RunSpec> runs;
    for (const auto i : order_of_tuned()) {
      const auto& tuned = resolved_.tuned[i];
      auto run = *points.at(tuned.point);
      for (const auto& [path, text] : tuned.values) {
        Node value;
        value.kind = Node::Kind::scalar;
        value.mark = resolved_.file;
        value.text = text;
        if (const auto assignment = read_assignment(path, value.mark, value, {}, diagnostics_)) assign(run, *assignment);
      }
      report(find_problems(run), {});
      run.repeat = tuned.is_search ? first_search_repeat + tuned.repeat : tuned.repeat;
      run.train.seed += run.repeat;
      run.control = tuned.is_search;
      if (tuned.is_search) run.label += (run.label.empty() ? "" : " ") + tried_word(tuned.values);
      runs.push_back(std::move(run));
    }
    return runs;
  }

  // Adds the controls: repetitions of a run of the smallest size, spread evenly from the first place of the ladder to the last.
  std::vector<RunSpec> with_controls(std::vector<RunSpec> runs) const
  {
    const auto& study = resolved_.base.study;
    if (study.layout != StudyLayout::ladder || study.controls < 2 || runs.empty()) return runs;
    const auto& smallest = *std::min_element(runs.begin(), runs.end(), [](const RunSpec& a, const RunSpec& b) {
      return std::tuple(a.ranks(), a.label, a.repeat) < std::tuple(b.ranks(), b.label, b.repeat);
    });
    const auto controls = static_cast<std::size_t>(study.controls);
    const auto places = runs.size() + controls;
    std::vector<RunSpec> all;
    all.reserve(places);
    auto next = runs.begin();
    for (std::size_t control = 0; all.size() < places;) {
      if (all.size() == control * (places - 1) / (controls - 1))
        all.push_back(control_of(smallest, static_cast<std::int64_t>(control++)));
      else
        all.push_back(*next++);
    }
    return all;
  }

  // A control does the same work as the measured runs. Its repeat number follows theirs, which gives it a different key.
  RunSpec control_of(RunSpec run, std::int64_t number) const
  {
    if (run.study.vary_seed) run.train.seed -= run.repeat;
    run.control = true;
    run.repeat = run.study.repeats + number;
    return run;
  }

  bool is_study() const { return resolved_.base.study.mode || resolved_.base.study.repeats > 1; }

  // Whether the repeats of the study have different seeds. One answer for all points, so that they share the seed of a repeat.
  bool varies_seed() const
  {
    if (resolved_.settings.find("study.vary_seed") != nullptr) return resolved_.base.study.vary_seed;
    const bool is_swept = assigns(resolved_.sweep, "train.seed");
    return !is_swept && std::any_of(cells_.begin(), cells_.end(), measures_training);
  }

  // Copies the cell. The last repeat moves it instead, which halves the memory for large sweeps.
  RunSpec take_repeat(RunSpec& cell, std::int64_t round) const
  {
    auto run = round + 1 < resolved_.base.study.repeats ? cell : std::move(cell);
    run.repeat = round;
    if (run.study.vary_seed) run.train.seed += round;
    return run;
  }

  void report(const std::vector<Problem>& problems, const Point& point)
  {
    // Which program runs is not known, and so nothing about what it needs.
    if (resolved_.settings.is_unreadable(*find_key("program.command"))) return;
    for (const auto& problem : problems) {
      const auto is_unreadable = [&](std::string_view path) { return resolved_.settings.is_unreadable(*find_key(path)); };
      if (std::any_of(problem.keys.begin(), problem.keys.end(), is_unreadable)) continue;
      const bool is_swept = std::any_of(problem.keys.begin(), problem.keys.end(), [&](auto key) { return varies(key, point); });
      const auto addition = is_swept && !problem.in_sweep.empty() ? "; " + problem.in_sweep : "";
      diagnostics_.add(mark_of(problem.keys, point), problem.message + addition);
    }
  }

  // The message, and which of the values in it the recipe does not give.
  std::string with_defaults(const Problem& problem, const Point& point) const
  {
    std::vector<std::string> defaults;
    for (const auto key : problem.may_be_default)
      if (!is_given(key, point)) defaults.push_back("`" + std::string(key) + "`");
    if (defaults.empty()) return problem.message;
    return problem.message + "; the recipe does not set " + join(defaults, " and ") +
           (defaults.size() == 1 ? ": it is a default" : ": they are defaults");
  }

  // The place of the first of these keys that is given, else its block, else the file.
  Mark mark_of(const std::vector<std::string_view>& keys, const Point& point) const
  {
    for (const auto key : keys) {
      for (const auto* level : point)
        for (const auto& assignment : level->assignments)
          if (assignment.key->path == key) return assignment.mark;
      if (const auto* given = resolved_.settings.find(key)) return given->mark;
    }
    const auto* block = resolved_.settings.block_of(keys.front());
    return block != nullptr ? *block : resolved_.file;
  }

  const Resolved& resolved_;
  Diagnostics& diagnostics_;
  Diagnostics& warnings_;
  const bool read_well_;
  const bool may_leave_out_gpus_;
  PlatformBook platforms_;
  std::vector<RunSpec> cells_; // all runs of the first repeat
  std::unordered_set<std::string> points_;
  std::unordered_set<std::size_t> has_excluded_; // conditions of sweep.exclude that have held
  std::map<std::string, std::string> labels_;    // of the recipe, by the label of the point
};

} // namespace

Expansion expand(const Resolved& resolved, Diagnostics& diagnostics, Diagnostics& warnings)
{
  return Expander(resolved, diagnostics, warnings).run();
}

std::vector<std::string> notes_on(const Resolved& resolved, const std::vector<RunSpec>& runs)
{
  auto notes = notes_on_images(runs);
  const auto of_engine = std::count_if(runs.begin(), runs.end(), [](const RunSpec& run) { return !run.is_own_program(); });
  const auto* gpus = resolved.settings.find("resources.gpus_per_node");
  if (gpus == nullptr) gpus = resolved.settings.find("resources.gpus_per_rank");
  if (gpus == nullptr || of_engine == 0) return notes;
  const auto whose = is_of_profile(resolved, gpus->path) ? "the profile" : "the recipe";
  notes.push_back(counted(of_engine, "run") + " of dtengine will ask for no GPU, although " + whose + " gives " +
                  ticked(gpus->path) + ": dtengine computes on processor cores");
  return notes;
}

std::vector<std::size_t> shuffled(std::size_t count, Random& random)
{
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

} // namespace dt::recipes
