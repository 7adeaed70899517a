#include "core/record/measuring/divergence.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
using enum Divergence::Turn;

} // namespace

TEST_CASE("the turns of a loss to NaN and back are told once each, and steps without a loss are no turn")
{
  Divergence divergence;
  CHECK(divergence.add_step(1, 0.5) == none);
  CHECK(divergence.add_step(2, infinity) == bad);
  CHECK(divergence.add_step(3, std::nullopt) == none);
  CHECK(divergence.add_step(4, no_number) == none);
  CHECK(divergence.add_step(5, 1.0) == good);
  CHECK(divergence.not_finite_steps() == 2);
  CHECK(divergence.first_not_finite_step() == 2);
}

TEST_CASE("of several divergences a result keeps the earliest, and a training without losses has not diverged")
{
  Divergence first, second;
  first.add_step(1, 1.0);
  first.add_step(8, no_number);
  first.add_evaluation(6, infinity);
  second.add_step(7, no_number);
  RunResult result;
  first.fill(result);
  second.fill(result, "of rank 1");
  CHECK(result.diverged_step == 6);
  CHECK(result.divergence == "the loss on the held-out set is infinite from step 6 on");
  RunResult silent;
  Divergence().fill(silent);
  CHECK(silent.diverged_step == not_counted);
  CHECK(silent.divergence.empty());
}
