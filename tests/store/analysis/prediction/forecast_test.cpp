// Calibration and predictions on runs whose true parameters are known.
#include "store/analysis/prediction/baselines.hpp"
#include "store/analysis/prediction/forecast.hpp"
#include "synthetic_study.hpp"
#include "tests/core/error_of.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;
using dt::test::message_of;

namespace {

// A truth with parameters from the wide range of what studies have: from compute-bound to bandwidth-bound and latency-bound.
Truth arbitrary_truth(Random& random)
{
  Truth truth;
  truth.fixed_s = 2e-3 * noise(random, 0.7);
  truth.sample_s = 3e-4 * noise(random, 0.7);
  truth.link = {.alpha_s = 3e-5 * noise(random, 1), .beta_s = 2e-9 * noise(random, 1)};
  truth.allreduce = random.chance(0.5F) ? "ring" : "halving-doubling";
  truth.step_deviation = 0.02 + 0.1 * static_cast<double>(random.unit());
  truth.worker_deviation = 0.05 * static_cast<double>(random.unit());
  truth.run_deviation = 0.01 + 0.02 * static_cast<double>(random.unit());
  truth.is_weak = random.chance(0.3F);
  if (truth.is_weak) truth.global_batch = 64;
  return truth;
}

Forecast forecast_at(const SeriesMeasurements& series, const std::vector<std::int64_t>& sizes,
                     const std::optional<CostModel>& network = {})
{
  return forecast(series, sizes, network);
}

} // namespace

TEST_CASE("calibration finds computation, network and scatter again")
{
  const Truth truth{.run_deviation = 0.005};
  const auto series = measure(truth, {1, 2, 4, 8}, 3);
  const auto found = calibrate(series.traits, series.sizes, {});
  CHECK(found.sample_s == Approx(truth.sample_s).epsilon(0.03));
  CHECK(found.fixed_s == Approx(truth.fixed_s).epsilon(0.3)); // of 2 ms beside 64 to 512 ms
  CHECK(found.link.beta_s == Approx(truth.link.beta_s).epsilon(0.1));
  CHECK(found.link.alpha_s == Approx(truth.link.alpha_s).epsilon(0.4)); // 0.7 ms of 14 ms at most
  CHECK(found.spread.of_workers == Approx(truth.worker_deviation).epsilon(0.2));
  CHECK(found.spread.p95 == Approx(true_spread(truth).p95).epsilon(0.01));
  CHECK(found.correction == Approx(1).epsilon(0.03));
}

TEST_CASE("twice the largest size is predicted within 10 % and four times within 20 %")
{
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    auto truth = arbitrary_truth(random);
    truth.run_deviation = 0.01;
    const auto series = measure(truth, {1, 2, 4, 8}, random.word());
    const auto predicted = forecast_at(series, {16, 32}).predictions;
    CAPTURE(i, truth.fixed_s, truth.sample_s, truth.link.alpha_s, truth.link.beta_s, truth.allreduce, truth.is_weak);
    CHECK(std::abs(error_of(predicted[0].throughput, true_throughput(truth, 16))) < 0.1);
    CHECK(std::abs(error_of(predicted[1].throughput, true_throughput(truth, 32))) < 0.2);
  }
}

// The truths follow the model exactly and real machines do not, so the allowance for the model's own error covers more than 80 %.
TEST_CASE("80 % intervals contain at least 80 % of the measured values, and from three sizes or more the ends differ by a "
          "quarter at most")
{
  Random random(17);
  int covered = 0, tests = 0;
  std::vector<double> errors, widths;
  for (int i = 0; i < 120; ++i) {
    const auto series = measure(arbitrary_truth(random), {1, 2, 4, 8, 16}, random.word());
    for (const auto& test : backtests_of(series, {})) {
      if (test.from_sizes < 2 || test.is_from_before_knee) continue; // one size knows nothing of fixed costs, see below
      if (test.from_sizes > 2) widths.push_back(test.interval.high / test.interval.low);
      ++tests;
      covered += test.covered() ? 1 : 0;
      errors.push_back(std::abs(test.error));
    }
  }
  CAPTURE(tests, median(errors));
  REQUIRE(tests >= 200);
  const double share = static_cast<double>(covered) / tests;
  CAPTURE(share);
  CHECK(share >= 0.8);
  CHECK(median(widths) < 1.25);
}

