// Sentences of comparisons.
#include "cli/answers/verdict/judged_text.hpp"
#include "cli/answers/verdict/limit_text.hpp"
#include "tests/store/analysis/verdict/judged_runs.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;
using namespace dt::store::test;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

std::string of_throughputs(const Values& a, const Values& b) { return sentence_of(by_throughput(a, b)); }

const auto fast = timed_runs({10, 10.1, 9.9}, "", 200), slow = timed_runs({20, 20.1, 19.9});

} // namespace

TEST_CASE("a verdict is one sentence, with effect, interval and what would decide")
{
  CHECK_THAT(sentence_of(judged(runs_of({930, 931, 929}), runs_of({900, 901, 899}), Metric::accuracy)),
             StartsWith("A is better than B: +3.00 points [+2."));
  CHECK_THAT(of_throughputs({110, 111, 109}, {100, 101, 99}), StartsWith("A is faster than B: +10.0 % [+7."));
  CHECK_THAT(of_throughputs({100, 104, 96}, {101, 97, 103}),
             Contains("cannot tell: ") && Contains("more runs of each would decide") && Contains("node-hours"));
  CHECK_THAT(of_throughputs({100, 100.1, 99.9}, {100.2, 100.1, 100}), Contains("equivalent") && Contains("margin of 2 %"));
  CHECK_THAT(of_throughputs({100, 102}, {110, 112}),
             Contains("fewer than 3 runs (2 of A, 2 of B)") && Contains("smallest difference") && !Contains("["));
  CHECK_THAT(of_throughputs({100, 101}, {150, 151}), Contains("and they differ by more, but that is no verdict"));
  CHECK_THAT(of_throughputs({100}, {110}),
             Contains("nothing is known about the scatter") && Contains("at least 2 more runs of each"));
  CHECK(sentence_of(of_same_runs(by_throughput({100}, {110}))) == "A and B are the same runs, so nothing has changed");
}

TEST_CASE("times to a target that was missed are compared by ranks, and who missed it is named")
{
  CHECK_THAT(sentence_of(by_time({1, 2, 3, 4}, {5, 6, miss, miss})),
             Contains("A is faster to the target") && Contains("B: 2 of 4 runs reached the target"));
  CHECK_THAT(sentence_of(by_time({1, 2, 3}, {4, 5, miss})),
             Contains("so few runs cannot decide") && Contains("about 1 more run of each would decide"));
  CHECK_THAT(sentence_of(by_time({miss, miss, miss}, {miss, miss, miss})),
             Contains("no run reached the target") && Contains("0 of 3 runs"));
}

TEST_CASE("a side without values says why")
{
  auto failed = runs_of({100, 100, 100});
  for (auto& run : failed) run.succeeded = false;
  CHECK(sentence_of(judged(failed, runs_of({100, 101, 99}), Metric::throughput)) == "no data: no run of A has succeeded");
  CHECK(sentence_of(judged(runs_of({0, 0, 0}), failed, Metric::throughput)) ==
        "no data: no run of A has a value of throughput and no run of B has succeeded");
}

TEST_CASE("a sentence about trainings with one seed says that it holds for this seed only")
{
  for (const auto metric : {Metric::time_to_target, Metric::accuracy}) {
    const auto one = judged(with_one_seed(fast), with_one_seed(slow), metric);
    CHECK(word_of(finding_of(one), metric) == "for this one seed");
    CHECK_THAT(sentence_of(one), StartsWith("for this one seed A is ") && Contains("trained with one seed") &&
                                     EndsWith("study.vary_seed: true gives each repeat another seed"));
  }
  CHECK_THAT(sentence_of(judged(with_one_seed(timed_runs(Values(5, miss))), with_one_seed(timed_runs({1, 2, 3, 4, 5})),
                                Metric::time_to_target)),
             StartsWith("for this one seed: A is slower to the target, p = "));
}

TEST_CASE("a sentence about studies that were measured apart says how far, why that limits it, and what to do")
{
  const auto plain = judged(slow, fast, Metric::throughput);
  const auto sentence = [&](const store::Apart& apart) { return sentence_of(across_studies(plain, apart)); };
  CHECK_THAT(sentence(apart_of(day_apart(), {})),
             StartsWith("different in these runs: -49.") && Contains("the studies are 1d apart, and how far") &&
                 Contains("and there is none") &&
                 EndsWith("--against-now runs both again, interleaved, and compares those runs"));
  CHECK_THAT(sentence(apart_of(day_apart(), three_studies(0.5))), Contains("the 3 studies of the same work lie within 12h"));
  auto elsewhere = day_apart();
  elsewhere.other_hosts = true;
  CHECK_THAT(sentence(apart_of(elsewhere, three_studies(2))), Contains("on other hosts") && Contains("ran on the same hosts"));
  CHECK_THAT(sentence(apart_of(day_apart(), three_studies(2))), Contains("with the scatter between 3 studies (9.5 %)"));
  CHECK_THAT(sentence_of(across_studies(by_throughput({95, 96, 94}, {100, 101, 99}), apart_of(day_apart(), three_studies(2)))),
             StartsWith("cannot tell: -5.0 %") && Contains("--against-now"));
  const auto by_ranks = across_studies(by_time(Values(5, miss), {1, 2, 3, 4, 5}), apart_of(day_apart(), three_studies(2)));
  CHECK_THAT(sentence_of(by_ranks),
             StartsWith("different in these runs: A is slower to the target") && Contains("a test by ranks"));
}

TEST_CASE("how far two sides lie apart is told with the hosts or processors that differ")
{
  auto apart = day_apart();
  apart.apart_s = 33 * 3600, apart.a_is_later = false;
  apart.other_hosts = apart.other_processors = true;
  CHECK(apart_text(apart) == "1d9h apart on other processors");
  CHECK(time_text(apart) == "the runs of B began 1d9h after those of A had ended");
  apart.apart_s = std::nan("");
  CHECK(apart_text(apart) == "apart by an unknown time on other processors");
  apart = {.by = store::Confounded::by_nodes, .other_hosts = true};
  CHECK(apart_text(apart) == "on other hosts");
  CHECK(time_text(apart) == "the runs of A and B were measured on different nodes");
}
