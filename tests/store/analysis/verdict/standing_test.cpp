#include "tests/store/analysis/verdict/judged_runs.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;
using namespace dt::store::test;

TEST_CASE("the best candidate is known with its lead, and a close one may be the best, too")
{
  const auto clear = ranked({runs_of({100, 101, 99}, "slow"), runs_of({110, 111, 109}, "fast")}, Metric::throughput);
  CHECK(outcome_of(clear) == Outcome::one);
  CHECK(clear.ranked[0].name == "fast");
  const auto lead = lead_over_second(clear);
  REQUIRE(lead.has_value());
  CHECK(lead->effect == Approx(1.1).epsilon(0.001));
  CHECK(lead->interval.low < lead->effect);
  CHECK(lead->interval.high > lead->effect);
  const auto close = ranked({runs_of({100, 104, 96}, "one"), runs_of({101, 97, 103}, "two")}, Metric::throughput);
  CHECK(outcome_of(close) == Outcome::several);
  CHECK(may_be_best(close).size() == 2);
}

TEST_CASE("an interval without zero is that of one pair, while p is corrected for all")
{
  // Welch's t of the outer two has p = 0.03, of which six pairs make 0.18.
  const auto four = ranked({runs_of({100, 101.5, 98.5}, "a"), runs_of({101, 102.8, 99.6}, "b"), runs_of({102, 100.3, 103.4}, "c"),
                            runs_of({103.9, 102.4, 105.7}, "d")},
                           Metric::throughput);
  REQUIRE(may_be_best(four).size() == 4);
  CHECK(differs_in_one_pair(four));
  const auto alike = ranked({runs_of({100, 104, 96}, "one"), runs_of({101, 97, 103}, "two")}, Metric::throughput);
  CHECK_FALSE(differs_in_one_pair(alike));
}

TEST_CASE("a ranking needs two candidates with three runs each, and tells what fewer could resolve")
{
  const auto pair = ranked({runs_of({100, 101}, "slow"), runs_of({110, 111}, "fast")}, Metric::throughput);
  CHECK(outcome_of(pair) == Outcome::too_few_runs);
  CHECK(count_with_enough_runs(pair) == 0);
  CHECK(unresolved_of(pair).effect == Approx(1.1).epsilon(0.01));
  CHECK(unresolved_of(pair).resolvable > 0);
  const auto one = ranked({runs_of({100, 101, 99}, "x"), runs_of({110}, "y")}, Metric::throughput);
  CHECK(outcome_of(one) == Outcome::too_few_runs);
  CHECK(count_with_enough_runs(one) == 1);
  const auto equal = ranked({runs_of({10, 10}, "a"), runs_of({10, 10}, "b")}, Metric::throughput);
  CHECK(unresolved_of(equal).resolvable < 1e-9);
  CHECK(outcome_of(ranked({runs_of({100, 101, 99}, "x")}, Metric::throughput)) == Outcome::nothing_to_rank);
}

TEST_CASE("a ranking by time to target excludes what misses it")
{
  const auto standing =
      ranked({timed_runs({1, 2, 3, 4, 5}, "sure"), timed_runs({6, 7, miss, miss, miss}, "rare")}, Metric::time_to_target);
  CHECK(outcome_of(standing) == Outcome::one);
  CHECK(standing.ranked[0].name == "sure");
  CHECK(standing.ranked[1].excluded_by == "sure");
  const auto none = ranked({timed_runs({miss, miss, miss}, "x"), timed_runs({miss, miss, miss}, "y")}, Metric::time_to_target);
  CHECK(outcome_of(none) == Outcome::none_reached);
}

TEST_CASE("a ranking of trainings with one seed excludes nobody")
{
  const std::vector each{timed_runs({10, 10.1, 9.9}, "a"), timed_runs({20, 20.1, 19.9}, "b", 50)};
  const std::vector one{with_one_seed(each[0]), with_one_seed(each[1])};
  const auto standing = ranked(one, Metric::time_to_target);
  CHECK(outcome_of(standing) == Outcome::one_seed);
  CHECK(may_be_best(standing).size() == 2);
  CHECK(std::isnan(standing.ranked[1].adjusted_p));
  CHECK(may_be_best(ranked(each, Metric::time_to_target)).size() == 1);
  CHECK(may_be_best(ranked(one, Metric::throughput)).size() == 1);
}

TEST_CASE("candidates that were measured one after the other are undecided, and the hindrance is known")
{
  auto early = runs_of({100, 101, 99, 100}, "early"), late = runs_of({110, 111, 109, 110}, "late");
  for (std::size_t i = 0; i < early.size(); ++i) {
    early[i].begin_unix_s = 1e9 + static_cast<double>(i);
    late[i].begin_unix_s = 1e9 + 1000 + static_cast<double>(i);
  }
  const auto apart = ranked({early, late}, Metric::throughput);
  CHECK(outcome_of(apart) == Outcome::several);
  CHECK(hindrance_of(apart).kind == Hindrance::Kind::confounded);
  CHECK(hindrance_of(apart).by == Confounded::by_time);
}

TEST_CASE("a margin makes equivalent candidates, and two metrics may be as open")
{
  const std::vector candidates{runs_of({100, 100.1, 99.9}, "a"), runs_of({100, 99.9, 100.1}, "b")};
  Contest contest{"2 ranks", {}};
  for (const auto& runs : candidates)
    contest.points.push_back({.candidate = runs.front().series, .rest = "", .nodes = 1, .ranks = 2, .runs = runs});
  CHECK(outcome_of(standings_of({&contest, 1}, std::vector{Metric::throughput}, {.margin = 0.02}).front()) ==
        Outcome::equivalent);
  const auto open =
      ranked({timed_runs({10, 12, 14}, "one"), timed_runs({11, 13, 15}, "two")}, {Metric::throughput, Metric::time_to_target});
  CHECK(is_as_open(open[0], open[1]));
}
