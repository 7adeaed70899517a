// Where the efficiency of runs went.
#include "store/analysis/attribution.hpp"

#include "core/maths/random.hpp"
#include "core/record/measuring/fast_worker.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace dt;
using namespace dt::store;

namespace {

double lost(const Attribution& point, Factor factor) { return point.lost[static_cast<std::size_t>(factor)]; }
double factor_of(const Attribution& point, Factor factor) { return point.factors[static_cast<std::size_t>(factor)]; }

double known_sum(const FactorArray& values)
{
  double sum = 0;
  for (const double value : values)
    if (!std::isnan(value)) sum += value;
  return sum;
}

// A run of 100 steps with 64 samples a worker and step, in which nothing is lost: a worker's useful time is 1 s, of which the
// update takes 0.1 s, and nobody waits.
AttributedRun perfect_run(std::int64_t workers)
{
  AttributedRun run;
  run.measured = {.series = "", .nodes = 1, .ranks = workers, .workers = workers, .succeeded = true};
  run.samples = 6400 * workers;
  run.measured_steps = 100;
  run.batch_per_rank = 64;
  run.measured_s = 1;
  const auto count = static_cast<double>(workers);
  run.work = {.useful_s = count, .useful_max_s = 1, .useful_step_max_s = 1, .busy_step_max_s = 1, .occupied_step_max_s = 1};
  run.update_s = 0.1 * count;
  run.lone_compute_s = 0.009;
  run.measured.throughput = static_cast<double>(run.samples) / run.measured_s;
  return run;
}

// Any run that could have been measured: times are positive, and every maximum is at least what it is the maximum of.
AttributedRun random_run(Random& random, std::int64_t workers, bool has_servers)
{
  const auto at_least = [&](double least) { return least * (1 + 2.0 * random.unit()); };
  AttributedRun run;
  run.measured = {.series = "", .nodes = 1, .ranks = workers + (has_servers ? 1 : 0), .workers = workers, .succeeded = true};
  const auto batch = 1 + static_cast<std::int64_t>(random.below(128));
  run.batch_per_rank = static_cast<double>(batch);
  run.measured_steps = 1 + static_cast<std::int64_t>(random.below(1000));
  run.samples = batch * workers * run.measured_steps;
  run.work.useful_s = 0.01 + random.unit();
  run.work.useful_max_s = at_least(run.work.useful_s / static_cast<double>(workers));
  run.work.useful_step_max_s = at_least(run.work.useful_max_s);
  run.work.busy_step_max_s = at_least(run.work.useful_step_max_s);
  run.work.useful_fast_s = run.work.useful_s / static_cast<double>(workers) * random.unit();
  run.work.useful_step_fast_s = run.work.useful_fast_s * (0.5 + random.unit());
  run.work.pauses_s = run.work.useful_fast_s * random.unit();
  run.work.common_pauses_s = run.work.pauses_s * random.unit();
  run.work.occupied_step_max_s = at_least(run.work.busy_step_max_s);
  run.measured_s = at_least(run.work.busy_step_max_s);
  run.update_s = 0.3 * run.work.useful_s * random.unit();
  if (random.chance(0.8F)) run.lone_compute_s = 0.001 + random.unit();
  if (random.chance(0.8F)) run.isolated_s = 0.01 * random.unit();
  run.measured.throughput = static_cast<double>(run.samples) / run.measured_s;
  return run;
}

const Attribution& at_workers(const std::vector<Attribution>& points, std::int64_t workers)
{
  for (const auto& point : points)
    if (point.workers == workers) return point;
  throw std::runtime_error("no such point");
}

Attribution attributed(const std::vector<AttributedRun>& runs, std::int64_t workers, StudySizes sizes = StudySizes::grow)
{
  return at_workers(attributions_of(runs, sizes), workers);
}

AttributedRun in_time(AttributedRun run, double measured_s)
{
  run.measured_s = measured_s;
  run.measured.throughput = static_cast<double>(run.samples) / measured_s;
  return run;
}

} // namespace

