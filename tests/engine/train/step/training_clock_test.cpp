// The time that a run has taken, with a clock that the tests set.
#include "engine/train/step/training_clock.hpp"

#include <catch2/catch.hpp>

using namespace dt::train;

namespace {

double time_s = 0;
double now_s() { return time_s; }

} // namespace

TEST_CASE("wall time begins with the first step, and training time leaves out evaluations and checkpoints")
{
  time_s = 5000; // the time before the first step does not count
  TrainingClock clock({}, now_s);
  time_s = 5016;
  clock.start();
  CHECK(clock.wall_s() == 0);
  CHECK(clock.training_s() == 0);
  time_s = 5048;
  clock.add_evaluation(4);
  clock.add_evaluation(2);
  clock.add_checkpoint(8);
  CHECK(clock.wall_s() == 32);
  CHECK(clock.evaluation_s() == 6);
  CHECK(clock.checkpoint_s() == 8);
  CHECK(clock.training_s() == 18);
}

TEST_CASE("a resumed attempt continues the times of its checkpoint, without the time between the attempts")
{
  time_s = 70000;
  TrainingClock clock({.step = 3, .wall_s = 1000, .evaluation_s = 100, .checkpoint_s = 10}, now_s);
  time_s = 70008;
  clock.start();
  CHECK(clock.wall_s() == 1000);
  CHECK(clock.training_s() == 890);
  time_s = 70040;
  clock.add_evaluation(16);
  CHECK(clock.wall_s() == 1032);
  CHECK(clock.evaluation_s() == 116);
  CHECK(clock.training_s() == 906);
}
