// A home with a study that has everything a figure can show, made without training: labels that were measured and simulated,
// sizes, repeats, losses, evaluations, targets and timelines.
#pragma once

#include "core/record/energy_record.hpp"
#include "core/record/trace_record.hpp"
#include "core/text.hpp"
#include "tests/cli/driver.hpp"
#include "tests/store/fixture.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace dt::test {

// Times of the three repeats relative to their mean.
inline constexpr double scatter[] = {0.97, 1.0, 1.02};

class FigureStudy {
 public:
  static constexpr std::int64_t sizes[] = {1, 2, 4, 8};

  explicit FigureStudy(const std::vector<std::string>& measured = {"sync-sgd", "easgd"},
                       const std::vector<std::string>& simulated = {"simulated ring"}, const std::string& name = "study")
  {
    for (std::size_t i = 0; i < measured.size(); ++i) add_label(measured[i], 1 - 0.05 * static_cast<double>(i), false);
    for (const auto& label : simulated) add_label(label, 0.9, true);
    site_.study(runs_, "strong", 1700000000, name);
    dtctl_.run({"db", "rebuild"}, {home()});
  }

  CommandResult run(const Words& words, const Words& environment = {}) const
  {
    return dtctl_.run(with({"plot", "study"}, words), with({home()}, environment));
  }
  CommandResult dtctl(const Words& words) const { return dtctl_.run(words, {home()}); }
  Json json(const Words& words) const { return dtctl_.json(with({"plot", "study"}, words), {home()}); }
  Json query(const std::string& sql) const { return dtctl_.json({"query", sql}, {home()}).at("rows"); }
  std::string in_terminal(const Words& words, unsigned short columns, const Words& environment = {}) const
  {
    return dtctl_.in_terminal(with({"plot", "study"}, words), columns, with({home()}, environment));
  }
  std::filesystem::path file(const std::string& name) const { return dtctl_.folder() / name; }

 private:
  std::string home() const { return "DTCTL_HOME=" + site_.home.root().string(); }

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
    const auto planned = site_.plan(spec);
    const auto attempt = site_.begin(planned, 1);
    const auto n = static_cast<double>(ranks);
    auto result = store::test::sample_result(spec, quality * 100 * std::pow(n, 0.85) * scatter[repeat]);
    const double useful = result.measured_s * n * 0.8;
    result.work = {
        .useful_s = useful, .useful_max_s = useful / n, .useful_step_max_s = useful / n, .busy_step_max_s = useful / n};
    result.isolated_communication_s = 2 * (n - 1) / n * 4 * static_cast<double>(result.parameters) / 1e9;
    result.time_to_accuracy_s = 40 / (quality * n * scatter[repeat]);
    result.samples_to_accuracy = 640;
    store::test::put_file(attempt.result(), to_json(result));
    EnergyRecord energy;
    energy.run.joules_per_sample = 0.1 + 0.01 * n;
    store::test::put_file(energy_path(attempt), to_json(energy));
    if (!is_simulated) store::test::put_file(attempt.events(), store::test::step_lines(1, 40));
    store::test::put_file(attempt.end(), "exit 0 1700000101\n");
    if (spec.train.trace) add_trace(attempt);
    runs_.push_back(planned);
  }

  static void add_trace(const AttemptFolder& attempt)
  {
    make_folders(attempt.path() / "trace");
    for (int rank = 0; rank < 2; ++rank) {
      TraceRecord record{.rank = rank,
                         .role = "worker",
                         .host = "node" + std::to_string(rank),
                         .begin = {1000, 0, 1e-6},
                         .end = {1010, 0, 1e-6},
                         .forgotten = 0,
                         .names = {"training", "sums", "forward", "backward", "allreduce", "step"},
                         .spans = {}};
      for (std::int64_t step = 1; step <= 3; ++step) {
        record.spans.push_back({5, 0, step * 10'000'000, 9'000'000, step});
        record.spans.push_back({2, 0, step * 10'000'000, 3'000'000, step});
        record.spans.push_back({3, 0, step * 10'000'000 + 3'000'000, 5'000'000, step});
        record.spans.push_back({4, 1, step * 10'000'000 + 4'000'000, 5'000'000, step});
      }
      store::test::put_file(trace_path(attempt, rank), to_text(record));
    }
  }

  store::test::Site site_;
  Dtctl dtctl_;
  std::vector<PlannedRun> runs_;
};

} // namespace dt::test