TEST_CASE("the logarithms of a run's factors sum to that of its throughput per worker")
{
  Random random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto workers = 1 + static_cast<std::int64_t>(random.below(64));
    const auto run = random_run(random, workers, random.chance(0.5F));
    const double wanted = std::log(static_cast<double>(run.samples) / run.measured_s / static_cast<double>(workers));
    for (const auto reference : {Reference::fast_worker, Reference::mean_worker}) {
      const auto logs = log_factors(run, {reference, 0.2 * random.unit()});
      REQUIRE(logs);
      CHECK(std::abs(known_sum(*logs) - wanted) < 1e-12);
    }
  }
}

TEST_CASE("the factors of a point multiply to the efficiency that scaling_of computes, and its lost parts sum to the loss")
{
  Random random(8);
  for (int trial = 0; trial < 300; ++trial) {
    const bool has_servers = random.chance(0.5F);
    std::vector<AttributedRun> runs;
    std::vector<Run> measured;
    for (const std::int64_t workers : {1, 4, 8})
      for (int repeat = 0; repeat < 3; ++repeat) {
        runs.push_back(random_run(random, workers, has_servers));
        measured.push_back(runs.back().measured);
      }
    const auto points = attributions_of(runs, StudySizes::grow);
    const auto rows = scaling_of(measured, StudySizes::grow);
    REQUIRE(points.size() == rows.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      CHECK(std::abs(std::log(points[i].efficiency / rows[i].efficiency)) < 1e-9);
      double log_sum = 0;
      for (const double factor : points[i].factors)
        if (!std::isnan(factor)) log_sum += std::log(factor);
      CHECK(std::abs(log_sum - std::log(rows[i].efficiency)) < 1e-9);
      CHECK(known_sum(points[i].lost) == Approx(1 - points[i].efficiency).margin(1e-9));
      if (i > 0) CHECK(points[i].interval.low == Approx(rows[i].efficiency_low));
    }
  }
}

TEST_CASE("a cause that is planted in the figures appears in its factor and in no other")
{
  // Each takes a fifth of the throughput: the run takes 1.25 s instead of 1 s.
  const std::pair<Factor, WorkSums> plants[]{
      {Factor::batch, {5, 1.25, 1.25, 1.25}},
      {Factor::contention, {5, 1.25, 1.25, 1.25}},
      {Factor::load_balance, {4, 1.25, 1.25, 1.25}},
      {Factor::jitter, {4, 1, 1.25, 1.25}},
      {Factor::input, {4, 1, 1, 1.25}},
      {Factor::outside,
       {.useful_s = 4, .useful_max_s = 1, .useful_step_max_s = 1, .busy_step_max_s = 1, .occupied_step_max_s = 1.25}},
      {Factor::communication, perfect_run(4).work},
  };
  for (const auto& [factor, work] : plants) {
    auto run = in_time(perfect_run(4), 1.25);
    run.work = work;
    if (factor == Factor::batch) // a batch of half the size takes more than half the time
      run.batch_per_rank = 32, run.measured_steps = 200, run.lone_compute_s = 0.00575;
    const auto point = attributed({perfect_run(1), run}, 4);
    INFO(factor_names[static_cast<std::size_t>(factor)]);
    CHECK(point.efficiency == Approx(0.8));
    CHECK(lost(point, factor) == Approx(0.2));
    CHECK(factor_of(point, factor) == Approx(0.8));
  }
}

