// Verdicts that say less than their intervals: of one seed, and of studies that were measured apart.
#include "tests/store/analysis/verdict/judged_runs.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;
using namespace dt::store::test;

namespace {

const auto fast = timed_runs({10, 10.1, 9.9}, "", 200), slow = timed_runs({20, 20.1, 19.9});

} // namespace

TEST_CASE("with one seed for all repeats of a side a comparison of trainings, also by ranks, holds for this seed only")
{
  for (const auto metric : {Metric::time_to_target, Metric::accuracy}) {
    const auto one = judged(with_one_seed(fast), with_one_seed(slow), metric);
    CHECK(one.comparison.verdict == Verdict::cannot_tell);
    CHECK(finding_of(one) == Finding::for_this_seed);
    CHECK(one.of_runs == Verdict::faster);
    CHECK(one.more.per_side == 0);
    CHECK_FALSE(is_regression(judged(with_one_seed(slow), with_one_seed(fast), metric)));
    CHECK(finding_of(judged(fast, slow, metric)) == Finding::faster);
  }
  CHECK(finding_of(judged(with_one_seed(fast), with_one_seed(slow), Metric::throughput)) == Finding::faster);
  CHECK(judged(fast, with_one_seed(slow), Metric::time_to_target).limit.kind == Limit::Kind::one_seed);
  CHECK_FALSE(judged(timed_runs({10}), slow, Metric::time_to_target).limit.is_set());
  const auto misses = timed_runs(Values(5, miss)), reached = timed_runs({1, 2, 3, 4, 5});
  CHECK(is_regression(judged(misses, reached, Metric::time_to_target)));
  const auto one = judged(with_one_seed(misses), with_one_seed(reached), Metric::time_to_target);
  CHECK_FALSE(is_regression(one));
  CHECK(one.of_runs == Verdict::slower);
}

TEST_CASE("studies that were measured apart are at most different in these runs where nothing tells how far such studies differ")
{
  const auto apart = apart_of(day_apart(), {});
  const auto found = across_studies(judged(slow, fast, Metric::throughput), apart);
  CHECK(found.comparison.verdict == Verdict::cannot_tell);
  CHECK(finding_of(found) == Finding::different_in_these_runs);
  CHECK_FALSE(is_regression(found));
  CHECK(finding_of(across_studies(by_throughput({100, 100.1, 99.9}, {100, 99.9, 100.1}), apart)) == Finding::alike_in_these_runs);
  CHECK(finding_of(across_studies(judged(fast, slow, Metric::accuracy), apart)) == Finding::faster);
}

TEST_CASE("sides that were measured together keep their verdict")
{
  auto together = day_apart();
  together.is_together = true;
  const auto found = across_studies(judged(slow, fast, Metric::throughput), apart_of(together, {}));
  CHECK(finding_of(found) == Finding::slower);
  CHECK(is_regression(found));
}

TEST_CASE("where studies of the same work reach as far apart, their scatter widens the interval and the verdict stands")
{
  const auto plain = judged(slow, fast, Metric::throughput);
  const auto found = across_studies(plain, apart_of(day_apart(), three_studies(2)));
  CHECK(found.between.studies == 3);
  CHECK(found.between.deviation() == Approx(0.0953).epsilon(0.01));
  CHECK(found.comparison.verdict == Verdict::slower);
  CHECK(found.comparison.interval.high > plain.comparison.interval.high);
  const auto near = across_studies(by_throughput({95, 96, 94}, {100, 101, 99}), apart_of(day_apart(), three_studies(2)));
  CHECK(finding_of(near) == Finding::cannot_tell);
  CHECK(near.more.per_side == 0);
}

TEST_CASE("studies of the same work do not count if they lie too near, on the same hosts, or on another kind of machine")
{
  const auto limit = apart_of(day_apart(), three_studies(0.5)).limit;
  CHECK(limit.kind == Limit::Kind::near);
  CHECK(limit.studies == 3);
  CHECK(limit.longest_s == 43200);
  auto elsewhere = day_apart();
  elsewhere.other_hosts = true;
  CHECK(apart_of(elsewhere, three_studies(2)).limit.kind == Limit::Kind::same_hosts);
  auto other_kind = day_apart();
  other_kind.is_same_kind = false;
  CHECK(apart_of(other_kind, three_studies(2)).limit.kind == Limit::Kind::unlike);
  auto unknown = day_apart();
  unknown.apart_s = std::nan("");
  CHECK(apart_of(unknown, three_studies(2)).limit.kind == Limit::Kind::unlike);
  CHECK(apart_of(day_apart(), {}).limit.kind == Limit::Kind::few_studies);
  auto one_study = day_apart();
  one_study.is_one_study = true;
  one_study.by = Confounded::by_time;
  CHECK(apart_of(one_study, three_studies(2)).limit.kind == Limit::Kind::one_study);
}

TEST_CASE("a test by ranks across studies is no verdict")
{
  const auto plain = judged(timed_runs(Values(5, miss)), timed_runs({1, 2, 3, 4, 5}), Metric::time_to_target);
  const auto found = across_studies(plain, apart_of(day_apart(), three_studies(2)));
  CHECK_FALSE(is_regression(found));
  CHECK(finding_of(found) == Finding::different_in_these_runs);
  CHECK(found.limit.kind == Limit::Kind::by_ranks);
}
