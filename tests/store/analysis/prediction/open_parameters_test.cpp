// Parameters that the measured sizes leave open: the true value lies inside the interval, or the size is not identifiable, with
// the size that would tell. The truths are those that earlier versions missed with narrow intervals.
#include "store/analysis/prediction/forecast.hpp"
#include "store/analysis/statistics/distributions.hpp"
#include "synthetic_study.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

Prediction prediction_of(const SeriesMeasurements& series, std::int64_t size)
{
  const std::vector<std::int64_t> sizes{size};
  return forecast(series, sizes, {}).predictions.front();
}

bool contains(const Prediction& prediction, double throughput)
{
  return prediction.throughput_interval.low <= throughput && throughput <= prediction.throughput_interval.high;
}

double width_of(const Prediction& prediction) { return prediction.throughput_interval.high / prediction.throughput_interval.low; }

bool has(const Prediction& prediction, SizeChange::Kind kind)
{
  return std::any_of(prediction.changes.begin(), prediction.changes.end(),
                     [&](const auto& change) { return change.kind == kind; });
}

bool is_open(const Prediction& prediction, Parameter parameter)
{
  return std::find(prediction.open.begin(), prediction.open.end(), parameter) != prediction.open.end();
}

// EASGD with one server: an answer takes 170 ms, of which a worker sees all, and the update after it another 35 ms, which no
// worker sees while the server has time left. 11 workers keep it busy.
Truth easgd()
{
  return {.fixed_s = 0,
          .sample_s = 0.533 / 32,
          .strategy = "easgd",
          .bytes = 1e8,
          .step_deviation = 0,
          .worker_deviation = 0,
          .run_deviation = 0.002,
          .global_batch = 32,
          .service_s = 0.205,
          .after_answer_s = 0.035,
          .server_update_s = 0.035,
          .is_in_turn = true,
          .answers_first = true,
          .servers = 1,
          .period = 4,
          .is_weak = true};
}

const std::vector<std::int64_t> below_capacity{2, 3, 5, 9};

// Sums that take three quarters of a step from two nodes on, so that the trunks matter.
Truth with_trunks()
{
  return {.sample_s = 1e-4,
          .link = {.alpha_s = 1e-6, .beta_s = 8e-9},
          .allreduce = "halving-doubling",
          .bytes = 2e7,
          .run_deviation = 0.01,
          .global_batch = 256,
          .nodes_per_supernode = 8,
          .trunk_share = 0.25,
          .is_weak = true};
}

} // namespace

TEST_CASE("a server past its capacity: its recorded update tells that it is full before the workers wait")
{
  const auto truth = easgd();
  const auto series = measure(truth, below_capacity, 3);
  for (const std::int64_t size : {17, 33}) {
    const auto found = prediction_of(series, size);
    CAPTURE(size, found.throughput, true_throughput(truth, size));
    CHECK(std::abs(error_of(found.throughput, true_throughput(truth, size))) < 0.05);
    CHECK(contains(found, true_throughput(truth, size)));
    CHECK(has(found, SizeChange::Kind::server_saturates));
    CHECK(is_extrapolation(found.changes));
  }
}

TEST_CASE("a server whose update was not recorded: its capacity is open, and the size past it would tell")
{
  auto truth = easgd();
  truth.server_update_s = not_measured;
  for (const double after_s : {0.035, 0.0, -0.05}) { // also answers that are on their way while the next exchange begins
    truth.after_answer_s = after_s;
    truth.service_s = 0.17 + after_s;
    const auto series = measure(truth, below_capacity, 3);
    const auto found = prediction_of(series, 33);
    CAPTURE(after_s, found.throughput_interval.low, found.throughput_interval.high, true_throughput(truth, 33));
    CHECK(contains(found, true_throughput(truth, 33)));
    CHECK_FALSE(found.is_identified);
    CHECK(is_open(found, Parameter::service));
    CHECK(found.measure == 17);
  }
}

TEST_CASE("a server that is full at the measured sizes has a known capacity")
{
  const auto truth = easgd();
  const auto series = measure(truth, {2, 3, 5, 9, 17}, 3);
  const auto found = prediction_of(series, 33);
  CHECK(found.is_identified);
  CHECK(found.open.empty());
  CHECK(width_of(found) < 1.25);
  CHECK(contains(found, true_throughput(truth, 33)));
}

TEST_CASE("a trunk beyond the measured sizes: nothing is known about it, and the first size across it would tell")
{
  const auto truth = with_trunks();
  const auto series = measure(truth, {1, 2, 4, 8}, 5);
  const auto found = prediction_of(series, 32);
  CAPTURE(found.throughput_interval.low, found.throughput_interval.high, true_throughput(truth, 32));
  CHECK(contains(found, true_throughput(truth, 32)));
  CHECK_FALSE(found.is_identified);
  CHECK(is_open(found, Parameter::trunk));
  CHECK(found.measure == 16);
  CHECK(has(found, SizeChange::Kind::trunk));
}

TEST_CASE("a trunk whose bandwidth the platform tells is predicted with it")
{
  auto truth = with_trunks();
  truth.is_trunk_known = true;
  const auto series = measure(truth, {1, 2, 4, 8}, 5);
  const auto found = prediction_of(series, 32);
  CHECK(found.is_identified);
  CHECK(std::abs(error_of(found.throughput, true_throughput(truth, 32))) < 0.1);
  CHECK(contains(found, true_throughput(truth, 32)));
  CHECK(has(found, SizeChange::Kind::trunk));
}