namespace {

// What slows a program of several workers down: in every step one worker, one after another, three of four, all of them, the
// input, the messages, or something in no phase; or pauses now and then, of all workers in the same step or of one after another.
enum class Cause { none, imbalance, jitter, most_slow, contention, input, communication, outside, gain, pause_together, in_turn };

// Whether pauses are there at every size: of all workers in the same step, or of each by itself at the same rate.
enum class Always { nothing, pause_together, pause_alone };

double slower_by(Cause cause, std::size_t worker, std::size_t step, std::size_t count)
{
  switch (cause) {
  case Cause::imbalance:
    return worker == 1 ? 0.4 : 0;
  case Cause::jitter:
    return step % count == worker ? 0.4 : 0;
  case Cause::most_slow:
    return worker >= (count + 3) / 4 ? 0.4 : 0;
  case Cause::contention:
    return 0.4;
  case Cause::gain:
    return -0.3;
  case Cause::pause_together:
    return step % 50 == 20 ? 20 : 0;
  case Cause::in_turn:
    return step % 50 == 20 && step / 50 % count == worker ? 20 : 0;
  default:
    return 0;
  }
}

// A run whose workers compute 1 s in each of 1,600 steps, with a standard deviation of `scatter` s, and wait for each other after
// each step. With several workers, the cause takes 0.4 s of the step, or gives 0.3 s.
AttributedRun run_with(Cause cause, std::int64_t workers, Random& random, double scatter, Always always = Always::nothing)
{
  constexpr std::size_t steps = 1600;
  const auto count = static_cast<std::size_t>(workers);
  const auto cost_of = [&](Cause wanted) { return workers > 1 && cause == wanted ? 0.4 : 0; };
  const double input_s = cost_of(Cause::input), outside_s = cost_of(Cause::outside);
  std::vector<std::vector<double>> useful_s(count);
  AttributedRun run = perfect_run(workers);
  run.work = {0, 0, 0, 0};
  run.work.occupied_step_max_s = 0;
  run.measured_s = cost_of(Cause::communication) * steps;
  for (std::size_t step = 0; step < steps; ++step) {
    double most_s = 0;
    for (std::size_t worker = 0; worker < count; ++worker) {
      double time_s = 1 + scatter * random.normal() + (workers > 1 ? slower_by(cause, worker, step, count) : 0);
      if (always == Always::pause_together && step % 40 == 10) time_s += 5;
      if (always == Always::pause_alone && step % 40 == worker) time_s += 5;
      useful_s[worker].push_back(time_s);
      run.work.useful_s += time_s;
      most_s = std::max(most_s, time_s);
    }
    run.work.useful_step_max_s += most_s;
    run.work.busy_step_max_s += most_s + input_s;
    run.work.occupied_step_max_s += most_s + input_s + outside_s;
    run.measured_s += most_s + input_s + outside_s;
  }
  std::vector<double> sums_s;
  for (const auto& row : useful_s) sums_s.push_back(std::accumulate(row.begin(), row.end(), 0.0));
  run.work.useful_max_s = *std::max_element(sums_s.begin(), sums_s.end());
  run.work.useful_fast_s = fast_sum_s(sums_s);
  const auto fast = fast_steps({useful_s.begin(), useful_s.end()});
  run.work.useful_step_fast_s = fast.useful_s;
  run.work.common_pauses_s = fast.common_pauses_s;
  run.work.pauses_s = fast.pauses_s;
  run.lone_compute_s = not_measured;
  run.measured.throughput = static_cast<double>(run.samples) / run.measured_s;
  return run;
}

// Of a study of one and of `workers` workers.
Attribution study_of(Cause cause, std::int64_t workers, double scatter, Always always = Always::nothing)
{
  Random random(11);
  const auto one = run_with(cause, 1, random, scatter, always);
  return attributed({one, run_with(cause, workers, random, scatter, always)}, workers);
}

double log_factor(Cause cause, std::int64_t workers, double scatter, Factor factor, Always always = Always::nothing)
{
  return std::log(factor_of(study_of(cause, workers, scatter, always), factor));
}

double log_efficiency(Cause cause, std::int64_t workers, double scatter, Always always = Always::nothing)
{
  return std::log(study_of(cause, workers, scatter, always).efficiency);
}

} // namespace

TEST_CASE("of what a cause costs 2, 4 and 8 workers its factor has all, and at least 80 % if steps scatter by up to 5 %")
{
  constexpr std::pair<Cause, Factor> causes[]{
      {Cause::imbalance, Factor::load_balance}, {Cause::jitter, Factor::jitter},   {Cause::most_slow, Factor::load_balance},
      {Cause::contention, Factor::contention},  {Cause::input, Factor::input},     {Cause::communication, Factor::communication},
      {Cause::outside, Factor::outside},        {Cause::gain, Factor::contention}, {Cause::pause_together, Factor::contention},
      {Cause::in_turn, Factor::jitter}};
  for (const auto& [cause, factor] : causes)
    for (const std::int64_t workers : {2, 4, 8})
      for (const double scatter : {0.0, 0.01, 0.03, 0.05}) {
        INFO(factor_names[static_cast<std::size_t>(factor)] << " of " << workers << " workers, scatter " << scatter);
        const auto change = [&](Factor of) {
          return log_factor(cause, workers, scatter, of) - log_factor(Cause::none, workers, scatter, of);
        };
        const double lost = log_efficiency(cause, workers, scatter) - log_efficiency(Cause::none, workers, scatter);
        const double share = change(factor) / lost;
        CHECK(share > (scatter == 0 ? 1 - 1e-9 : 0.8));
        // More than all: the slow worker of eight hides the jitter that the scatter costs without it.
        CHECK(share < (scatter == 0 ? 1 + 1e-9 : 1.3));
      }
}

