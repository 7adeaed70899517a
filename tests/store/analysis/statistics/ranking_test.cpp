#include "store/analysis/statistics/ranking.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;
using namespace dt::store;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

// Of pairs without a margin.
std::vector<double> adjusted(const std::vector<double>& p)
{
  std::vector<PairOfP> pairs;
  for (const double one : p) pairs.push_back({one, nan_value});
  std::vector<double> all;
  for (const auto& pair : adjusted_pairs(pairs)) all.push_back(pair.difference);
  return all;
}

std::vector<std::string> names(const std::vector<Ranked>& ranked)
{
  std::vector<std::string> all;
  for (const auto& row : ranked) all.push_back(row.name);
  return all;
}

std::vector<std::string> may_be_best(const std::vector<Ranked>& ranked)
{
  std::vector<std::string> all;
  for (const auto& row : ranked)
    if (row.excluded_by.empty()) all.push_back(row.name);
  return all;
}

using Names = std::vector<std::string>;

const std::vector<Candidate> three{{"slow", {50, 51, 52, 49}}, {"fast", {101, 103, 99, 102}}, {"close", {100, 101, 102, 98}}};

std::vector<std::size_t> pareto(const std::vector<Criteria>& points, Better first, Better second)
{
  return pareto_set(points, first, second);
}

// The first runs of rounds 1, 2, …
Candidate in_rounds(std::string name, std::vector<double> values)
{
  Candidate candidate{std::move(name), std::move(values)};
  for (std::size_t i = 0; i < candidate.values.size(); ++i) candidate.blocks.push_back("round " + std::to_string(i + 1));
  return candidate;
}

// So many candidates with so many values each, all of them alike but the first, which is better.
std::vector<Candidate> many(std::size_t count, std::size_t values)
{
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < count; ++i) {
    candidates.push_back({std::to_string(i), {}});
    for (std::size_t k = 0; k < values; ++k) candidates.back().values.push_back((i == 0 ? 200 : 100) * std::exp(noise(random)));
  }
  return candidates;
}

