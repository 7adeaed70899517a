// What dtjob decides at the end of a launch, and when it warns, ends and kills: without processes and without clocks.
#include "jobs/agent/attempt_end.hpp"
#include "jobs/agent/deadlines.hpp"

#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt::jobs::agent;
using Seconds = Deadlines::Seconds;
using Due = Deadlines::Due;

TEST_CASE("what the end of the ranks means, by what is known of it")
{
  struct Row {
    std::string what;
    LaunchEnd end;
    EndKind kind;
  };
  const std::vector<Row> rows{
      {"a result counts whatever the exit code", {.code = 1, .result = true}, EndKind::has_result},
      {"stopped in order", {.code = 75, .asked = SIGUSR1, .preempted = true}, EndKind::stopped},
      {"stopped in order by what only the ranks were told", {.code = 0, .preempted = true}, EndKind::stopped},
      {"asked, and ended before the ranks could record it", {.code = 143, .asked = SIGTERM}, EndKind::stopped_unsaid},
      {"warned of the limit, and ended at once", {.code = 138, .asked = SIGUSR1, .stop_reason = true}, EndKind::stopped_unsaid},
      {"ended at its limit", {.code = 143, .asked = SIGTERM, .stop_reason = true}, EndKind::failed},
      {"cancelled", {.code = 143, .asked = SIGTERM, .cancel = true}, EndKind::failed},
      {"a rank's own error while it was asked", {.code = 1, .asked = SIGTERM, .error = true}, EndKind::failed},
      {"a crash while it was asked", {.code = 128 + SIGSEGV, .asked = SIGTERM}, EndKind::failed},
      {"a crash of a user's program whose other rank has left",
       {.code = 128 + SIGABRT, .asked = SIGTERM, .is_own_program = true},
       EndKind::stopped_unsaid},
      {"exit code 0 without a result", {.code = 0}, EndKind::no_result},
      {"an exit code", {.code = 3}, EndKind::failed},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    CHECK(kind_of_end(row.end) == row.kind);
  }
}

TEST_CASE("ranks that died before their first step without a word are launched again, and no others")
{
  const LaunchEnd died{.code = 1};
  const LaunchTries one_of_three{.launches = 1, .allowed = 3};
  CHECK(may_launch_again(died, one_of_three));
  CHECK_FALSE(may_launch_again(died, {.launches = 3, .allowed = 3}));
  CHECK_FALSE(may_launch_again(died, {.launches = 1, .allowed = 3, .all_ranks_ran = true}));
  CHECK_FALSE(may_launch_again(died, {.launches = 1, .allowed = 3, .has_stepped = true}));
  CHECK_FALSE(may_launch_again(died, {.launches = 1, .allowed = 3, .is_lost = true}));
  for (const int code : {0, 126, 127}) CHECK_FALSE(may_launch_again({.code = code}, one_of_three));
  for (const LaunchEnd& end :
       {LaunchEnd{.code = 1, .result = true}, LaunchEnd{.code = 1, .cancel = true}, LaunchEnd{.code = 1, .stop_reason = true},
        LaunchEnd{.code = 1, .error = true}, LaunchEnd{.code = 1, .preempted = true}})
    CHECK_FALSE(may_launch_again(end, one_of_three));

  // Files may have been missing while the home was moved, so neither code nor error is the program's own.
  const LaunchTries moved{.launches = 9, .allowed = 3, .has_moved = true};
  CHECK(may_launch_again({.code = 127, .error = true}, moved));
  CHECK_FALSE(may_launch_again({.code = 127, .cancel = true}, moved));
}

TEST_CASE("a run is warned, then ended, then killed, each once, and a cancellation is obeyed if no scheduler passes it on")
{
  const Deadlines::Time begin{};
  Deadlines limits(begin, Seconds(100), Seconds(20));
  CHECK(limits.next() == begin + Seconds(80));
  CHECK(limits.take(begin + Seconds(79)) == Due::nothing);
  CHECK(limits.take(begin + Seconds(101)) == Due::warning); // late, as after a suspension: nothing is left out
  CHECK(limits.take(begin + Seconds(101)) == Due::limit);
  CHECK(limits.take(begin + Seconds(101)) == Due::nothing);
  CHECK_FALSE(limits.next());
  limits.ends_from(begin + Seconds(101));
  CHECK(limits.take(begin + Seconds(101) + Deadlines::kill_after) == Due::kill);

  CHECK_FALSE(Deadlines(begin, Seconds(0), Seconds(20)).next());
  CHECK(Deadlines(begin, Seconds(10), Seconds(20)).next() == begin + Seconds(10)); // no room for a warning

  CHECK_FALSE(limits.must_obey_cancel(begin + Seconds(200)));
  CHECK(limits.must_obey_cancel(begin + Seconds(200) + Deadlines::scheduler_first));
}