TEST_CASE("pauses at every size cost what they cost more at one: nothing if workers make them together, jitter if each by itself")
{
  const double scatter = 0.01;
  for (const std::int64_t workers : {2, 4, 8}) {
    INFO(workers << " workers");
    for (const auto always : {Always::pause_together, Always::pause_alone})
      for (const auto factor : {Factor::contention, Factor::load_balance})
        CHECK(std::abs(log_factor(Cause::none, workers, scatter, factor, always)) < 0.005);
    const auto change = [&](Factor factor) { return log_factor(Cause::none, workers, scatter, factor, Always::pause_together); };
    CHECK(std::abs(change(Factor::jitter)) < 0.025); // of the scatter
    const auto alone = [&](Factor factor) { return log_factor(Cause::none, workers, scatter, factor, Always::pause_alone); };
    CHECK(alone(Factor::jitter) == Approx(log_efficiency(Cause::none, workers, scatter, Always::pause_alone)).margin(0.005));
    // What a second cause takes is not given to a third.
    for (const auto always : {Always::pause_together, Always::pause_alone})
      CHECK(log_factor(Cause::contention, workers, scatter, Factor::contention, always) < 0.8 * std::log(1.125 / 1.525));
  }
}

TEST_CASE("steps that scatter at random on every worker cost jitter, and computation is not slower or faster for it")
{
  for (const std::int64_t workers : {2, 4, 8})
    for (const double scatter : {0.01, 0.03, 0.05}) {
      INFO(workers << " workers, scatter " << scatter);
      const double lost = log_efficiency(Cause::none, workers, scatter);
      CHECK(lost < -0.5 * scatter);
      CHECK(std::abs(log_factor(Cause::none, workers, scatter, Factor::contention)) < 0.2 * scatter);
      CHECK(std::abs(log_factor(Cause::none, workers, scatter, Factor::load_balance)) < 0.4 * scatter);
    }
}

TEST_CASE("runs without a fast worker are attributed by the mean worker, and the point says so")
{
  Random random(11);
  std::vector<AttributedRun> runs{run_with(Cause::imbalance, 1, random, 0), run_with(Cause::imbalance, 2, random, 0)};
  CHECK(attributed(runs, 2).reference == Reference::fast_worker);
  for (const std::size_t old : {0, 1}) { // one such run is enough
    auto mixed = runs;
    mixed[old].work.useful_fast_s = mixed[old].work.useful_step_fast_s = not_measured;
    const auto point = attributed(mixed, 2);
    CHECK(point.reference == Reference::mean_worker);
    CHECK(factor_of(point, Factor::contention) == Approx(1 / 1.2));
    CHECK(factor_of(point, Factor::load_balance) == Approx(1.2 / 1.4));
    CHECK(point.efficiency == Approx(1 / 1.4));
  }
}

TEST_CASE("relative to an ideal machine the mean worker counts, so that the efficiency is the share of useful time")
{
  Random random(11);
  const auto point = attributed({run_with(Cause::imbalance, 2, random, 0)}, 2, StudySizes::labels);
  CHECK(point.efficiency == Approx(1.2 / 1.4));
  CHECK(point.reference == Reference::mean_worker);
}

TEST_CASE("costs have intervals from the scatter of the runs, which contain the cost and are NaN with two runs")
{
  Random random(12);
  std::vector<AttributedRun> runs;
  for (int repeat = 0; repeat < 5; ++repeat)
    for (const std::int64_t workers : {1, 4}) {
      runs.push_back(run_with(Cause::imbalance, workers, random, 0.01));
      runs.back().measured_s *= 1 + 0.01 * std::abs(random.normal()); // time without work
    }
  const auto interval_of = [&](Factor factor) { return attributed(runs, 4).lost_intervals[static_cast<std::size_t>(factor)]; };
  const auto points = attributions_of(runs, StudySizes::grow);
  const auto communication = interval_of(Factor::communication), balance = interval_of(Factor::load_balance);
  CHECK(communication.low < lost(at_workers(points, 4), Factor::communication));
  CHECK(communication.high > lost(at_workers(points, 4), Factor::communication));
  CHECK(balance.low < lost(at_workers(points, 4), Factor::load_balance));
  CHECK(balance.high - balance.low < 0.01);
  CHECK(std::isnan(interval_of(Factor::queueing).low)); // no servers, so no scatter
  CHECK(std::isnan(at_workers(points, 1).lost_intervals[static_cast<std::size_t>(Factor::load_balance)].low));
  runs.resize(4);
  CHECK(std::isnan(interval_of(Factor::communication).low));
}

