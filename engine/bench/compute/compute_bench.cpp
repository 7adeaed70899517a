#include "core/files/file.hpp"
#include "core/maths/multiply_adds.hpp"
#include "core/maths/statistics.hpp"
#include "engine/bench/bench.hpp"
#include "engine/bench/comm/bench_ranks.hpp"
#include "engine/bench/compute/fixed_step.hpp"
#include "engine/bench/compute/profile.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/nn/choice/network_algorithms.hpp"
#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/train/record/rank_report.hpp"
#include "engine/train/step/step_timer.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include <fmt/format.h>
#include <omp.h>

namespace dt::bench {
namespace {

// Seconds from the first thread's start to the last thread's end.
double timed_round_trip(const MultiplyAddKernel& kernel, int threads, std::int64_t rounds)
{
  std::atomic<float> kept = 0; // uses the result, so that the compiler cannot remove the computation
  const double begin_s = comm::monotonic_s();
#pragma omp parallel num_threads(threads)
  kept.store(kernel.run(rounds), std::memory_order_relaxed);
  return comm::monotonic_s() - begin_s;
}

// Peak of `threads` threads together, in GFLOP/s: the best of several tries in about `seconds`. Returns 0 on a processor whose
// peak cannot be measured. Leaves the calling thread with an OpenMP team of `threads`.
double fma_peak_gflops(MultiplyAdd kind, int threads, double seconds = 0.3)
{
  constexpr std::int64_t rounds = 1'000'000; // some milliseconds, so that the start of the team does not matter
  nn::prepare_compute_thread(threads);
  const auto kernel = multiply_add_kernel(kind);
  if (kernel.run == nullptr) return 0;
  double least_s = timed_round_trip(kernel, threads, rounds);
  for (const double end_s = comm::monotonic_s() + seconds; comm::monotonic_s() < end_s;)
    least_s = std::min(least_s, timed_round_trip(kernel, threads, rounds));
  return 1e-9 * kernel.flops_a_round * static_cast<double>(rounds) * threads / least_s;
}

// How far the cores of a team of threads are from each other.

constexpr int ended = -1;
constexpr double most_s = 0.02, least_pair_s = 0.001; // for all pairs together, and for each one

// Gives its core away now and then: two threads with real-time priority on one core would otherwise wait for ever.
void wait_for(const std::atomic<int>& line, int number)
{
  constexpr int most_polls = 10'000;
  for (int polls = 1, seen = line.load(); seen != number && seen != ended; ++polls, seen = line.load())
    if (polls % most_polls == 0) std::this_thread::yield();
}

// Sends numbers to the answering thread and back, in batches; the fastest batch counts, because others only show other load.
double asked_s(std::atomic<int>& line, double seconds)
{
  constexpr int most_in_batch = 1000;
  double least_s = seconds;
  int number = 0;
  for (const double end_s = comm::monotonic_s() + seconds; comm::monotonic_s() < end_s;) {
    const double begin_s = comm::monotonic_s();
    double now_s = begin_s;
    int sent = 0;
    do {
      line = number + 1;
      wait_for(line, number += 2);
      if (sent % 16 == 0) now_s = comm::monotonic_s();
    } while (++sent < most_in_batch && now_s < end_s);
    least_s = std::min(least_s, (comm::monotonic_s() - begin_s) / (2 * sent));
  }
  line = ended;
  return least_s;
}

void answer(std::atomic<int>& line)
{
  for (int number = 1; line.load() != ended; number += 2) {
    wait_for(line, number);
    int expected = number;
    line.compare_exchange_strong(expected, number + 1);
  }
}

// Between the first thread of the team and this one.
double pair_latency_s(int threads, int other, double seconds)
{
  alignas(64) std::atomic<int> line = 0;
  double found_s = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == other) answer(line);
    if (omp_get_thread_num() == 0 && omp_get_num_threads() > other) found_s = asked_s(line, seconds);
  }
  return found_s;
}

// Nanoseconds that a cache line takes from the first thread's core to the core of another one of `threads` OpenMP threads, the
// most of all; 0 for one thread. Cores that share a last-level cache need 20 to 40 ns, others 100 to 300. On a virtual machine it
// changes when the host moves a core, and with it the speed of computations whose threads read what others wrote.
double core_latency_ns(int threads)
{
  nn::prepare_compute_thread(threads);
  double most = 0;
  const double seconds = std::max(least_pair_s, most_s / std::max(1, threads - 1));
  for (int other = 1; other < threads; ++other) most = std::max(most, pair_latency_s(threads, other, seconds));
  return 1e9 * most;
}

