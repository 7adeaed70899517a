// Samples to the target by batch, and the time to the target: recovered from known truth, and refused where there is none.
#include "core/error.hpp"
#include "core/maths/random.hpp"
#include "store/analysis/prediction/target_forecast.hpp"
#include "synthetic_study.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

constexpr double missed = std::numeric_limits<double>::infinity();

struct TrueLaw {
  double samples0 = 20'000, critical_batch = 150, run_deviation = 0, batch_deviation = 0;
  int runs = 5;
  double at(double batch) const { return samples0 * (1 + batch / critical_batch); }
};

// `batch_deviation`: what the tuning of a batch is off.
BatchRuns runs_with(const TrueLaw& law, double batch, Random& random)
{
  BatchRuns runs{.batch = batch, .samples = {}};
  const double mean = law.at(batch) * noise(random, law.batch_deviation);
  for (int i = 0; i < law.runs; ++i) runs.samples.push_back(mean * noise(random, law.run_deviation));
  return runs;
}

std::vector<BatchRuns> study_of(const TrueLaw& law, const std::vector<double>& batches, Random& random)
{
  std::vector<BatchRuns> runs;
  for (const double batch : batches) runs.push_back(runs_with(law, batch, random));
  return runs;
}

// A target series that needs as many samples as the law says, at the sizes of `speed`.
TargetSeries target_of(const SeriesMeasurements& speed, const TrueLaw& law, double pauses = 1)
{
  TargetSeries target{.series = speed.series, .target = 0.9};
  for (const auto& size : speed.sizes) {
    TargetSize& at = target.sizes.emplace_back();
    at.ranks = size.at.ranks;
    at.batch = static_cast<double>(size.at.workers) * size.at.batch;
    for (const auto& run : size.runs) {
      at.samples.push_back(law.at(at.batch));
      at.throughputs.push_back(run.throughput);
      at.times_s.push_back(pauses * law.at(at.batch) / run.throughput);
    }
  }
  return target;
}

} // namespace

TEST_CASE("batches that follow the law give it back, and samples at larger ones")
{
  Random random(1);
  const TrueLaw truth;
  const auto law = samples_law(study_of(truth, {128, 32, 64}, random)); // in any order
  REQUIRE(law.state == SamplesLaw::State::fits);
  CHECK(law.samples0 == Approx(truth.samples0).epsilon(1e-6));
  CHECK(law.critical_batch == Approx(truth.critical_batch).epsilon(1e-6));
  CHECK(law.critical_batch_interval.low < truth.critical_batch);
  CHECK(law.critical_batch_interval.high > truth.critical_batch);
  const auto far = law.at(512);
  CHECK(far.samples == Approx(truth.at(512)).epsilon(1e-6));
  CHECK_FALSE(far.is_measured);
  CHECK(far.is_identified);
  CHECK(law.at(64.5).is_measured);
  REQUIRE(law.backtests.size() == 1);
  CHECK(law.backtests[0].batch == 128);
  CHECK(law.backtests[0].error == Approx(0).margin(1e-6));
}

TEST_CASE("with noise of runs and of tuning, four of five intervals contain the samples at two and four times the largest batch")
{
  Random random(7);
  int covered = 0, predictions = 0;
  std::vector<double> errors;
  for (int study = 0; study < 300; ++study) {
    const TrueLaw truth{.critical_batch = 20.0 * std::exp(3.5 * static_cast<double>(random.unit())),
                        .run_deviation = 0.2,
                        .batch_deviation = 0.05};
    const auto law = samples_law(study_of(truth, {32, 64, 128, 256}, random));
    if (law.state != SamplesLaw::State::fits) continue;
    for (const double batch : {512.0, 1024.0}) {
      const auto found = law.at(batch);
      const auto measured = study_of(truth, {batch}, random);
      const double mean = std::exp(log_moments(measured[0].samples).mean);
      ++predictions;
      covered += found.interval.low <= mean && mean <= found.interval.high ? 1 : 0;
      if (found.is_identified) errors.push_back(std::abs(found.samples / truth.at(batch) - 1));
    }
  }
  std::ranges::sort(errors);
  INFO(covered << " of " << predictions << ", " << errors.size() << " identified, median error " << errors[errors.size() / 2]);
  CHECK(predictions > 550); // few are contradicted
  CHECK(covered > 0.75 * predictions);
  CHECK(covered < 0.95 * predictions);
  CHECK(errors[errors.size() / 2] < 0.15);
}

