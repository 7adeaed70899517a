// What must hold when one property of the machine changes, whatever the others are.
#include "store/analysis/prediction/what_if.hpp"
#include "synthetic_study.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

double step_s(const Calibration& model, std::int64_t n, const std::string& change = "")
{
  const auto size = size_of(model.traits, n);
  return step_at(change.empty() ? model : changed(model, parse_changes({change}).front()), size).step_s;
}

// A model with arbitrary properties.
Calibration arbitrary(Random& random)
{
  Truth truth;
  truth.fixed_s = 1e-3 * noise(random, 1);
  truth.sample_s = 1e-4 * noise(random, 1);
  truth.link = {.alpha_s = 1e-5 * noise(random, 1.5), .beta_s = 1e-9 * noise(random, 1.5)};
  truth.step_deviation = 0.02 + 0.2 * static_cast<double>(random.unit());
  truth.worker_deviation = 0.1 * static_cast<double>(random.unit());
  truth.period = 1 + static_cast<std::int64_t>(random.below(4));
  return true_model(truth);
}

} // namespace

TEST_CASE("doubling the bandwidth helps a bandwidth-bound case by what its bytes take, and a compute-bound case or one worker by "
          "not one bit")
{
  Truth truth;
  truth.link = {.alpha_s = 0, .beta_s = 1e-7};
  truth.step_deviation = truth.worker_deviation = 0;
  const auto model = true_model(truth);
  const double before = step_s(model, 8), after = step_s(model, 8, "bandwidth=2x");
  CHECK(before / after > 1.6);
  auto computing = true_model(Truth{.link = {.alpha_s = 1e-5, .beta_s = 1e-10}});
  for (auto& bucket : computing.buckets) bucket.ready = 0.3; // so that the sums end before the computation
  CHECK(step_s(computing, 8, "bandwidth=2x") == step_s(computing, 8));
  const auto usual = true_model({});
  for (const auto* change : {"bandwidth=2x", "latency=0", "overlap=perfect"}) CHECK(step_s(usual, 1, change) == step_s(usual, 1));
}

TEST_CASE("no change that removes a cost makes a step slower, and more latency makes none faster")
{
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const auto model = arbitrary(random);
    for (const std::int64_t n : {1, 2, 7, 32}) {
      const double before = step_s(model, n);
      CAPTURE(i, n, before);
      for (const auto& change : usual_changes()) {
        CAPTURE(change.text);
        CHECK(step_s(model, n, change.text) <= before * (1 + 1e-12));
      }
      CHECK(step_s(model, n, "latency=3x") >= before);
      CHECK(step_s(model, n, "bandwidth=0.5x") >= before);
    }
  }
}

TEST_CASE("gains are sorted, the largest first")
{
  const auto model = true_model({});
  const auto found = gains(model, size_of(model.traits, 32), usual_changes());
  REQUIRE(found.size() == 5);
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i - 1].gain >= found[i].gain);
  CHECK(found.front().gain > 0);
}

TEST_CASE("a faster link shortens the part of a server's time that its bytes take")
{
  Truth truth;
  truth.service_s = 0.02;
  auto model = true_model(truth);
  model.service_link_s = 0.015;
  const auto faster = changed(model, parse_changes({"bandwidth=3x"}).front());
  CHECK(faster.service_s == Approx(0.01));
  CHECK(faster.service_link_s == Approx(0.005));
}

TEST_CASE("changes are read from lists, and a text that is no change is refused with what is allowed")
{
  CHECK(parse_changes({"bandwidth=1.5x,latency=0", "overlap=perfect"}).size() == 3);
  CHECK(parse_changes({"bandwidth=1.5x"}).front().factor == 1.5);
  CHECK(parse_changes({"all"}).size() == 5);
  for (const auto* wrong :
       {"bandwidth", "bandwidth=0", "bandwidth=-2x", "bandwidth=2", "overlap=0", "colour=2x", "latency=nanx", ""}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(parse_changes({wrong}), Catch::Contains("is not a change") && Catch::Contains("overlap=perfect"));
  }
}
