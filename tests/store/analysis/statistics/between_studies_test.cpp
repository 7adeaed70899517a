#include "store/analysis/statistics/between_studies.hpp"

#include "core/error.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

StudyMean study(const std::string& name, const std::vector<double>& values) { return {name, log_moments(values)}; }

// Studies with a known scatter between them and within them, both as standard deviations of logarithms.
class Truth {
 public:
  Truth(double between, double within) : between_(between), within_(within) {}
  std::vector<double> runs(std::size_t count, double log_mean = 0)
  {
    const double middle = log_mean + between_ * normal_(generator_);
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(100 * std::exp(middle + within_ * normal_(generator_)));
    return values;
  }
  RepeatedWork work(std::size_t studies, std::size_t runs_of_each)
  {
    RepeatedWork work;
    for (std::size_t i = 0; i < studies; ++i) work.push_back(study(std::to_string(i), runs(runs_of_each)));
    return work;
  }

 private:
  double between_, within_;
  std::mt19937 generator_{7};
  std::normal_distribution<double> normal_;
};

// The share of comparisons of two further studies of equals, of so many runs each, whose interval holds 1.
double coverage(Truth truth, std::size_t studies, std::size_t runs_of_each, std::size_t runs_a, std::size_t runs_b)
{
  constexpr int tries = 4000;
  int covered = 0;
  for (int i = 0; i < tries; ++i) {
    const std::vector<RepeatedWork> works{truth.work(studies, runs_of_each)};
    const auto plain = compare_ratio(truth.runs(runs_a), truth.runs(runs_b), {});
    const auto wide = across_studies(plain, between_studies_of(works));
    covered += wide.interval.low <= 1 && 1 <= wide.interval.high ? 1 : 0;
  }
  return static_cast<double>(covered) / tries;
}

} // namespace

TEST_CASE("the scatter between studies is that of their means, with one degree of freedom less than studies")
{
  const std::vector<RepeatedWork> works{{study("a", {100, 100}), study("b", {110, 110}), study("c", {121, 121})}};
  const auto between = between_studies_of(works);
  CHECK(between.deviation() == Approx(std::log(1.1)));
  CHECK(between.freedom == 2);
  CHECK(between.studies == 3);
  CHECK(between.runs == Approx(2));
  CHECK(between.within == 0);
}

TEST_CASE("works of the same studies do not count the studies twice, and works of other studies add up")
{
  const RepeatedWork one{study("a", {100}), study("b", {110}), study("c", {121})};
  const RepeatedWork same{study("a", {200}), study("b", {220}), study("c", {242})};
  const RepeatedWork other{study("d", {50}), study("e", {55})};
  CHECK(between_studies_of(std::vector<RepeatedWork>{one, same}).freedom == 2);
  CHECK(between_studies_of(std::vector<RepeatedWork>{one, same}).studies == 3);
  CHECK(between_studies_of(std::vector<RepeatedWork>{one, other}).freedom == 3);
  CHECK(between_studies_of(std::vector<RepeatedWork>{one, same}).deviation() == Approx(std::log(1.1)));
}

TEST_CASE("two studies of a work, or works of one study, are too few to know the scatter between studies")
{
  CHECK_FALSE(between_studies_of({}).is_known());
  CHECK_FALSE(between_studies_of(std::vector<RepeatedWork>{RepeatedWork{study("a", {1, 2}), study("b", {1, 2})}}).is_known());
  CHECK_FALSE(
      between_studies_of(std::vector<RepeatedWork>{RepeatedWork{study("a", {1})}, RepeatedWork{study("b", {1})}}).is_known());
  CHECK(
      between_studies_of(std::vector<RepeatedWork>{RepeatedWork{study("a", {1}), study("b", {1}), study("c", {1})}}).is_known());
}

TEST_CASE(
    "intervals across studies hold the truth in 95 of 100 cases, whether studies scatter more than their runs or do not differ")
{
  for (const std::size_t studies : {3U, 5U, 10U}) {
    INFO(studies << " studies");
    const double covered = coverage(Truth(0.03, 0.005), studies, 3, 3, 3);
    CHECK(covered > 0.94);
    CHECK(covered < 0.97);
  }
  CHECK(coverage(Truth(0, 0.02), 10, 3, 3, 3) > 0.945);
  CHECK(coverage(Truth(0.01, 0.02), 10, 10, 3, 3) > 0.94);
  CHECK(coverage(Truth(0.01, 0.02), 10, 3, 10, 3) > 0.945);
}