// Whether the work is done by a process that may not have more than so many bytes beyond those that this one has.
template<class Work> bool fits_into(std::size_t bytes, Work work)
{
  const pid_t child = ::fork();
  if (child == 0) {
    std::FILE* statm = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (statm == nullptr || std::fscanf(statm, "%lu", &pages) != 1) ::_exit(2);
    const rlim_t limit = pages * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit limits{limit, limit};
    ::setrlimit(RLIMIT_AS, &limits);
    try {
      ::_exit(work() ? 0 : 1);
    } catch (const std::bad_alloc&) {
      ::_exit(3);
    }
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

} // namespace

TEST_CASE("Holm's adjusted p values are those computed by hand, and a comparison that was not possible does not count")
{
  const auto p = adjusted({0.01, 0.04, 0.03, 0.005}); // 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04 is not below the one before it
  CHECK(p[0] == Approx(0.03));
  CHECK(p[1] == Approx(0.06));
  CHECK(p[2] == Approx(0.06));
  CHECK(p[3] == Approx(0.02));
  CHECK(adjusted({0.6, 0.7}) == std::vector<double>{1, 1});
  CHECK(adjusted({0.04}) == std::vector<double>{0.04});
  CHECK(adjusted({}).empty());
  const auto partly = adjusted({0.02, nan_value, 0.5});
  CHECK(partly[0] == Approx(0.04));
  CHECK(std::isnan(partly[1]));
  CHECK(partly[2] == 0.5);
}

TEST_CASE("a ranking excludes the candidate that is clearly slower and keeps the one that is close, and of times has the "
          "smallest first")
{
  const auto ranked = ranking(three, {});
  CHECK(names(ranked) == Names{"fast", "close", "slow"});
  CHECK(may_be_best(ranked) == Names{"fast", "close"});
  CHECK(ranked[2].excluded_by == "fast");
  CHECK(ranked[0].centre == Approx(std::pow(101.0 * 103 * 99 * 102, 0.25)));
  CHECK_FALSE(ranked[0].with_best);
  CHECK(ranked[2].with_best->effect == Approx(ranked[2].centre / ranked[0].centre));
  CHECK(ranked[2].with_best->verdict == Verdict::slower);
  const auto times = ranking(three, {.better = Better::smaller});
  CHECK(names(times) == Names{"slow", "close", "fast"});
  CHECK(may_be_best(times) == Names{"slow"});
}

TEST_CASE("adjusted p values count all pairs, because the best is chosen after a look at the runs")
{
  const auto ranked = ranking(three, {});
  const auto p = [&](std::size_t a, std::size_t b) { return compare_ratio(three[a].values, three[b].values, {}).p; };
  const auto all = adjusted({p(0, 1), p(2, 1), p(0, 2)}); // slow and fast, close and fast, slow and close
  CHECK(ranked[2].adjusted_p == Approx(all[0]));
  CHECK(ranked[1].adjusted_p == Approx(all[1]));
  CHECK(ranked[0].adjusted_p == 1);
  CHECK(ranked[2].adjusted_p > p(0, 1));
}

TEST_CASE("the order of the candidates and the unit of the values do not change a ranking")
{
  const auto ranked = ranking(three, {});
  auto other = std::vector<Candidate>{three[2], three[0], three[1]};
  for (auto& candidate : other)
    for (auto& value : candidate.values) value *= 1000;
  const auto again = ranking(other, {});
  CHECK(names(again) == names(ranked));
  for (std::size_t i = 0; i < ranked.size(); ++i) CHECK(again[i].adjusted_p == Approx(ranked[i].adjusted_p));
}

TEST_CASE("a lucky candidate with too few runs neither excludes others nor protects them")
{
  auto candidates = three;
  candidates.push_back({"lucky", {200}});
  candidates.push_back({"absent", {}});
  const auto ranked = ranking(candidates, {});
  CHECK(names(ranked) == Names{"lucky", "fast", "close", "slow", "absent"});
  CHECK(may_be_best(ranked) == Names{"lucky", "fast", "close", "absent"});
  CHECK(ranked[3].excluded_by == "fast");
  CHECK(std::isnan(ranked[3].adjusted_p));
  CHECK(std::isnan(ranked[4].centre));
}

TEST_CASE("a ranking of times with misses uses the rank test, and candidates without misses are compared as before")
{
  const std::vector<Candidate> times{{"rare", {6, 7, infinity, infinity, infinity}}, {"sure", {1, 2, 3, 4, 5}}};
  const auto ranked = ranking(times, {}, Scale::time_to_target);
  CHECK(names(ranked) == Names{"sure", "rare"});
  CHECK(ranked[1].with_best->method == Method::ranks);
  CHECK(ranked[1].excluded_by == "sure");
  CHECK(std::isinf(ranked[1].centre));
  const auto plain = ranking(three, {.better = Better::smaller}), same = ranking(three, {}, Scale::time_to_target);
  CHECK(names(plain) == names(same));
  CHECK(plain[2].adjusted_p == Approx(same[2].adjusted_p));
}

TEST_CASE("candidates of a ladder are ranked by their differences within blocks")
{
  std::vector<Candidate> ladder{{"slower", {100, 80, 60, 40}, {"1", "2", "3", "4"}},
                                {"faster", {105, 84, 63.1, 42}, {"1", "2", "3", "4"}}};
  CHECK(may_be_best(ranking(ladder, {})) == Names{"faster"});
  ladder[0].blocks.clear();
  CHECK(may_be_best(ranking(ladder, {})).size() == 2);
}

TEST_CASE("a ranking keeps what it tells, not every pair of candidates")
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr std::size_t enough = 64 << 20; // all pairs of 20,000 candidates have 200 million p values
  CHECK(fits_into(enough, [] { return ranking(many(20000, 1), {}).size() == 20000; }));
  CHECK(fits_into(enough, [] { return may_be_best(ranking(many(20000, 6), {})).size() < 1000; }));
#endif
}

