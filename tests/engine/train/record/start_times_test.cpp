// The phases between the launch and the first step.
#include "engine/train/record/start_times.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace dt::train;

namespace {

double clock_s = 0; // what the tests' clock shows

double now_s() { return clock_s; }

} // namespace

TEST_CASE("each phase of a start lasts from the end of the one before, and the first from the launch")
{
  clock_s = 1000;
  StartTimes times(999.5, now_s);
  times.end("launch");
  clock_s = 1000.25;
  times.end("MPI");
  clock_s = 1005; // after the last phase: not part of the start
  CHECK(times.total_s() == 0.75);
  CHECK(times.words() == "0.750 s: launch 0.500, MPI 0.250");
}

TEST_CASE("a rank that does not know when it was launched begins its start now")
{
  ::setenv("DTCTL_LAUNCH_UNIX_S", "1.5", 1);
  StartTimes since_1970;
  since_1970.end("launch");
  CHECK(since_1970.total_s() > 1e9);
  ::unsetenv("DTCTL_LAUNCH_UNIX_S");
  StartTimes from_now;
  from_now.end("launch");
  CHECK(from_now.total_s() < 1e9);
}