TEST_CASE("if one rank alone does not predict the baseline's own steps, the split between batch and contention is as uncertain")
{
  // Half the batch takes 0.6 of the time alone, so a sample takes 1.2 times as long. In training everything takes a tenth longer.
  std::vector<AttributedRun> runs;
  for (const double noise : {0.999, 1.0, 1.001})
    for (const std::int64_t workers : {1, 2}) {
      auto run = perfect_run(workers);
      const auto count = static_cast<double>(workers);
      run.update_s = 0;
      run.lone_compute_s = workers == 1 ? 0.01 : 0.006;
      run.batch_per_rank = workers == 1 ? 64 : 32;
      const double worker_s = (workers == 1 ? 1.1 : 1.32) * noise;
      run.work = {count * worker_s, worker_s, worker_s, worker_s, worker_s, worker_s};
      runs.push_back(in_time(run, worker_s));
    }
  const auto point = attributed(runs, 2);
  CHECK(factor_of(point, Factor::batch) == Approx(1 / 1.2));
  CHECK(point.lone_deviation == Approx(std::log(1.1)).epsilon(0.01));
  const auto [low, high] = point.lost_intervals[static_cast<std::size_t>(Factor::contention)];
  const double scale = (1 - point.efficiency) / -std::log(point.efficiency);
  CHECK(low < -std::log(1.1) * scale * 0.99);
  CHECK(high > std::log(1.1) * scale * 0.99);
  CHECK(high < 0.1);
  for (auto& run : runs) run.batch_per_rank = 64, run.samples = 6400 * run.measured.workers;
  const auto same_batch = attributions_of(runs, StudySizes::grow);
  CHECK(std::isnan(at_workers(same_batch, 2).lone_deviation)); // the same error on both sides
}

TEST_CASE("a gain is a negative loss")
{
  auto run = in_time(perfect_run(2), 0.8); // smaller batches that fit into the cache
  run.work = {1.6, 0.8, 0.8, 0.8};
  run.update_s = 0.2;
  run.lone_compute_s = 0.007;
  const auto point = attributed({perfect_run(1), run}, 2);
  CHECK(point.efficiency == Approx(1.25));
  CHECK(lost(point, Factor::batch) == Approx(-0.25));
}

TEST_CASE("in a partition study the computation counts per core")
{
  // Two parts with half of the cores each compute a sample in 1.6 times the time, together therefore 1.25 times as fast, and
  // wait for each other for a tenth of the step.
  const auto base = perfect_run(1);
  auto run = perfect_run(2);
  run.samples = base.samples;
  run.work = {1.6, 0.8, 0.8, 0.8};
  run.lone_compute_s = not_measured;
  const auto point = attributed({base, in_time(run, 0.8 / 0.9)}, 2, StudySizes::parts);
  CHECK(point.efficiency == Approx(1.25 * 0.9));
  CHECK(factor_of(point, Factor::contention) == Approx(1.25));
  CHECK(factor_of(point, Factor::communication) == Approx(0.9));
}

TEST_CASE("queueing at a server is what an exchange takes longer than alone, and efficiency is per worker and per process")
{
  auto base = perfect_run(1), run = in_time(perfect_run(4), 2);
  base.measured.ranks = 2;
  run.measured.ranks = 5;
  run.isolated_s = 0.0025; // of the second that a worker waits in 100 steps, 0.25 s are its own exchanges
  const auto point = attributed({base, run}, 4);
  CHECK(point.efficiency == Approx(0.5));
  CHECK(factor_of(point, Factor::communication) == Approx(1 / 1.25));
  CHECK(factor_of(point, Factor::queueing) == Approx(1.25 / 2));
  CHECK(point.efficiency_per_process == Approx(0.5 * (4.0 / 5) / (1.0 / 2)));
}

