// A home with a study that has everything a report can show, all figures planted, and the real dtctl. Nothing is trained.
#pragma once

#include "core/record/attempt/trace_record.hpp"
#include "core/record/energy_record.hpp"
#include "core/record/prediction_record.hpp"
#include "tests/cli/site_home.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace dt::test {

// Names that would break a text format, a page or a terminal.
inline const std::string breaking_text =
    "ev\"il'</script><script>window.broken=1</script><img src=x onerror=window.broken=1>\x1b[31mred";

// Writes the trace of each rank: three steps.
inline void put_timeline(const AttemptFolder& attempt, int ranks)
{
  make_folders(attempt.trace());
  for (int rank = 0; rank < ranks; ++rank) {
    TraceRecord trace{.rank = rank,
                      .role = "worker",
                      .host = "node0",
                      .begin = {0, 0, 0},
                      .end = {1, 0, 0},
                      .names = {"forward", "backward", "communication", "training", "allreduce", "sums", "step"},
                      .spans = {}};
    for (std::int64_t step = 1; step <= 3; ++step) {
      const auto at = step * 10'000'000;
      trace.spans.push_back({.name = 6, .track = 3, .begin_ns = at, .length_ns = 9'000'000, .step = step});
      trace.spans.push_back({.name = 0, .track = 3, .begin_ns = at, .length_ns = 3'000'000, .step = step});
      trace.spans.push_back({.name = 1, .track = 3, .begin_ns = at + 3'000'000, .length_ns = 4'000'000, .step = step});
      trace.spans.push_back({.name = 2, .track = 3, .begin_ns = at + 7'000'000, .length_ns = 2'000'000, .step = step});
      trace.spans.push_back({.name = 4, .track = 5, .begin_ns = at + 5'000'000, .length_ns = 3'500'000, .step = step});
    }
    store::test::put_file(trace_path(attempt, rank), to_text(trace));
  }
}

inline void put_energy(const AttemptFolder& attempt, double joules_per_sample)
{
  EnergyRecord energy;
  energy.run.joules_per_sample = joules_per_sample;
  store::test::put_file(energy_path(attempt), to_json(energy));
}

class PicturedHome : public SiteHome {
 public:
  // Two labels at 1, 2 and 4 ranks with three repeats and a target, one label that was simulated, two A/A controls, a traced run.
  // `name` is the study's; `extra` is added to its first label; with a `target` of 0 the runs have no target accuracy.
  explicit PicturedHome(const std::string& name = "pictured", const std::string& extra = "", double target = 0.8)
      : name_(name), target_(target)
  {
    for (int strategy = 0; strategy < 2; ++strategy)
      for (const int ranks : {1, 2, 4})
        for (int repeat = 0; repeat < 3; ++repeat) add_run(strategy, ranks, repeat, strategy == 0 ? extra : "");
    for (const int ranks : {1, 2, 4, 8}) add_simulated_run(ranks);
    add_controls();
    put_timeline({site.home.run(runs[traced].key), 1}, 4);
    record = site.study(runs, "strong", 1700000000, name);
    record.recipe_text = "name: " + name + "\nresources: {env: {API_TOKEN: planted-secret}}\n";
    record.control_keys = {runs[runs.size() - 2].key, runs.back().key};
    store::test::put_file(site.home.study(record.id) / "study.json", to_json(record));
    put_prediction();
  }

  std::vector<PlannedRun> runs;
  StudyRecord record;

 private:
  static constexpr std::size_t traced = 8; // 4 ranks of the first label

  RunSpec spec_of(const std::string& label, int ranks, int repeat) const
  {
    auto spec = store::test::sample_spec(ranks, repeat);
    spec.name = name_;
    spec.label = label + " ranks=" + std::to_string(ranks);
    spec.train.seed = label == "control" ? 77 : 1; // the label is no part of a run's key
    spec.train.target_accuracy = target_;
    spec.resources.env["API_TOKEN"] = "planted-secret";
    return spec;
  }

  static double throughput_of(int strategy, int ranks, int repeat)
  {
    return 1000.0 * ranks * std::pow(strategy == 0 ? 0.92 : 0.81, std::log2(ranks)) * (1 + 0.01 * (repeat - 1));
  }