TEST_CASE("batches that contradict the law predict nothing, and still tell their own samples")
{
  const std::vector<BatchRuns> falling{{32, {60e3, 61e3, 62e3}}, {64, {30e3, 31e3, 30e3}}, {128, {15e3, 15e3, 16e3}}};
  const auto law = samples_law(falling);
  CHECK(law.state == SamplesLaw::State::contradicted);
  CHECK(std::isnan(law.at(256).samples));
  CHECK_FALSE(law.at(256).is_identified);
  CHECK(law.at(64).is_measured);
  const std::vector<BatchRuns> steep{{32, {10e3, 10e3, 11e3}}, {64, {40e3, 41e3, 40e3}}, {128, {160e3, 165e3, 161e3}}};
  CHECK(samples_law(steep).state == SamplesLaw::State::contradicted);
}

TEST_CASE("a batch with a run that missed the target is no point of the law, and is named")
{
  const auto law = samples_law({{32, {20e3, 21e3}}, {64, {25e3, missed}}, {128, {37e3, 36e3}}});
  CHECK(law.missed == std::vector<double>{64});
  CHECK(law.known.size() == 2);
  CHECK_FALSE(law.at(64).is_measured);
  CHECK(samples_law({{32, {missed}}}).state == SamplesLaw::State::no_runs);
  CHECK(samples_law({}).state == SamplesLaw::State::no_runs);
}

TEST_CASE("one batch tells its own samples only, and two that lie near each other leave far ones open")
{
  const auto one = samples_law({{64, {25e3, 26e3, 24e3}}, {64, {25e3}}});
  CHECK(one.state == SamplesLaw::State::one_batch);
  CHECK(one.at(64).is_measured);
  CHECK_FALSE(one.at(128).is_identified);
  const auto two = samples_law({{32, {25e3, 26e3, 24e3}}, {64, {27e3, 29e3, 25e3}}});
  CHECK_FALSE(two.at(4096).is_identified);
  CHECK(two.at(4096).interval.low > 20e3); // larger batches never need fewer
}

TEST_CASE("time to the target: measured where runs tell it, else samples of the law over the predicted throughput")
{
  const TrueLaw law;
  const Truth truth{.run_deviation = 0, .global_batch = 32, .is_weak = true};
  const auto speed = measure(truth, {1, 2, 4, 8}, 3);
  const auto target = target_of(speed, law, 1.1);
  const std::vector<std::int64_t> sizes{8, 16, 32};
  const auto forecast = forecast_target(speed, target, sizes, std::nullopt);
  CHECK(forecast.has_law);
  CHECK(forecast.pauses == Approx(1.1));
  REQUIRE(forecast.predictions.size() == 3);
  CHECK(forecast.predictions[0].is_measured);
  CHECK(forecast.predictions[0].time_s == Approx(1.1 * law.at(256) / throughput_of(speed.sizes[3])));
  for (const auto& prediction : forecast.predictions | std::views::drop(1)) {
    CHECK_FALSE(prediction.is_measured);
    const double batch = 32.0 * static_cast<double>(prediction.at.workers);
    const double exact_s = 1.1 * law.at(batch) / true_throughput(truth, prediction.at.size);
    CHECK(prediction.time_s == Approx(exact_s).epsilon(0.1));
    CHECK(prediction.interval.low < exact_s);
    CHECK(prediction.interval.high > exact_s);
    CHECK(prediction.node_hours == Approx(prediction.time_s * static_cast<double>(prediction.at.nodes) / 3600));
  }
  REQUIRE(forecast.backtests.size() == 2);
  CHECK(forecast.backtests[1].size == 8);
  CHECK(std::abs(forecast.backtests[1].error) < 0.1);
}

