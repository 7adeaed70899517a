// Verdicts that say less than their intervals: of one seed, and of studies that were measured apart.
#include "store/analysis/verdict/verdict.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <catch2/catch.hpp>

using namespace dt::store;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

using Values = std::vector<double>;
enum class Seeds { one, each };

// Succeeded runs that reached their target after these times, with one seed or with one each.
std::vector<Run> runs_of(const Values& times, Seeds seeds, const std::string& series = "")
{
  std::vector<Run> runs;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Run run;
    run.series = series;
    run.nodes = 1, run.ranks = 2, run.succeeded = true;
    run.seed = seeds == Seeds::one ? 1 : 1 + static_cast<std::int64_t>(i);
    run.throughput = 1000 / times[i];
    run.accuracy = times[i] / 100;
    run.target_accuracy = 0.5;
    if (std::isfinite(times[i])) run.time_to_accuracy_s = times[i];
    runs.push_back(run);
  }
  return runs;
}

Judged judged(const std::vector<Run>& a, const std::vector<Run>& b, Metric metric)
{
  return judge("point", metric, sample_of("A", a, metric), sample_of("B", b, metric), {.margin = 0.02}, {});
}

Standing ranked(Seeds seeds, Metric metric)
{
  std::vector<Sample> samples;
  for (const auto& [name, times] : {std::pair<std::string, Values>{"a", {10, 10.1, 9.9}}, {"b", {20, 20.1, 19.9}}})
    samples.push_back(sample_of(name, runs_of(times, seeds, name), metric));
  return standing_of("2 ranks", metric, samples, {});
}

const Values fast{10, 10.1, 9.9}, slow{20, 20.1, 19.9}, steady{10, 10.01, 9.99};

// Sides that lie a day apart on hosts of one kind.
Separation day_apart() { return {.apart_s = 86400, .a_is_later = true, .is_same_kind = true}; }

// Three studies of one work whose means differ by 10 %, within so many days.
Repetitions three_studies(double days)
{
  RepeatedWork work;
  for (const auto& [study, value] : {std::pair{"x", 100.0}, {"y", 110.0}, {"z", 121.0}})
    work.push_back({study, log_moments(Values{value, value, value})});
  return {.works = {work}, .longest_s = days * 86400, .host_sets = 1};
}

} // namespace

TEST_CASE("with one seed for all repeats a comparison of trainings holds for this seed only")
{
  for (const auto metric : {Metric::time_to_target, Metric::accuracy}) {
    const auto one = judged(runs_of(fast, Seeds::one), runs_of(slow, Seeds::one), metric);
    CHECK(one.comparison.verdict == Verdict::cannot_tell);
    CHECK(word_of(one) == "for this one seed");
    CHECK_THAT(sentence_of(one), StartsWith("for this one seed A is ") && Contains("trained with one seed") &&
                                     EndsWith("study.vary_seed: true gives each repeat another seed"));
    CHECK(one.more.per_side == 0);
    CHECK_FALSE(is_regression(judged(runs_of(slow, Seeds::one), runs_of(fast, Seeds::one), metric)));
    CHECK(judged(runs_of(fast, Seeds::each), runs_of(slow, Seeds::each), metric).comparison.verdict != Verdict::cannot_tell);
  }
  CHECK(judged(runs_of(fast, Seeds::one), runs_of(slow, Seeds::one), Metric::throughput).comparison.verdict == Verdict::faster);
}

TEST_CASE("one side with one seed is enough to have no verdict, and one run alone is no repeat")
{
  CHECK(judged(runs_of(fast, Seeds::each), runs_of(slow, Seeds::one), Metric::time_to_target).limit.kind ==
        Limit::Kind::one_seed);
  CHECK_FALSE(judged(runs_of({10}, Seeds::one), runs_of(slow, Seeds::each), Metric::time_to_target).limit.is_set());
}

TEST_CASE("a regression by ranks needs several seeds")
{
  const double miss = std::numeric_limits<double>::infinity();
  const Values misses(5, miss), reached{1, 2, 3, 4, 5};
  CHECK(is_regression(judged(runs_of(misses, Seeds::each), runs_of(reached, Seeds::each), Metric::time_to_target)));
  const auto one = judged(runs_of(misses, Seeds::one), runs_of(reached, Seeds::one), Metric::time_to_target);
  CHECK_FALSE(is_regression(one));
  CHECK_THAT(sentence_of(one), StartsWith("for this one seed: A is slower to the target, p = "));
}

