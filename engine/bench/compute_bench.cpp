#include "engine/bench/bench.hpp"
#include "engine/bench/bench_ranks.hpp"
#include "engine/bench/fixed_step.hpp"
#include "engine/bench/fma_peak.hpp"
#include "engine/train/rank_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::engine {
namespace {

constexpr double fewest_steps = 10;

struct Measured {
  std::vector<double> step_s, update_s;
  double loss = 0; // the last step's
};

void keep(Measured& measured, const FixedStep::Took& took)
{
  measured.step_s.push_back(took.step_s);
  measured.update_s.push_back(took.update_s);
  measured.loss = took.loss;
}

// As many as are asked for, or as fit into the time, told by the quickest of the warm-up; equally many on all ranks.
std::size_t steps_to_measure(const ComputeBench& options, double quickest_s, BenchRanks& ranks)
{
  const double fitting = std::clamp(options.seconds / quickest_s, fewest_steps, 1e7);
  return static_cast<std::size_t>(options.steps > 0 ? static_cast<double>(options.steps) : ranks.of_root(fitting));
}

Measured measure(FixedStep& step, const ComputeBench& options, BenchRanks& ranks)
{
  Measured warmup, measured;
  for (int i = 0; i < step.warmup_steps(); ++i) keep(warmup, step.run());
  const auto steps = steps_to_measure(options, summarize(warmup.step_s).least, ranks);
  for (std::size_t i = 0; i < steps; ++i) keep(measured, step.run());
  return measured;
}

NetworkOptions network_options(const ComputeBench& options)
{
  return natural_options({.model = options.model, .image = {}, .batch = options.batch, .threads = options.threads});
}

double peak_gflops(const ComputeBench& options, BenchRanks& ranks)
{
  ranks.barrier(); // all ranks at once, as they compute
  return fma_peak_gflops(MultiplyAdd::fp32, options.threads);
}

nlohmann::ordered_json json_of(const ComputeBench& options, const Measured& measured, FixedStep& step, BenchRanks& ranks, double peak)
{
  const auto [median, least] = summarize(measured.step_s);
  return {{"model", options.model},
          {"batch", options.batch},
          {"threads", options.threads},
          {"precision", "fp32"},
          {"samples_per_s", ranks.size() * static_cast<double>(options.batch) / median},
          {"step_ms_median", 1e3 * median},
          {"step_ms_min", 1e3 * least},
          {"peak_gflops", peak},
          {"reorders_per_step", step.network().reorders()},
          {"peak_memory_bytes", memory_peak_bytes()},
          {"loss", measured.loss},
          {"steps", measured.step_s.size()},
          {"ranks", ranks.size()},
          {"build_s", step.build_s()},
          {"optimizer_ms", 1e3 * summarize(measured.update_s).median}};
}

void print_text(const ComputeBench& options, const nlohmann::ordered_json& json)
{
  fmt::print("{}, batch {}, threads {}: {:.0f} samples/s; a step {:.3f} ms (median of {}), {:.3f} ms (least)\n", options.model,
             options.batch, options.threads, json["samples_per_s"].get<double>(), json["step_ms_median"].get<double>(),
             json["steps"].get<std::int64_t>(), json["step_ms_min"].get<double>());
}

} // namespace

Times summarize(std::vector<double> seconds)
{
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front()};
}

int bench_compute(const ComputeBench& options)
{
  BenchRanks ranks(options.allreduce);
  const double peak = peak_gflops(options, ranks);
  FixedStep step(network_options(options), &ranks);
  const auto measured = measure(step, options, ranks);
  if (!ranks.is_root()) return 0;
  const auto json = json_of(options, measured, step, ranks, peak);
  if (options.json)
    fmt::print("{}\n", json.dump());
  else
    print_text(options, json);
  return 0;
}

} // namespace dt::engine