TEST_CASE("candidates that cannot be tested do not change the p values of the others, however many they are")
{
  auto candidates = three;
  for (auto& candidate : many(600, 2)) candidates.push_back(std::move(candidate));
  const auto few = ranking(three, {}), all = ranking(candidates, {});
  const auto row_of = [&](const std::vector<Ranked>& ranked, const std::string& name) {
    return *std::find_if(ranked.begin(), ranked.end(), [&](const Ranked& row) { return row.name == name; });
  };
  CHECK(row_of(all, "slow").excluded_by == "fast");
  CHECK(all.at(*row_of(all, "slow").excluder).name == "fast");
  CHECK(row_of(all, "close").excluded_by.empty());
  CHECK(row_of(few, "slow").excluded_by == "fast");
  CHECK(std::isnan(row_of(all, "slow").adjusted_p)); // against the first, which has too few runs
}

TEST_CASE("p values of very many candidates are multiplied by the number of all pairs")
{
  const auto candidates = many(501, 6);
  const auto ranked = ranking(candidates, {});
  REQUIRE(ranked.front().name == "0");
  for (const std::size_t place : {1U, 20U, 500U}) {
    CHECK(ranked[place].adjusted_p == Approx(std::min(1.0, ranked[place].with_best->p * 501 * 500 / 2)));
    CHECK(candidates[ranked[place].candidate].name == ranked[place].name);
  }
  CHECK(may_be_best(ranked) == Names{"0"});
  CHECK(ranked[500].excluder == std::size_t{0});
}

TEST_CASE("p values of both hypotheses of a pair are adjusted together, by hand")
{
  // Of three pairs. In ascending order 0.004, 0.01, 0.02, 0.03, 0.4, 0.5; at each the number of pairs that still have a
  // hypothesis.
  const std::vector<PairOfP> pairs{{0.004, 0.4}, {0.5, 0.01}, {0.02, 0.03}};
  const auto all = adjusted_pairs(pairs);
  CHECK(all[0].difference == Approx(3 * 0.004));
  CHECK(all[1].beyond_margin == Approx(3 * 0.01));
  CHECK(all[2].difference == Approx(3 * 0.02));
  CHECK(all[2].beyond_margin == Approx(3 * 0.03)); // then this pair has none any more
  CHECK(all[0].beyond_margin == Approx(2 * 0.4));
  CHECK(all[1].difference == Approx(0.8)); // 1 x 0.5 is below the one before it
}

TEST_CASE("with a margin, candidates are the best, equivalent to it or behind, and equivalent only if each pair is")
{
  const auto ranks_of = [](double margin) {
    std::vector<Rank> ranks;
    const std::vector<Candidate> candidates{
        {"b", {101, 101.2, 101.1, 101.3}}, {"a", {100, 100.2, 100.1, 100.3}}, {"c", {70, 70.2, 70.1, 70.3}}};
    for (const auto& row : ranking(candidates, {.margin = margin})) ranks.push_back(row.rank);
    return ranks;
  };
  CHECK(ranks_of(0) == std::vector{Rank::best, Rank::behind, Rank::behind});
  CHECK(ranks_of(0.2) == std::vector{Rank::equivalent, Rank::equivalent, Rank::behind});
  CHECK(ranks_of(0.9) == std::vector{Rank::equivalent, Rank::equivalent, Rank::equivalent});
  const std::vector<Candidate> with_wild{{"b", {101, 101.2, 101.1}}, {"a", {100, 100.2, 100.1}}, {"wild", {60, 100, 150}}};
  const auto ranked = ranking(with_wild, {.margin = 0.2});
  for (const auto& row : ranked) CHECK(row.rank == Rank::open);
}

TEST_CASE("p values of several contests are adjusted together")
{
  const std::vector<Candidate> pair{three[0], three[1]};
  const auto alone = ranking(pair, {});
  const std::vector<Contestants> both{{pair, {}, Scale::ratio}, {three, {}, Scale::ratio}};
  const auto together = rankings(both);
  REQUIRE(together.size() == 2);
  CHECK(together[0][1].adjusted_p > 1.5 * alone[1].adjusted_p);
  CHECK(together[0][1].rank == Rank::behind);
}