TEST_CASE("a ranking of trainings with one seed excludes nobody and says why")
{
  const auto one = ranked(Seeds::one, Metric::time_to_target);
  CHECK(may_be_best(one).size() == 2);
  CHECK(std::isnan(one.ranked[1].adjusted_p));
  CHECK_THAT(sentence_of(one), StartsWith("Undecided by time to target at 2 ranks: for this one seed a is ahead, ") &&
                                   Contains("study.vary_seed: true"));
  CHECK(may_be_best(ranked(Seeds::each, Metric::time_to_target)).size() == 1);
  CHECK(may_be_best(ranked(Seeds::one, Metric::throughput)).size() == 1);
  const std::vector standings{ranked(Seeds::one, Metric::throughput), one};
  CHECK_THAT(sentence_of(verdict_text(standings, {})),
             Contains("for this one seed a is ahead") && Contains("a is the best of 2 by throughput"));
}

TEST_CASE("studies that were measured apart are at most different in these runs where nothing tells how far such studies differ")
{
  const auto apart = apart_of(day_apart(), {});
  const auto found = across_studies(judged(runs_of(slow, Seeds::each), runs_of(fast, Seeds::each), Metric::throughput), apart);
  CHECK(found.comparison.verdict == Verdict::cannot_tell);
  CHECK(word_of(found) == "different in these runs");
  CHECK_THAT(sentence_of(found), StartsWith("different in these runs: -50.") &&
                                     Contains("the studies are 1d apart, and how far") &&
                                     EndsWith("--against-now runs both again, interleaved, and compares those runs"));
  CHECK_FALSE(is_regression(found));
  const auto alike =
      across_studies(judged(runs_of(steady, Seeds::each), runs_of(steady, Seeds::each), Metric::throughput), apart);
  CHECK(word_of(alike) == "alike in these runs");
  const auto accuracy = across_studies(judged(runs_of(slow, Seeds::each), runs_of(fast, Seeds::each), Metric::accuracy), apart);
  CHECK(accuracy.comparison.verdict == Verdict::faster);
}

TEST_CASE("sides that were measured together keep their verdict")
{
  auto together = day_apart();
  together.is_together = true;
  const auto found =
      across_studies(judged(runs_of(slow, Seeds::each), runs_of(fast, Seeds::each), Metric::throughput), apart_of(together, {}));
  CHECK(found.comparison.verdict == Verdict::slower);
  CHECK(is_regression(found));
}

TEST_CASE("where studies of the same work reach as far apart, their scatter widens the interval and the verdict stands")
{
  const auto plain = judged(runs_of(slow, Seeds::each), runs_of(fast, Seeds::each), Metric::throughput);
  const auto found = across_studies(plain, apart_of(day_apart(), three_studies(2)));
  CHECK(found.between.studies == 3);
  CHECK(found.comparison.verdict == Verdict::slower);
  CHECK(found.comparison.interval.high > plain.comparison.interval.high);
  CHECK_THAT(sentence_of(found), Contains("with the scatter between 3 studies (9.5 %)"));
  const auto near =
      across_studies(judged(runs_of({10.5, 10.6, 10.4}, Seeds::each), runs_of(fast, Seeds::each), Metric::throughput),
                     apart_of(day_apart(), three_studies(2)));
  CHECK(near.comparison.verdict == Verdict::cannot_tell);
  CHECK_THAT(sentence_of(near), StartsWith("cannot tell: -4.8 %") && Contains("--against-now"));
}

TEST_CASE("studies of the same work do not count if they lie too near, on the same hosts, or on another kind of machine")
{
  CHECK_THAT(apart_of(day_apart(), three_studies(0.5)).limit.why, Contains("the 3 studies of the same work lie within 12h"));
  auto elsewhere = day_apart();
  elsewhere.other_hosts = true;
  CHECK_THAT(apart_of(elsewhere, three_studies(2)).limit.why, Contains("on other hosts") && Contains("ran on the same hosts"));
  auto other_kind = day_apart();
  other_kind.is_same_kind = false;
  CHECK(apart_of(other_kind, three_studies(2)).limit.is_set());
  auto unknown = day_apart();
  unknown.apart_s = std::nan("");
  CHECK(apart_of(unknown, three_studies(2)).limit.is_set());
}

TEST_CASE("a test by ranks across studies is no verdict")
{
  const double miss = std::numeric_limits<double>::infinity();
  const auto plain = judged(runs_of(Values(5, miss), Seeds::each), runs_of({1, 2, 3, 4, 5}, Seeds::each), Metric::time_to_target);
  const auto found = across_studies(plain, apart_of(day_apart(), three_studies(2)));
  CHECK_FALSE(is_regression(found));
  CHECK_THAT(sentence_of(found), StartsWith("different in these runs: A is slower to the target") && Contains("a test by ranks"));
}