TEST_CASE("trunks that measured sizes crossed are fitted")
{
  const auto truth = with_trunks();
  const auto series = measure(truth, {2, 4, 8, 16, 32}, 5);
  const auto found = forecast(series, std::vector<std::int64_t>{64}, {});
  CHECK(found.calibration.trunk_share == Approx(truth.trunk_share).epsilon(0.3));
  CHECK(std::abs(error_of(found.predictions[0].throughput, true_throughput(truth, 64))) < 0.1);
  CHECK_FALSE(has(found.predictions[0], SizeChange::Kind::trunk));
}

TEST_CASE("a ring's trunk carries one stream, so an unknown trunk changes nothing")
{
  auto truth = with_trunks();
  truth.allreduce = "ring";
  const auto found = prediction_of(measure(truth, {1, 2, 4, 8}, 5), 32);
  CHECK(found.is_identified);
  CHECK_FALSE(is_open(found, Parameter::trunk));
}

TEST_CASE("latency that two sizes cannot tell from bandwidth widens the interval, whatever the latency is")
{
  Truth truth{.sample_s = 1e-5, .allreduce = "ring", .run_deviation = 0.01, .global_batch = 32, .is_weak = true};
  for (const double alpha_s : {0.0, 2e-5, 1e-4, 4e-4}) {
    truth.link = {.alpha_s = alpha_s, .beta_s = 8e-9};
    const auto series = measure(truth, {1, 2, 3}, 7);
    for (const std::int64_t size : {12, 64}) {
      const auto found = prediction_of(series, size);
      CAPTURE(alpha_s, size, found.throughput_interval.low, found.throughput_interval.high, true_throughput(truth, size));
      CHECK(contains(found, true_throughput(truth, size)));
      if (size == 64) CHECK((!found.is_identified || found.measure == 0));
    }
  }
  truth.link = {.alpha_s = 2e-5, .beta_s = 8e-9};
  const auto found = prediction_of(measure(truth, {1, 2, 3}, 7), 64);
  CHECK((is_open(found, Parameter::latency) || is_open(found, Parameter::bandwidth)));
  CHECK(found.measure > 3);
  CHECK(found.measure <= 64);
}

TEST_CASE("sizes that tell all parameters give intervals as narrow as the backtests allow")
{
  const auto series = measure({.run_deviation = 0.01}, {1, 2, 4, 8, 16}, 9);
  const std::vector<std::int64_t> sizes{32};
  const auto found = forecast(series, sizes, {});
  // Student's t of the backtests alone, as the header of forecast.hpp has it.
  double squares = 0.05 * 0.05, runs = 0, tests = 1;
  for (const auto& test : found.backtests)
    if (test.from_sizes > 1) {
      squares += std::log1p(test.error) * std::log1p(test.error);
      ++tests;
    }
  for (const auto& size : series.sizes)
    runs += log_moments([&] {
              std::vector<double> throughputs;
              for (const auto& run : size.runs) throughputs.push_back(run.throughput);
              return throughputs;
            }())
                .variance /
            static_cast<double>(series.sizes.size());
  const double half = student_t_quantile(0.9, tests) * std::sqrt(2 * runs / 3 + squares / tests);
  const auto& prediction = found.predictions.front();
  CHECK(prediction.is_identified);
  CHECK(prediction.open.empty());
  CHECK(prediction.measure == 0);
  CHECK(std::log(width_of(prediction)) < 1.1 * 2 * half);
  CHECK(std::log(width_of(prediction)) >= 0.999 * 2 * half);
}

TEST_CASE("sizes past a knee are also predicted from the sizes before it, and these backtests are told apart")
{
  const auto truth = easgd();
  const auto tests = backtests_of(measure(truth, {2, 3, 5, 9, 17, 33, 65}, 3), {});
  REQUIRE(tests.size() == 6 + 2);
  CHECK(tests[3].size == 17);
  CHECK(tests[3].is_past_knee);
  CHECK_FALSE(tests[4].is_past_knee);
  for (const std::size_t k : {6, 7}) {
    CHECK(tests[k].from_sizes == 4);
    CHECK(tests[k].is_from_before_knee);
    CHECK(tests[k].is_past_knee);
  }
  CHECK(tests[6].size == 33);
  CHECK(tests[7].size == 65);
}

TEST_CASE("changes name what is certain and what may be")
{
  auto truth = easgd();
  truth.strategy = "sync-sgd";
  truth.service_s = truth.after_answer_s = 0;
  truth.servers = 0;
  truth.period = 1;
  truth.is_in_turn = truth.answers_first = false;
  truth.allreduce = "mpi";
  truth.bytes = 1e5;
  const auto series = measure(truth, {1, 2, 4}, 3);
  const auto near = prediction_of(series, 8), far = prediction_of(series, 32);
  CHECK(has(near, SizeChange::Kind::algorithm));
  CHECK_FALSE(is_extrapolation(near.changes));
  CHECK(has(far, SizeChange::Kind::distance));
  CHECK(is_extrapolation(far.changes));
  CHECK_FALSE(is_past_knee(far.changes));
}