TEST_CASE("more nodes are worth it as long as twice as many save a tenth of the time")
{
  const Truth truth{.link = {.alpha_s = 1e-6, .beta_s = 1e-10}, .run_deviation = 0, .global_batch = 32, .is_weak = true};
  const auto speed = measure(truth, {1, 2, 4}, 3);
  const TrueLaw law;
  // Throughput doubles nearly, so twice the nodes from N on take S(2N)/S(N)/2 of the time: above 0.9 from a batch of 600 on.
  const auto forecast = forecast_target(speed, target_of(speed, law), {}, std::nullopt);
  REQUIRE(forecast.worth.state == Worth::State::found);
  CHECK(forecast.worth.size == 16);
  CHECK(forecast.worth.batch == Approx(512));
}

TEST_CASE("a strategy without a law knows the samples of its measured sizes only")
{
  const bool is_hsgd = GENERATE(false, true);
  const Truth truth{.strategy = is_hsgd ? "hsgd" : "local-sgd",
                    .run_deviation = 0,
                    .global_batch = 32,
                    .period = is_hsgd ? 1 : 8,
                    .is_weak = true};
  auto speed = measure(truth, {1, 2, 4}, 3);
  if (is_hsgd) speed.traits.node_period = 4; // with 1 its ranks are equal after each step
  const std::vector<std::int64_t> sizes{4, 8};
  const auto forecast = forecast_target(speed, target_of(speed, {}), sizes, std::nullopt);
  CHECK_FALSE(forecast.has_law);
  CHECK(forecast.predictions[0].is_measured);
  CHECK(std::isnan(forecast.predictions[1].time_s));
  CHECK(forecast.worth.state != Worth::State::found);
}

TEST_CASE("the samples of one study and the speed of another")
{
  const TrueLaw law;
  Truth truth{.run_deviation = 0, .global_batch = 32, .is_weak = true};
  auto measured = target_of(measure(truth, {1, 2, 4}, 3), law, 1.2);
  measured.tells_time = false;
  truth.sample_s = 1e-5;
  const auto simulated = measure(truth, {4, 8, 16}, 4);
  const std::vector<std::int64_t> sizes{4, 16};
  const auto forecast = forecast_target(simulated, measured, sizes, std::nullopt);
  CHECK_FALSE(forecast.predictions[0].is_measured); // its time is that of another machine
  CHECK(forecast.predictions[0].samples.is_measured);
  CHECK(forecast.predictions[0].time_s == Approx(1.2 * law.at(128) / throughput_of(simulated.sizes[0])));
  CHECK_FALSE(forecast.predictions[1].samples.is_measured);
  CHECK(forecast.predictions[1].is_speed_measured);
  CHECK(forecast_target(measure(truth, {1, 2, 4}, 4), measured, sizes, std::nullopt).backtests.empty());
  TargetSeries none{.series = "synthetic", .target = 0.9};
  CHECK_THROWS_AS(forecast_target(simulated, none, sizes, std::nullopt), Error);
}

TEST_CASE("series with one known target: controls, failed runs and several targets are left out")
{
  const auto run = [](std::string series, std::int64_t ranks, double target, double samples) {
    Run made{.series = std::move(series), .nodes = 1, .ranks = ranks, .succeeded = true, .global_batch = 32 * ranks};
    made.target_accuracy = target;
    made.samples_to_accuracy = samples;
    if (samples > 0) made.time_to_accuracy_s = samples / 1000;
    made.throughput = 1000;
    return made;
  };
  std::vector<Run> runs{run("a", 2, 0.9, 2000), run("a", 1, 0.9, 1000), run("a", 1, 0.9, 0),  run("b", 1, 0.9, 1000),
                        run("b", 1, 0.8, 1000), run("a", 4, 0.9, 1000), run("a", 4, 0.9, 500)};
  runs[5].is_control = true;
  runs[6].succeeded = false;
  const auto series = target_series(runs);
  REQUIRE(series.size() == 1);
  CHECK(series[0].target == 0.9);
  REQUIRE(series[0].sizes.size() == 2);
  CHECK(series[0].sizes[0].samples == std::vector<double>{1000, missed});
  CHECK(series[0].find(2)->batch == 64);
  CHECK(series[0].find(4) == nullptr);
}