TEST_CASE("few runs that are alike by chance exclude no one where the other sizes of the study scatter")
{
  // Two speeds: at the first of four sizes, all runs of a were slow and all of b fast.
  const std::vector<Candidate> by_chance{in_rounds("a", {95, 95.8, 94.6}), in_rounds("b", {100.4, 99.8, 101.1})},
      scattered{in_rounds("a", {95.1, 100.2, 99.6}), in_rounds("b", {100, 95.3, 94.9})},
      quiet{in_rounds("a", {95.01, 95, 95.02}), in_rounds("b", {95, 95.02, 95.01})};
  const auto rank_of_a = [&](const std::vector<Candidate>& others, Metric metric) {
    const Contestants first{by_chance, {}, Scale::ratio}, other{others, {}, Scale::ratio, metric};
    return rankings(std::vector{first, other, other, other})[0][1].rank;
  };
  CHECK(rank_of_a(scattered, Metric::throughput) == Rank::open);
  CHECK(rank_of_a(scattered, Metric::step_time) == Rank::behind); // another metric says nothing about this one
  CHECK(rank_of_a(quiet, Metric::throughput) == Rank::behind);    // sizes that scatter differently say nothing about each other
}

TEST_CASE("deterministic candidates are ranked by their values, without p values")
{
  std::vector<Candidate> simulated{{"a", {100}}, {"b", {103, 103}}, {"c", {102.9}}};
  for (auto& candidate : simulated) candidate.is_exact = true;
  const auto ranked = ranking(simulated, {});
  CHECK(names(ranked) == Names{"b", "c", "a"});
  CHECK(ranked[0].rank == Rank::best);
  CHECK(ranked[1].rank == Rank::behind);
  CHECK(std::isnan(ranked[1].adjusted_p));
  CHECK(ranking(simulated, {.margin = 0.01})[1].rank == Rank::equivalent);
}

TEST_CASE("one candidate or none is a ranking, too")
{
  CHECK(ranking({}, {}).empty());
  CHECK(may_be_best(ranking(std::vector<Candidate>{three[0]}, {})) == Names{"slow"});
}

TEST_CASE("the Pareto set holds what nothing dominates, equal points together, and no point with a NaN")
{
  const std::vector<Criteria> points{{1, 5}, {2, 3}, {3, 4}, {4, 1}, {4, 2}};
  CHECK(pareto(points, Better::smaller, Better::smaller) == std::vector<std::size_t>{0, 1, 3});
  CHECK(pareto(points, Better::larger, Better::larger) == std::vector<std::size_t>{0, 2, 4});
  CHECK(pareto(points, Better::larger, Better::smaller) == std::vector<std::size_t>{3});
  CHECK(pareto(points, Better::smaller, Better::larger) == std::vector<std::size_t>{0});
  const std::vector<Criteria> odd{{1, 2}, {1, 2}, {nan_value, 0}, {2, nan_value}, {infinity, 1}, {infinity, 3}};
  CHECK(pareto(odd, Better::smaller, Better::smaller) == std::vector<std::size_t>{0, 1, 4});
  CHECK(pareto({}, Better::smaller, Better::smaller).empty());
}

TEST_CASE("the Pareto set of any points is what a comparison of each with each finds")
{
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> figure(0, 12); // with many equal ones
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Criteria> points;
    for (int i = 0; i < 30; ++i) points.push_back({static_cast<double>(figure(random)), static_cast<double>(figure(random))});
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (std::none_of(points.begin(), points.end(), [&](const Criteria& other) {
            return other.first <= points[i].first && other.second >= points[i].second &&
                   (other.first < points[i].first || other.second > points[i].second);
          }))
        expected.push_back(i);
    CHECK(pareto(points, Better::smaller, Better::larger) == expected);
  }
}