TEST_CASE("without a time of one rank alone the computation is one factor")
{
  auto run = in_time(perfect_run(4), 1.25);
  run.lone_compute_s = not_measured;
  run.work = {5, 1.25, 1.25, 1.25};
  const std::vector<AttributedRun> runs{perfect_run(1), run};
  const auto point = attributed(runs, 4), base = attributed(runs, 1);
  CHECK_FALSE(point.has_split);
  CHECK(std::isnan(factor_of(point, Factor::batch)));
  CHECK(factor_of(point, Factor::contention) == Approx(0.8));
  CHECK(base.has_split);
  for (const auto& each : {point, base}) CHECK_FALSE(each.says_contention()); // they share a column
}

TEST_CASE("runs without sums are counted and left out, and a study of such runs has no attribution")
{
  auto old = perfect_run(4), failed = old;
  old.work = no_work_sums;
  failed.measured.succeeded = false;
  const auto point = attributed({perfect_run(1), perfect_run(4), old}, 4);
  CHECK(point.runs == 1);
  CHECK(point.left_out == 1);
  for (const auto& run : {old, failed}) CHECK(attributions_of(std::vector<AttributedRun>{run}, StudySizes::grow).empty());
}

TEST_CASE("a single size is compared with an ideal machine, which says nothing about its computation")
{
  auto run = perfect_run(4);
  run.measured_s = 1.25;
  run.work = {4, 1, 1, 1};
  const auto points = attributions_of(std::vector<AttributedRun>{run}, StudySizes::labels);
  REQUIRE(points.size() == 1);
  CHECK(points[0].baseline_size == 0);
  CHECK(points[0].efficiency == Approx(0.8));
  CHECK(lost(points[0], Factor::communication) == Approx(0.2));
  CHECK(std::isnan(factor_of(points[0], Factor::contention)));
}

TEST_CASE("statistical efficiency compares samples to the target, with misses as infinite")
{
  const auto with_target = [](std::int64_t workers, std::int64_t samples) {
    auto run = perfect_run(workers);
    run.measured.target_accuracy = 0.9;
    run.samples_to_accuracy = samples;
    return run;
  };
  const std::vector<AttributedRun> runs{with_target(1, 1000), with_target(4, 2000), with_target(4, 0), with_target(4, 2500)};
  const auto points = attributions_of(runs, StudySizes::grow);
  CHECK(at_workers(points, 4).statistical_efficiency == Approx(0.4)); // the median of 2000, 2500 and infinity is 2500
  CHECK(at_workers(points, 4).time_efficiency == Approx(0.4 * at_workers(points, 4).efficiency));
  const std::vector<AttributedRun> missed{with_target(1, 1000), with_target(4, 0), with_target(4, 0), with_target(4, 2500)};
  CHECK(std::isnan(attributed(missed, 4).statistical_efficiency));
}

TEST_CASE("the host that most runs waited for is named with its number of runs")
{
  std::vector<AttributedRun> runs{perfect_run(1)};
  for (const auto* host : {"host3", "host1", "host3", "host3", ""}) {
    runs.push_back(perfect_run(4));
    runs.back().latest_host = host;
  }
  CHECK(attributed(runs, 4).latest_host == "host3");
  CHECK(attributed(runs, 4).latest_host_runs == 3);
  CHECK(attributed(runs, 1).latest_host.empty());
}

TEST_CASE("communication is told with its hidden part and its bandwidth")
{
  auto run = perfect_run(2);
  run.isolated_s = 0.010;
  run.exposed_s = 0.004;
  run.bytes = 1e6;
  run.messages = 2;
  const auto points = attributions_of(std::vector<AttributedRun>{run}, StudySizes::labels);
  const auto& communication = points[0].communication;
  CHECK(communication.hidden_s == Approx(0.006));
  CHECK(communication.bandwidth == Approx(1e8));
  CHECK(communication.messages == 2);
}

namespace {

// A run of the user's program in which a worker of two waits for communication a third of the time, inside `backward`.
AttributedRun own_run(std::int64_t workers, double useful_s, double measured_s)
{
  auto run = perfect_run(workers);
  const auto count = static_cast<double>(workers);
  run.is_own_program = true;
  run.lone_compute_s = run.update_s = not_measured;
  run.work = {.useful_s = count * useful_s, .useful_max_s = useful_s, .useful_step_max_s = useful_s, .busy_step_max_s = useful_s};
  return in_time(run, measured_s);
}

} // namespace

