// A choice that is slower than predicted is tried against others, and changed where another ratio_limits is faster.
#include "engine/comm/choice/choice_watch.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace dt;
using namespace dt::comm;

namespace {

constexpr std::size_t large = 1 << 20, small = 1 << 10;

AllreduceTimings three()
{
  return {.algorithms = {"mpi", "ring", "tree"}, .bytes = {small, large}, .seconds = {{1, 2, 2}, {10, 4, 5}}};
}

ChoiceWatch watch_of(const AllreduceTimings& timings) { return {timings, choose(timings)}; }

// Steps of one large sum each, that take what the table says, up to the next look. Returns the algorithms that were taken.
std::vector<std::size_t> run_to_look(ChoiceWatch& watch, const std::map<std::size_t, double>& seconds, std::size_t bytes = large)
{
  std::vector<std::size_t> taken;
  for (bool looks = false; !looks;) {
    taken.push_back(watch.algorithm_for(bytes));
    watch.expect_sum(bytes);
    watch.waited(bytes, seconds.at(taken.back()));
    looks = watch.end_step();
  }
  watch.look();
  return taken;
}

} // namespace

TEST_CASE("a choice that is as fast as predicted stays, and nothing is tried")
{
  auto watch = watch_of(three());
  for (int looks = 0; looks < 5; ++looks) {
    const auto taken = run_to_look(watch, {{1, 4.4}});
    CHECK(taken == std::vector<std::size_t>(ChoiceWatch::steps_a_look, 1));
  }
  CHECK(watch.changes().empty());
  CHECK(watch.last_look() == "1.10 times what was predicted, in the median of steps 65 to 80");
}

TEST_CASE("a slow choice is tried against plain MPI and whatever may be faster, and the fastest is taken")
{
  auto watch = watch_of(three());
  run_to_look(watch, {{1, 12}});
  CHECK(watch.contenders() == std::vector<std::size_t>{1, 0, 2});
  const auto taken = run_to_look(watch, {{0, 10}, {1, 12}, {2, 6}});
  CHECK(taken.size() == 3 * ChoiceWatch::rounds);
  CHECK(std::vector(taken.begin(), taken.begin() + 4) == std::vector<std::size_t>{1, 0, 2, 1});
  CHECK(watch.algorithm_for(large) == 2);
  CHECK(watch.algorithm_for(small) == 0); // which was not on trial
  CHECK(watch.changes() ==
        std::vector<std::string>{"step 37: sums of 1.0 MiB by ring took 3.00 times as long as predicted; ring 12 s, mpi "
                                 "10 s, tree 6 s; tree from now on"});
  // What it took is what is expected now.
  run_to_look(watch, {{2, 6}});
  CHECK(watch.last_look().starts_with("1.00 times"));
}

TEST_CASE("plain MPI is taken back where the slow choice is no longer faster, and nothing else ratio_limits is")
{
  auto watch = watch_of(three());
  run_to_look(watch, {{1, 12}});
  run_to_look(watch, {{0, 11.9}, {1, 12}, {2, 20}});
  CHECK(watch.algorithm_for(large) == 0);
}

TEST_CASE("a slow choice stays where nothing is faster, is expected to be slow then, and is left alone for a while")
{
  auto watch = watch_of(three());
  run_to_look(watch, {{1, 12}});
  run_to_look(watch, {{0, 30}, {1, 12}, {2, 15}});
  CHECK(watch.algorithm_for(large) == 1);
  CHECK(watch.changes().size() == 1);
  run_to_look(watch, {{1, 12}});
  CHECK(watch.last_look().starts_with("1.00 times"));
  run_to_look(watch, {{1, 40}}); // slow again, but the last trial was not long ago
  CHECK(watch.contenders().empty());
  std::size_t steps = 0;
  for (; watch.contenders().empty() && steps <= ChoiceWatch::first_pause; steps += ChoiceWatch::steps_a_look)
    run_to_look(watch, {{1, 40}});
  CHECK_FALSE(watch.contenders().empty());
}

TEST_CASE("a challenger that was faster in few rounds only changes nothing")
{
  auto watch = watch_of(three());
  run_to_look(watch, {{1, 12}});
  std::size_t step = 0;
  for (bool looks = false; !looks; ++step) {
    const auto taken = watch.algorithm_for(large);
    watch.expect_sum(large);
    const bool lucky = step / 3 % 2 == 0;
    watch.waited(large, taken == 0 ? 20 : taken == 2 ? (lucky ? 6 : 13) : 12);
    looks = watch.end_step();
  }
  watch.look();
  CHECK(watch.algorithm_for(large) == 1);
}

TEST_CASE("an algorithm whose sums nobody has to wait for wins the trial, and one on trial may be as good")
{
  auto watch = watch_of(three());
  run_to_look(watch, {{1, 12}});
  run_to_look(watch, {{0, 10}, {1, 12}, {2, 0}});
  CHECK(watch.algorithm_for(large) == 2);
  auto other = watch_of(three());
  run_to_look(other, {{1, 12}});
  run_to_look(other, {{0, 0}, {1, 0}, {2, 0}});
  CHECK(other.algorithm_for(large) == 1);
}

TEST_CASE("a step without a sum is no step")
{
  auto watch = watch_of(three());
  for (int step = 0; step < 100; ++step) CHECK_FALSE(watch.end_step());
}

TEST_CASE("only the choice that is slow is changed where a step sums several sizes")
{
  auto watch = watch_of({.algorithms = {"mpi", "ring", "tree"}, .bytes = {small, large}, .seconds = {{2, 3, 1}, {10, 4, 30}}});
  const auto step = [&](double large_s) {
    for (const auto bytes : {small, large}) {
      const auto taken = watch.algorithm_for(bytes);
      watch.expect_sum(bytes);
      watch.waited(bytes, bytes == small ? 1.0 : taken == 1 ? large_s : 10.0);
    }
    return watch.end_step();
  };
  while (!step(20)) {
  }
  watch.look();
  while (!step(20)) {
  }
  watch.look();
  CHECK(watch.algorithm_for(small) == 2);
  CHECK(watch.algorithm_for(large) == 0);
}