TEST_CASE("the plain interval of two studies that differ by chance misses the truth most of the time")
{
  Truth truth(0.03, 0.005);
  int missed = 0;
  for (int i = 0; i < 400; ++i) missed += compare_ratio(truth.runs(3), truth.runs(3), {}).verdict != Verdict::cannot_tell ? 1 : 0;
  CHECK(missed > 200);
}

TEST_CASE("a difference far beyond the scatter between studies is still found, and a comparison across studies is never narrower")
{
  Truth truth(0.01, 0.005);
  const auto between = between_studies_of(std::vector<RepeatedWork>{truth.work(6, 3)});
  const auto plain = compare_ratio(truth.runs(3, std::log(0.8)), truth.runs(3), {.margin = 0.02});
  const auto wide = across_studies(plain, between);
  CHECK(wide.verdict == Verdict::slower);
  CHECK(wide.effect == plain.effect);
  CHECK(wide.interval.low < plain.interval.low);
  CHECK(wide.interval.high > plain.interval.high);
  CHECK(wide.p >= plain.p);
  const BetweenStudies none{.variance = 0, .freedom = 5, .runs = 3, .studies = 6};
  CHECK(across_studies(plain, none).interval.low == plain.interval.low);
  CHECK(across_studies(plain, none).interval.high == plain.interval.high);
}

TEST_CASE("without an interval, or by another method, nothing is widened")
{
  const BetweenStudies between{.variance = 0.01, .freedom = 5, .runs = 3, .studies = 6};
  const std::vector<double> few{100, 101}, three{0.9, 0.91, 0.92};
  CHECK(std::isnan(across_studies(compare_ratio(few, few, {}), between).interval.low));
  CHECK_THROWS_AS(across_studies(compare_means(three, three, {}), between), Error);
  CHECK_THROWS_AS(across_studies(compare_ratio(three, three, {}), BetweenStudies{}), Error);
}

namespace {

// What a gate says of new studies of three runs whose truth is `share` of the work's: the share of them that it calls worse
// beyond 2 %, and the mean of what it says of its own power.
struct Said {
  double found = 0, promised = 0;
};

Said said(Truth truth, std::size_t studies, double share)
{
  constexpr int tries = 4000;
  Said all;
  for (int i = 0; i < tries; ++i) {
    const auto gate = gate_of({.works = {truth.work(studies, 3)}});
    const auto plain = compare_ratio(truth.runs(3, std::log(share)), truth.runs(3), {.margin = 0.02});
    const auto judged = against_gate(plain, gate);
    all.found += is_regression(judged) ? 1.0 / tries : 0;
    all.promised += power_of(gate, judged, share) / tries;
  }
  return all;
}

} // namespace

TEST_CASE("a gate gives a false alarm in at most 1 % of the cases, however much the studies scatter")
{
  for (const double between : {0.001, 0.02, 0.1})
    for (const std::size_t studies : {3U, 5U, 10U}) {
      INFO(between << " between " << studies << " studies");
      CHECK(said(Truth(between, 0.01), studies, 1).found < 0.015); // three standard errors of 4,000 tries above it
    }
}

TEST_CASE(
    "a gate finds a halved throughput with three earlier studies, -10 % with five in 80 of 100, and what it says of its power")
{
  CHECK(said(Truth(0.02, 0.01), 3, 0.5).found > 0.99);
  CHECK(said(Truth(0.018, 0.01), 5, 0.9).found > 0.8);
  CHECK(said(Truth(0.02, 0.01), 10, 0.9).found > 0.9);
  for (const double share : {0.95, 0.9, 0.85}) {
    const auto [found, promised] = said(Truth(0.02, 0.01), 8, share);
    INFO(share << " " << found << " " << promised);
    CHECK(std::abs(found - promised) < 0.12); // it knows the scatter by eight studies only
  }
}

TEST_CASE("a gate compares with the mean of the studies, also one run, and not with studies that do not scatter")
{
  const RepeatedWork work{study("a", {100, 102}), study("b", {110, 112}), study("c", {121, 123})};
  const auto gate = gate_of({.works = {work}});
  CHECK(gate.studies == 3);
  const std::vector<double> one{50}, three{50, 51, 52}, reference{100, 102};
  CHECK(against_gate(compare_ratio(one, reference, {}), gate).effect == Approx(50 / std::exp(gate.mean)));
  CHECK(against_gate(compare_ratio(one, reference, {}), gate).verdict == Verdict::slower);
  CHECK(against_gate(compare_ratio(three, reference, {}), gate).verdict == Verdict::slower);
  CHECK_FALSE(gate_of({}).is_known());
  CHECK_THROWS_AS(against_gate(compare_ratio(three, three, {}), Gate{}), Error);
}