  // Rank 1 computes for longer than the others.
  static RunResult result_of(const RunSpec& spec, double throughput, double step_s)
  {
    auto result = store::test::sample_result(spec, throughput);
    const double ranks = static_cast<double>(spec.ranks()), time = result.measured_s;
    result.work = {0.7 * time * ranks, 0.75 * time, 0.8 * time, 0.81 * time};
    result.lone_compute_s = 0.6 * step_s;
    result.isolated_communication_s = 0.1 * step_s;
    result.time_to_accuracy_s = 0.5 * result.wall_s + 1 / throughput;
    result.samples_to_accuracy = 640;
    for (auto& rank : result.ranks) {
      const double slow = rank.rank == 1 ? 1.3 : 1;
      const auto phase = [&](double share) {
        return PhaseStats{.total_s = 15 * share * step_s,
                          .mean_s = share * step_s,
                          .p50_s = share * step_s,
                          .p95_s = share * step_s,
                          .p99_s = share * step_s,
                          .max_s = share * step_s};
      };
      rank.phases = {phase(0.01), phase(0.2 * slow), phase(0.4 * slow), phase(0.3 / slow), phase(0.05), phase(0)};
      rank.step = phase(1);
    }
    return result;
  }

  void put_run(const RunSpec& spec, double throughput, double begin_s, bool has_steps)
  {
    using store::test::put_file;
    const auto planned = site.plan(spec);
    const auto attempt = site.begin(planned, 1);
    auto begin = read_begin(attempt).value();
    begin.unix_s = 1700000001 + begin_s;
    put_file(attempt.begin(), to_json(begin));
    if (has_steps) put_file(attempt.events(), store::test::step_lines(1, 20));
    put_file(attempt.out(), "trained by the test\n");
    put_file(attempt.result(), to_json(result_of(spec, throughput, 64 / throughput)));
    if (spec.resources.platform.empty()) put_energy(attempt, 0.4 + 0.1 * static_cast<double>(spec.ranks()));
    put_file(attempt.end(), "exit 0 1700000101\n");
    runs.push_back(planned);
  }

  void add_run(int strategy, int ranks, int repeat, const std::string& extra)
  {
    auto spec = spec_of(std::string("strategy=") + (strategy == 0 ? "sync-sgd" : "hsgd") + extra, ranks, repeat);
    spec.sync.strategy = strategy == 0 ? "sync-sgd" : "hsgd";
    spec.train.trace = runs.size() == traced;
    put_run(spec, throughput_of(strategy, ranks, repeat), 60.0 * static_cast<double>(runs.size()), true);
  }

  void add_simulated_run(int ranks)
  {
    auto spec = spec_of("simulated", ranks, 0);
    spec.resources.platform = "planted";
    spec.resources.nodes = ranks;
    spec.resources.ranks_per_node = 1;
    spec.train.target_accuracy = 0;
    spec.label = "simulated nodes=" + std::to_string(ranks);
    put_run(spec, 900.0 * ranks * std::pow(0.95, std::log2(ranks)), 0, false);
  }

  void add_controls()
  {
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto spec = spec_of("control", 1, repeat);
      put_run(spec, 1000 - 20 * repeat, 1500 * repeat, true);
    }
  }

  void put_prediction() const
  {
    PredictionRecord prediction{.study = record.id,
                                .recipe = name_,
                                .series = "strategy=hsgd",
                                .strategy = "hsgd",
                                .model = "lenet",
                                .nodes = 1,
                                .ranks = 4,
                                .global_batch = 64,
                                .predicted_unix_s = 1700000000,
                                .largest_size = 2,
                                .backtests = 1,
                                .level = 0.8,
                                .throughput = 2500,
                                .throughput_low = 2300,
                                .throughput_high = 2700,
                                .efficiency = 0.62,
                                .efficiency_low = 0.57,
                                .efficiency_high = 0.67,
                                .time_s = 10,
                                .node_hours = 0.01};
    prediction.id = prediction_id(prediction);
    write_prediction(site.home, prediction);
  }

  std::string name_;
  double target_;
};

} // namespace dt::test