TEST_CASE("a backtest sees nothing of the size that is left out but its communication alone, and says so")
{
  const auto series = measure({}, {1, 2, 4}, 9);
  auto other = series;
  for (auto& run : other.sizes[2].runs) run.throughput *= 0.5;
  const auto tests = backtests_of(series, {}), others = backtests_of(other, {});
  CHECK(tests[1].predicted == others[1].predicted);
  CHECK(others[1].measured == Approx(0.5 * tests[1].measured));
  CHECK(tests[0].borrowed_link); // size 1 has no communication
  CHECK_FALSE(tests[1].borrowed_link);
}

TEST_CASE("backtests that went wrong make the intervals wider")
{
  const auto series = measure({}, {1, 2, 4, 8}, 9);
  auto odd = series;
  for (auto& run : odd.sizes[3].runs) run.throughput *= 0.7;
  const auto width = [&](const SeriesMeasurements& of) {
    const auto interval = forecast_at(of, {16}).predictions[0].throughput_interval;
    return interval.high / interval.low;
  };
  CHECK(width(odd) > 1.3 * width(series));
}

TEST_CASE("one backtest that is right by chance does not promise a perfect model")
{
  auto series = measure({.run_deviation = 0}, {1, 2, 4}, 9);
  const auto predicted = backtests_of(series, {})[1].predicted;
  for (auto& run : series.sizes[2].runs) run.throughput = predicted;
  const auto interval = forecast_at(series, {8}).predictions[0].throughput_interval;
  CHECK(interval.high / interval.low > 1.12); // ± t(0.9, 2) 5% / sqrt(2)
}

TEST_CASE("intervals grow with the distance, and beyond four times the largest size it is an extrapolation")
{
  const auto series = measure({}, {1, 2, 4}, 9);
  const auto predicted = forecast_at(series, {8, 16, 17, 64}).predictions;
  for (std::size_t i = 1; i < predicted.size(); ++i) {
    const auto& [now, before] = std::pair(predicted[i].throughput_interval, predicted[i - 1].throughput_interval);
    CHECK(now.high / now.low > before.high / before.low);
  }
  CHECK_FALSE(is_extrapolation(predicted[1].changes));
  CHECK(is_extrapolation(predicted[2].changes));
}

TEST_CASE("one size is refused unless a network is given, and so is one that servers leave without workers")
{
  const auto series = measure({}, {1}, 9);
  CHECK_THROWS_WITH(forecast_at(series, {4}),
                    Catch::StartsWith("only one size of synthetic was measured (1 node), so nothing is known about how "
                                      "communication grows and no efficiency can be predicted. ") &&
                        Catch::EndsWith(" and give --profile"));
  const auto found = forecast_at(series, {4}, Truth{}.link);
  CHECK(found.backtests.empty());
  CHECK(error_of(found.predictions[0].throughput, true_throughput({}, 4)) == Approx(0).margin(0.15));
  Truth truth;
  truth.service_s = 0.02;
  truth.servers = 2;
  const auto served = measure(truth, {3, 4, 6}, 21);
  CHECK_THROWS_WITH(forecast_at(served, {2}),
                    "2 nodes: no worker, because the strategy has 2 parameter servers. Give a larger size");
}

TEST_CASE("efficiency is throughput per worker relative to the smallest size, and time is that of the whole training")
{
  const auto series = measure({.run_deviation = 0}, {1, 2, 4}, 9);
  const auto found = forecast_at(series, {8}).predictions[0];
  CHECK(found.efficiency == Approx(found.throughput / 8 / throughput_of(series.sizes[0])));
  CHECK(found.time_s == Approx(300 * 512 / found.throughput)); // 300 steps of 512 samples
  CHECK(found.node_hours == Approx(found.time_s * 8 / 3600));
  CHECK(found.efficiency_interval.low < found.efficiency);
}

