// A home with a study that has everything a figure can show, made without training: labels that were measured and simulated,
// sizes, repeats, losses, evaluations, targets, timelines, and searches of the learning rate.
#pragma once

#include "core/spec/point_label.hpp"
#include "tests/cli/report/pictured_home.hpp"
#include "tests/support/simulated_surface.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace dt::test {

// Times of the three repeats relative to their mean.
inline constexpr double scatter[] = {0.97, 1.0, 1.02};

class FigureStudy : private SiteHome {
 public:
  static constexpr const char* tuned = "optimizer.learning_rate";
  static constexpr std::int64_t sizes[] = {1, 2, 4, 8};

  explicit FigureStudy(const std::vector<std::string>& measured = {"sync-sgd", "easgd"},
                       const std::vector<std::string>& simulated = {"simulated ring"}, const std::string& name = "study")
  {
    for (std::size_t i = 0; i < measured.size(); ++i) add_label(measured[i], 1 - 0.05 * static_cast<double>(i), false);
    for (const auto& label : simulated) add_label(label, 0.9, true);
    for (std::size_t i = 0; i < std::min<std::size_t>(measured.size(), 2); ++i) add_search(measured[i], i == 0 ? -2.0 : -1.2);
    auto record = site.study(runs_, "strong", 1700000000, name);
    record.tune = {.metric = "time-to-target", .keys = {{tuned, "0.001..1"}}, .runs = 9, .seeds = 2, .results = 3};
    for (const auto& run : runs_)
      if (run.spec.control) record.control_keys.push_back(run.key);
    store::test::put_file(site.home.study(record.id) / "study.json", to_json(record));
    verb({"db", "rebuild"});
  }

  using SiteHome::file;
  CommandResult verb(const Words& words) const { return SiteHome::run(words); }
  // Runs `dtctl plot STUDY` with further words.
  CommandResult run(const Words& words, const Words& more = {}) const { return SiteHome::run(plot(words), more); }
  Json json(const Words& words) const { return SiteHome::json(plot(words)); }
  std::string in_terminal(const Words& words, unsigned short columns, const Words& more = {}) const
  {
    return dtctl.in_terminal(plot(words), columns, with(environment(), more));
  }

 private:
  static Words plot(const Words& words) { return with({"plot", "study"}, words); }

  void add_label(const std::string& label, double quality, bool is_simulated)
  {
    for (const auto ranks : sizes)
      for (int repeat = 0; repeat < 3; ++repeat) add_run(label, ranks, repeat, quality, is_simulated);
  }

  static RunSpec spec_of(const std::string& label, std::int64_t ranks, int repeat, bool is_simulated)
  {
    auto spec = store::test::sample_spec(ranks, repeat);
    spec.name = "study";
    spec.label = (label.empty() ? "" : label + " ") + "ranks=" + std::to_string(ranks);
    spec.optimizer.learning_rate = 0.001 * static_cast<double>(1 + std::hash<std::string>{}(label) % 1000);
    spec.train.target_accuracy = 0.8;
    if (is_simulated) spec.resources.platform = "cluster";
    spec.train.trace = !is_simulated && ranks == 2 && repeat == 0;
    return spec;
  }

  void add_run(const std::string& label, std::int64_t ranks, int repeat, double quality, bool is_simulated)
  {
    const auto spec = spec_of(label, ranks, repeat, is_simulated);
    const auto planned = site.plan(spec);
    const auto attempt = site.begin(planned, 1);
    const auto n = static_cast<double>(ranks);
    auto result = store::test::sample_result(spec, quality * 100 * std::pow(n, 0.85) * scatter[repeat]);
    const double useful = result.measured_s * n * 0.8;
    result.work = {
        .useful_s = useful, .useful_max_s = useful / n, .useful_step_max_s = useful / n, .busy_step_max_s = useful / n};
    result.isolated_communication_s = 2 * (n - 1) / n * 4 * static_cast<double>(result.parameters) / 1e9;
    result.time_to_accuracy_s = 40 / (quality * n * scatter[repeat]);
    result.samples_to_accuracy = 640;
    store::test::put_file(attempt.result(), to_json(result));
    put_energy(attempt, 0.1 + 0.01 * n);
    if (!is_simulated) store::test::put_file(attempt.events(), store::test::step_lines(1, 40));
    store::test::put_file(attempt.end(), "exit 0 1700000101\n");
    if (spec.train.trace) put_timeline(attempt, 2);
    runs_.push_back(planned);
  }

  // Adds the search of the label's largest size. Settings 0.3 decades or more above the optimum miss the target.
  void add_search(const std::string& label, double optimum)
  {
    const Surface surface{.optimum = {optimum}, .cliff = 0.3, .least = 10};
    const auto cost_of = [&](const store::Trial& trial) -> std::optional<double> {
      const double cost = surface.cost(trial.setting) * scatter[trial.seed];
      auto spec = spec_of((label.empty() ? "" : label + " ") +
                              tried_word({{tuned, tuned_text(tuned_key(tuned, "0.001..1"), trial.setting[0])}}),
                          sizes[3], 0, false);
      spec.optimizer.learning_rate = trial.setting[0];
      spec.control = true;
      spec.repeat = first_search_repeat + trial.seed;
      spec.train.seed = spec.repeat + std::lround(-100 * optimum); // the label is no part of a run's key
      const auto planned = site.plan(spec);
      auto result = store::test::sample_result(spec, 100);
      result.time_to_accuracy_s = std::isfinite(cost) ? cost : not_measured;
      result.samples_to_accuracy = std::isfinite(cost) ? 640 : 0;
      store::test::put_result(site.begin(planned, 1), result);
      runs_.push_back(planned);
      return cost;
    };
    store::search_of({.keys = {tuned_key(tuned, "0.001..1")}, .runs = 9, .seeds = 2}, {}, cost_of);
  }

  std::vector<PlannedRun> runs_;
};

} // namespace dt::test
