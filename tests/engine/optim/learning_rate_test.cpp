#include "engine/optim/optimizer.hpp"

#include "core/spec/names.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::optim;

namespace {

OptimizerSpec spec_of(const std::string& schedule) { return {.learning_rate = 0.5, .schedule = schedule}; }

double rate(const OptimizerSpec& spec, double epoch, double total = 10, std::int64_t ranks = 1)
{
  return LearningRate(spec, total, ranks).at(epoch);
}

} // namespace

TEST_CASE("the registry's schedules are exactly those of the vocabulary")
{
  CHECK(registered_schedules() == strings_of(schedule_names()));
}

TEST_CASE("a constant rate stays")
{
  for (const double epoch : {0.0, 3.7, 10.0, 1000.0}) CHECK(rate(spec_of("constant"), epoch) == 0.5);
}

TEST_CASE("the step schedule multiplies at every step_epochs, from the boundary on")
{
  auto spec = spec_of("step");
  spec.step_epochs = 3;
  spec.step_factor = 0.5;
  CHECK(rate(spec, 0) == 0.5);
  CHECK(rate(spec, 2.999) == 0.5);
  CHECK(rate(spec, 3) == 0.25);
  CHECK(rate(spec, 8.9) == 0.125);
  CHECK(rate(spec, 9) == 0.0625);
  spec.step_epochs = 0.1; // 0.3 / 0.1 is a little below 3 in floating point
  CHECK(rate(spec, 0.3) == 0.0625);
}

TEST_CASE("the polynomial schedule falls from the rate to the final one")
{
  auto spec = spec_of("polynomial");
  spec.polynomial_power = 2;
  CHECK(rate(spec, 0) == 0.5);
  CHECK(rate(spec, 5) == 0.125);
  CHECK(rate(spec, 10) == 0);
  CHECK(rate(spec, 12) == 0);
  spec.final_learning_rate = 0.25;
  spec.polynomial_power = 1;
  CHECK(rate(spec, 5) == 0.375);
  CHECK(rate(spec, 10) == 0.25);
  spec.polynomial_power = 0; // (1 - t)^0 = 1: it never falls
  CHECK(rate(spec, 10) == 0.5);
}

TEST_CASE("the cosine schedule is half a cosine from the rate to the final one")
{
  auto spec = spec_of("cosine");
  spec.final_learning_rate = 0.1;
  CHECK(rate(spec, 0) == 0.5);
  CHECK(rate(spec, 5) == Approx(0.3).epsilon(1e-12));
  CHECK(rate(spec, 2.5) == Approx(0.1 + 0.4 * (1 + std::sqrt(0.5)) / 2).epsilon(1e-12));
  CHECK(rate(spec, 10) == Approx(0.1).epsilon(1e-12));
  CHECK(rate(spec, 11) == rate(spec, 10));
}

TEST_CASE("warm-up rises linearly from warmup_factor times the rate to the rate")
{
  auto spec = spec_of("constant");
  spec.warmup_epochs = 4;
  spec.warmup_factor = 0.25;
  CHECK(rate(spec, 0) == 0.125);
  CHECK(rate(spec, 2) == 0.3125);
  CHECK(rate(spec, 4) == 0.5);
  CHECK(rate(spec, 9) == 0.5);
  spec.warmup_epochs = 20; // twice the run
  spec.warmup_factor = 0;
  CHECK(rate(spec, 10) == 0.25);
}

TEST_CASE("warm-up multiplies the schedule, which runs from the start")
{
  auto spec = spec_of("polynomial");
  spec.polynomial_power = 1;
  spec.warmup_epochs = 5;
  spec.warmup_factor = 0;
  CHECK(rate(spec, 0) == 0);
  CHECK(rate(spec, 2.5) == 0.5 * 0.75 * 0.5);
  CHECK(rate(spec, 5) == 0.25);
}

TEST_CASE("linear scaling multiplies by the ranks, the final rate too, and only when asked for")
{
  auto spec = spec_of("polynomial");
  spec.final_learning_rate = 0.25;
  CHECK(rate(spec, 0, 10, 8) == 0.5);
  spec.linear_scaling = true;
  CHECK(rate(spec, 0, 10, 8) == 4);
  CHECK(rate(spec, 10, 10, 8) == 2);
  spec.warmup_epochs = 1; // starts at a fraction of the scaled rate
  CHECK(rate(spec, 0, 10, 8) == Approx(0.4));
}

TEST_CASE("a run of no epochs stays at the first rate")
{
  for (const auto& schedule : registered_schedules()) CHECK(rate(spec_of(schedule), 0, 0) == 0.5);
}

TEST_CASE("an unknown schedule is refused with the known ones")
{
  CHECK_THROWS_WITH(
      LearningRate(spec_of("cosin"), 1, 1),
      "there is no learning-rate schedule `cosin`; did you mean `cosine`? Allowed: constant, step, polynomial, cosine");
}