constexpr double fewest_steps = 10;
// A profile's distribution rests on more steps: on 50, unless they take longer than a minute.
constexpr double fewest_profile_steps = 50, most_seconds_for_them = 60;
// Steps with every operation timed are as many as the measured ones, up to this number: enough for a median.
constexpr std::size_t most_profiled_steps = 21;

struct Measured {
  std::vector<double> step_s;
  StepTimes parts;
  double loss = 0; // of the last step
};

void keep(Measured& measured, const FixedStep::Took& took)
{
  measured.step_s.push_back(took.step_s);
  measured.parts.forward_s.push_back(took.passes.forward_s);
  measured.parts.backward_s.push_back(took.passes.backward_s);
  measured.parts.update_s.push_back(took.update_s);
  measured.parts.compute_s.push_back(took.passes.forward_s + took.passes.backward_s + took.update_s);
  measured.loss = took.loss;
}

// The requested number of steps, or as many as fit into the time according to the fastest warm-up step. The same on all ranks.
std::size_t steps_to_measure(const ComputeBench& options, double quickest_s, BenchRanks& ranks)
{
  const double fewest =
      options.profile ? std::clamp(most_seconds_for_them / quickest_s, fewest_steps, fewest_profile_steps) : fewest_steps;
  const double fitting = std::clamp(options.seconds / quickest_s, fewest, 1e7);
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

// Equal on all ranks. With `timed`, rank 0 times the convolutions. Collective.
nn::NetworkOptions network_options(const ComputeBench& options, BenchRanks& ranks)
{
  auto network = natural_options({.model = options.model,
                                  .image = {1, 28, 28},
                                  .batch = options.batch,
                                  .threads = options.threads,
                                  .precision = options.precision,
                                  .winograd = !options.direct,
                                  .reference = options.reference,
                                  .dropout = options.profile}); // a profile is of the step as it is trained
  if (options.library) network.image_lanes = false;
  if (options.algorithms == "rules" || options.reference) return network;
  const auto chosen =
      ranks.text_of_root([&] { return to_json(nn::choose_network_algorithms(network, {.cache = options.cache}).algorithms); });
  network.algorithms = parse_algorithms(chosen, "the timed choice");
  return network;
}

double peak_gflops(const ComputeBench& options, BenchRanks& ranks)
{
  ranks.barrier(); // all ranks measure at the same time, as they compute
  return fma_peak_gflops(options.precision == Precision::bf16 ? MultiplyAdd::bf16_dot : MultiplyAdd::fp32, options.threads);
}

struct Report {
  ComputeBench options;
  int ranks = 1;
  bool is_told = true; // whether this rank prints the report
  Measured measured;
  std::vector<StepProfile> profiles;
  ComputeProfile compute_profile; // with --profile
  double peak_gflops = 0, step_flops = 0, build_s = 0;
  double core_latency_ns = 0; // before and after the steps, the greater
  int reorders = 0;
  double choice_s = 0;
  Algorithms algorithms{};
  nn::MemoryNeed memory;

  double step_s() const { return summarize(measured.step_s).median; }
  double gflops() const { return 1e-9 * step_flops / step_s(); }
  double peak_share() const { return peak_gflops > 0 ? gflops() / peak_gflops : 0; }
};

nlohmann::ordered_json json_of(const Report& report)
{
  const auto& options = report.options;
  const auto times = summarize(report.measured.step_s);
  nlohmann::ordered_json json{{"model", options.model},
                              {"batch", options.batch},
                              {"threads", options.threads},
                              {"precision", name_of(options.precision)},
                              {"samples_per_s", report.ranks * static_cast<double>(options.batch) / times.median},
                              {"step_ms_median", 1e3 * times.median},
                              {"step_ms_min", 1e3 * times.least},
                              {"gflops", report.gflops()},
                              {"peak_gflops", report.peak_gflops},
                              {"peak_share", report.peak_share()},
                              {"core_latency_ns", report.core_latency_ns},
                              {"primitive_share", share_of(report.profiles, is_compute)},
                              {"reorders_per_step", report.reorders},
                              {"peak_memory_bytes", train::memory_peak_bytes()},
                              {"loss", report.measured.loss},
                              {"steps", report.measured.step_s.size()},
                              {"ranks", report.ranks},
                              {"build_s", report.build_s},
                              {"onednn_share", share_of(report.profiles, is_onednn)},
                              {"forward_ms", 1e3 * median(report.measured.parts.forward_s)},
                              {"backward_ms", 1e3 * median(report.measured.parts.backward_s)},
                              {"optimizer_ms", 1e3 * median(report.measured.parts.update_s)},
                              {"planned_bytes", report.memory.parameters + report.memory.activations},
                              {"unshared_bytes", report.memory.parameters + report.memory.unshared},
                              {"winograd", !options.direct},
                              {"choice", options.algorithms},
                              {"choice_s", report.choice_s},
                              {"algorithms", algorithm_lines(report.algorithms)}};
  if (!options.profile) return json;
  json["profile"] = profile_json(median_of(report.profiles).operations);
  json["compute_profile"] = nlohmann::ordered_json::parse(to_json(report.compute_profile));
  return json;
}

std::string text_of(const Report& report)
{
  const auto& options = report.options;
  const auto [median, least] = summarize(report.measured.step_s);
  auto text = fmt::format(
      "{}, batch {}, threads {}, {}: {:.6g} samples/s; a step {:.3f} ms (median of {}), {:.3f} ms (least)\n"
      "{:.1f} GFLOP/s, {:.1f}% of the {:.1f} that these threads' multiply-adds can reach; {:.1f}% of the step computes, {:.1f}% "
      "in "
      "oneDNN's primitives\n"
      "{} reorders a step; {:.3f} ms to update the weights; peak memory {:.3f} GB, {:.3f} GB of it planned; built in {:.2f} s\n"
      "{}algorithms, {} in {:.2f} s: {}\n",
      options.model, options.batch, options.threads, name_of(options.precision),
      report.ranks * static_cast<double>(options.batch) / median, 1e3 * median, report.measured.step_s.size(), 1e3 * least,
      report.gflops(), 100 * report.peak_share(), report.peak_gflops, 100 * share_of(report.profiles, is_compute),
      100 * share_of(report.profiles, is_onednn), report.reorders, 1e3 * summarize(report.measured.parts.update_s).median,
      1e-9 * static_cast<double>(train::memory_peak_bytes()),
      1e-9 * static_cast<double>(report.memory.parameters + report.memory.activations), report.build_s,
      options.threads > 1
          ? fmt::format("{:.0f} ns for a cache line from one thread's core to another's\n", report.core_latency_ns)
          : "",
      options.algorithms == "rules" ? "by the rules" : "timed", report.choice_s,
      options.reference ? "plain loops" : in_words(report.algorithms));
  if (options.profile) text += "\n" + profile_table(median_of(report.profiles));
  return text;
}

// The same on all ranks.
std::size_t steps_to_profile(const ComputeBench& options, const FixedStep& step, const Measured& measured)
{
  const auto least = static_cast<std::size_t>(step.warmup_steps()) + 1;
  return options.profile ? std::max(least, std::min(measured.step_s.size(), most_profiled_steps)) : least;
}

Report make_report(const ComputeBench& options)
{
  BenchRanks ranks(options.allreduce);
  Report report{.options = options, .ranks = ranks.size(), .measured = {}, .profiles = {}, .compute_profile = {}, .memory = {}};
  report.peak_gflops = peak_gflops(options, ranks);
  report.core_latency_ns = core_latency_ns(options.threads);
  const double choice_begin_s = comm::monotonic_s();
  const auto network = network_options(options, ranks);
  report.choice_s = comm::monotonic_s() - choice_begin_s;
  FixedStep step(network, &ranks);
  report.algorithms = step.network().algorithms();
  report.measured = measure(step, options, ranks);
  for (auto left = steps_to_profile(options, step, report.measured); left > 0; --left) report.profiles.push_back(step.profile());
  if (options.profile)
    report.compute_profile = measured_profile(step.network().options(), report.measured.parts, report.profiles, ranks);
  // the larger value counts: a lower one only shows other load on the machine
  report.peak_gflops = std::max(report.peak_gflops, peak_gflops(options, ranks));
  report.core_latency_ns = std::max(report.core_latency_ns, core_latency_ns(options.threads));
  report.step_flops = step.network().flops();
  report.build_s = step.build_s();
  report.reorders = step.network().reorders();
  report.memory = step.network().memory();
  report.is_told = ranks.is_root();
  return report;
}

} // namespace

int bench_compute(const ComputeBench& options)
{
  const auto report = make_report(options);
  if (report.is_told && !options.profile_file.empty()) write_file_atomic(options.profile_file, to_json(report.compute_profile));
  if (report.is_told) fmt::print("{}", options.json ? json_of(report).dump() + "\n" : text_of(report));
  return 0;
}

} // namespace dt::bench