TEST_CASE("a program that reports no communication on several ranks loses efficiency to computation or communication, not to one")
{
  std::vector runs{own_run(1, 1, 1), own_run(2, 1.5, 1.5)};
  runs[1].missing.communication = true;
  const auto point = attributed(runs, 2);
  CHECK(point.efficiency == Approx(1 / 1.5));
  CHECK(lost(point, Factor::together) == Approx(1 - 1 / 1.5));
  for (const auto factor : {Factor::contention, Factor::load_balance, Factor::jitter, Factor::communication})
    CHECK(std::isnan(lost(point, factor)));
  CHECK(lost(point, Factor::input) == 0);
  CHECK(known_sum(point.lost) == Approx(1 - point.efficiency));
  CHECK(point.missing == MissingPhases{.communication = true});
}

TEST_CASE("a program that reports no input loses efficiency to input or communication, and the rest is told apart")
{
  std::vector runs{own_run(1, 1, 1), own_run(2, 1.25, 1.5)};
  for (auto& run : runs) {
    run.missing.input = true;
    run.work.busy_step_max_s = not_measured;
  }
  const auto point = attributed(runs, 2);
  CHECK(factor_of(point, Factor::contention) == Approx(1 / 1.25));
  CHECK(factor_of(point, Factor::together) == Approx(1.25 / 1.5));
  CHECK(std::isnan(lost(point, Factor::input)));
  CHECK(std::isnan(lost(point, Factor::communication)));
  CHECK(known_sum(point.lost) == Approx(1 - point.efficiency));
}

TEST_CASE("a program that reports no phases on one rank has an efficiency whose causes are one sum")
{
  std::vector runs{own_run(1, 1, 1), own_run(2, 1, 1.25)};
  runs[1].work = no_work_sums;
  runs[1].missing = {.input = true, .communication = true, .work = true};
  const auto point = attributed(runs, 2);
  CHECK(point.efficiency == Approx(0.8));
  CHECK(lost(point, Factor::together) == Approx(0.2));
  CHECK(std::isnan(lost(point, Factor::contention)));
  CHECK(point.left_out == 0);
}

TEST_CASE("of a single size, a program that reports no communication is not compared with a machine without waiting")
{
  std::vector runs{own_run(2, 1, 1)};
  runs[0].missing.communication = true;
  const auto points = attributions_of(runs, StudySizes::labels);
  REQUIRE(points.size() == 1);
  CHECK(std::isnan(points[0].efficiency));
  CHECK(std::isnan(lost(points[0], Factor::input)));
}

TEST_CASE("an older run of dtengine without sums is left out, and a run of a program without a throughput too")
{
  auto old = perfect_run(2), silent = own_run(2, 1, 1);
  for (auto* run : {&old, &silent}) run->work = no_work_sums;
  silent.measured.throughput = not_measured;
  CHECK_FALSE(log_factors(old, {Reference::mean_worker}));
  CHECK_FALSE(log_factors(silent, {Reference::mean_worker}));
}

TEST_CASE("a point of which a CPU quota held a run back, or its baseline, has an efficiency and no factors")
{
  Random random(9);
  std::vector<AttributedRun> runs;
  for (const std::int64_t workers : {1, 2, 4}) runs.push_back(random_run(random, workers, false));
  runs[0].throttled_share = 0.04; // too little to matter
  runs[1].throttled_share = 0.5;
  const auto free = attributed(runs, 4), held_back = attributed(runs, 2);
  CHECK_FALSE(attributed(runs, 1).is_throttled());
  CHECK_FALSE(free.is_throttled());
  CHECK(known_sum(free.lost) == Approx(1 - free.efficiency));
  CHECK(held_back.is_throttled());
  CHECK(held_back.throttled_share == 0.5);
  CHECK(held_back.efficiency > 0);
  for (const double lost : held_back.lost) CHECK(std::isnan(lost));
  for (const double factor : held_back.factors) CHECK(std::isnan(factor));
  runs[0].throttled_share = 0.3;
  CHECK(attributed(runs, 4).throttled_share == 0.3);
}