TEST_CASE("servers that saturate are predicted to be the limit at larger sizes")
{
  Truth truth;
  truth.strategy = "async-sgd";
  truth.service_s = 0.02;
  truth.is_weak = true;
  truth.global_batch = 100; // 102 ms of computation
  truth.run_deviation = 0.005;
  auto series = measure(truth, {1, 2, 4}, 21);
  const auto predicted = forecast_at(series, {8, 32}).predictions;
  CHECK(std::abs(error_of(predicted[0].throughput, true_throughput(truth, 8))) < 0.1);
  CHECK(std::abs(error_of(predicted[1].throughput, true_throughput(truth, 32))) < 0.2);
  CHECK(predicted[1].throughput == Approx(100 / 0.02).epsilon(0.2)); // one exchange of 100 samples every 20 ms
}

TEST_CASE("the most informative next size is the largest within four times the measured ones")
{
  const auto series = measure({}, {1, 2, 4}, 9);
  CHECK(most_informative_size(series, {}, 1024) == 16);
  CHECK(most_informative_size(series, {}, 8) == 8);
  CHECK(most_informative_size(series, {}, 4) == 0);
}

TEST_CASE("laws are fitted with five sizes and find the numbers that made them")
{
  auto series = measure({}, {1, 2, 4, 8, 16}, 9);
  CHECK(fit_laws(std::span(series.sizes).first(4)).empty());
  const ScalingLaw truth{.name = "scalability", .a = 1000, .b = 0.05, .c = 0.001};
  for (auto& size : series.sizes)
    for (auto& run : size.runs) run.throughput = truth.throughput(static_cast<double>(size.at.workers));
  const auto laws = fit_laws(series.sizes);
  REQUIRE(laws.size() == 3);
  CHECK(laws[1].throughput(64) == Approx(truth.throughput(64)).epsilon(0.02));
  CHECK(laws[0].name == "amdahl");
  CHECK(laws[2].name == "power");
}

TEST_CASE("the time of sums alone follows from what was exposed: they run one after another, each from when its bucket is ready")
{
  // A computation of 10 s; the buckets are ready after 4, 8 and 10 s.
  const std::vector<Bucket> buckets{{2e6, 0.4}, {1e6, 0.8}, {1e6, 1}};
  const auto exposed_of = [&](double second_a_byte) {
    double end = 0;
    for (const auto& bucket : buckets) end = std::max(end, 10 * bucket.ready) + bucket.bytes * second_a_byte;
    return end - 10;
  };
  for (const double second_a_byte : {1e-8, 1e-7, 1e-6, 1.6e-6, 3e-6, 1e-4})
    CHECK(isolated_from_exposed(buckets, 10, exposed_of(second_a_byte)) == Approx(4e6 * second_a_byte));
  CHECK(std::isnan(isolated_from_exposed({}, 10, 1)));
  CHECK(isolated_from_exposed({{1e6, 1}}, 10, 3) == Approx(3));
}

TEST_CASE("a program of the user is predicted from what it was seen to exchange, and refused with what is missing")
{
  auto series = measure(Truth{.run_deviation = 0.005}, {1, 2, 4, 8}, 3);
  series.traits.strategy.clear();
  series.traits.is_own_program = true;
  const auto found = forecast_at(series, {16});
  CHECK(found.predictions.at(0).throughput > 0);
  CHECK(found.calibration.assumptions.at(1).starts_with("How the program exchanges is not known."));
  const auto refusal = [&](auto change) {
    auto changed = series;
    change(changed.sizes.at(2).runs.front());
    return message_of([&] { forecast_at(changed, {16}); });
  };
  CHECK_THAT(refusal([](auto& run) { run.workers.clear(); }),
             Catch::StartsWith("synthetic runs a program of your own, and of its runs with 4 nodes the times of the forward and "
                               "the backward pass are not known, so larger sizes cannot be predicted. "));
  CHECK_THAT(refusal([](auto& run) { run.workers.back().communication_s = not_measured; }),
             Catch::Contains("how long ranks communicate"));
  series.traits.exchange_bytes = not_measured;
  CHECK_THAT(refusal([](auto& run) { run.buckets.clear(); }), Catch::Contains("how many bytes they sum"));
}
