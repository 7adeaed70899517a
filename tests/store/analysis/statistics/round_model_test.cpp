#include "store/analysis/statistics/candidate_set.hpp"

#include "store/analysis/statistics/round_model.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

using Values = std::vector<double>;

// The first runs of rounds 1, 2, …
Candidate in_rounds(std::string name, Values values)
{
  Candidate candidate{std::move(name), std::move(values)};
  for (std::size_t i = 0; i < candidate.values.size(); ++i) candidate.blocks.push_back("round " + std::to_string(i + 1));
  return candidate;
}

// Candidates with these scatters, measured in rounds that scatter, too. The first is ahead by `lead`.
std::vector<Candidate> drawn(std::mt19937_64& random, const Values& deviations, std::size_t rounds, double of_rounds, double lead)
{
  std::normal_distribution<double> normal;
  Values effects;
  for (std::size_t round = 0; round < rounds; ++round) effects.push_back(of_rounds * normal(random));
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < deviations.size(); ++i) {
    Values values;
    for (const double effect : effects)
      values.push_back(100 * std::exp((i == 0 ? lead : 0) + effect + deviations[i] * normal(random)));
    candidates.push_back(in_rounds(std::to_string(i), std::move(values)));
  }
  return candidates;
}

// Share of 2,000 draws in which the interval of the first two candidates holds the truth.
double coverage(const Values& deviations, std::size_t rounds, double of_rounds)
{
  std::mt19937_64 random(7);
  int covered = 0;
  constexpr int draws = 2000;
  for (int draw = 0; draw < draws; ++draw) {
    const auto candidates = drawn(random, deviations, rounds, of_rounds, 0.05);
    const auto interval = CandidateSet(candidates, Scale::ratio).compare(0, 1, {}).interval;
    covered += interval.low <= std::exp(0.05) && std::exp(0.05) <= interval.high;
  }
  return covered / static_cast<double>(draws);
}

const std::vector<Candidate> four{in_rounds("a", {100, 90, 80, 70}), in_rounds("b", {102, 91, 82, 71}),
                                  in_rounds("c", {97, 88.5, 77, 68.5}), in_rounds("d", {99, 88, 79, 70})};

// By hand: value less the candidate's and the round's mean, plus the mean of all. Sums of squares by candidate.
Values residual_sums(const std::vector<Candidate>& candidates)
{
  const std::size_t count = candidates.size(), rounds = candidates.front().values.size();
  Values of_candidate(count), of_round(rounds), sums(count);
  double mean = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t r = 0; r < rounds; ++r) {
      const double log = std::log(candidates[i].values[r]);
      of_candidate[i] += log / static_cast<double>(rounds);
      of_round[r] += log / static_cast<double>(count);
      mean += log / static_cast<double>(count * rounds);
    }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t r = 0; r < rounds; ++r)
      sums[i] += std::pow(std::log(candidates[i].values[r]) - of_candidate[i] - of_round[r] + mean, 2);
  return sums;
}

double sum_of(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

} // namespace

TEST_CASE("three or more candidates in common rounds that scatter alike share the variance of the two-way residuals")
{
  const auto test = RoundModel(four, Scale::ratio).test(2, 0);
  CHECK(test.design == Design::pooled);
  CHECK(test.within.freedom == Approx(9)); // (4 - 1)(4 - 1)
  CHECK(test.within.freedom_per_round == Approx(3));
  CHECK(test.within.price == 1); // residuals chose it, and not the difference
  const double squares = sum_of(residual_sums(four));
  CHECK(test.within.variance == Approx(squares / 9));
  CHECK(test.estimate.value == Approx(log_moments(four[2].values).mean - log_moments(four[0].values).mean));
  CHECK(test.estimate.standard_error == Approx(std::sqrt(2 * squares / 9 / 4)));
}

TEST_CASE("the more unlike candidates scatter, the more a pair's own residuals count")
{
  // Three rounds, in which a and b scatter more than c to f.
  const std::vector<Candidate> unlike{in_rounds("a", {100, 118, 90}),    in_rounds("b", {109, 97, 118}),
                                      in_rounds("c", {100, 101, 100.5}), in_rounds("d", {99, 100.2, 100}),
                                      in_rounds("e", {101, 100, 100.7}), in_rounds("f", {100, 99.5, 101})};
  const RoundModel model(unlike, Scale::ratio);
  const double unlikeness = model.scatter().unlikeness / model.scatter().unlikeness_freedom;
  REQUIRE(unlikeness > 1);
  const auto sums = residual_sums(unlike);
  const double mean = sum_of(sums) / 10, of_one = 10.0 / 6; // degrees of freedom of all residuals, and of one candidate's
  const auto variance = [&](std::size_t a, std::size_t b, double needs) {
    const double own = (5 * (sums[a] + sums[b]) / of_one / 2 - mean) / 4, weight = 1 - needs / unlikeness;
    return weight * std::max(0.0, own) + (1 - weight) * mean;
  };
  CHECK(model.test(0, 1).within.variance == Approx(variance(0, 1, RoundModel::larger_needs)));
  CHECK(model.test(2, 3).within.variance == Approx(variance(2, 3, 1)));
  const double weight = 1 - 1 / unlikeness, own_freedom = 2 * 2 * 4 / 5.0;
  CHECK(model.test(2, 3).within.freedom == Approx(1 / (weight / own_freedom + (1 - weight) / 10)));
}

TEST_CASE("a missing run leaves its round to the others, and rounds of candidates that have none in common are not joined")
{
  auto candidates = four;
  candidates[2].values.erase(candidates[2].values.begin() + 1);
  candidates[2].blocks.erase(candidates[2].blocks.begin() + 1);
  const auto test = RoundModel(candidates, Scale::ratio).test(2, 0);
  CHECK(test.design == Design::pooled);
  CHECK(test.within.freedom == Approx(8));
  CHECK(test.left_out == 1);
  CHECK(test.a.count == 3);
  auto apart = four;
  for (const std::size_t i : {1U, 3U})
    for (auto& block : apart[i].blocks) block = "other " + block;
  // Two separate designs of 2 apart and 4 rounds: 3 degrees of freedom each.
  CHECK(RoundModel(apart, Scale::ratio).test(2, 0).within.freedom == Approx(6));
  CHECK(RoundModel(apart, Scale::ratio).test(1, 0).design == Design::independent);
}

TEST_CASE("many runs of candidates that scatter differently do not share a variance")
{
  std::mt19937_64 random(1);
  const auto design = [&](const Values& deviations, std::size_t rounds) {
    return RoundModel(drawn(random, deviations, rounds, 0.01, 0), Scale::ratio).test(0, 1).design;
  };
  const Values unlike{0.1, 0.02, 0.02, 0.02, 0.02, 0.02};
  CHECK(design(unlike, 8) != Design::pooled);
  CHECK(design(unlike, 5) == Design::pooled); // a few runs can be alike by chance
  CHECK(design(Values(6, 0.02), 8) == Design::pooled);
}

TEST_CASE("two candidates are compared within rounds if that decides, in spite of its price")
{
  const std::vector<Candidate> drifting{in_rounds("a", {100, 80, 60, 40}), in_rounds("b", {105, 84.2, 63.1, 42})};
  CHECK(RoundModel(drifting, Scale::ratio).test(0, 1).design == Design::paired);
  CHECK(RoundModel(drifting, Scale::ratio).test(0, 1).within.price == RoundModel::paired_price);
  auto ladder = drifting;
  for (auto& candidate : ladder)
    for (auto& block : candidate.blocks) block = "l17 " + block.substr(6);
  CHECK(RoundModel(ladder, Scale::ratio).test(0, 1).within.price == 1); // planned
  const std::vector<Candidate> steady{in_rounds("a", {100, 102, 99, 101}), in_rounds("b", {105, 103, 106, 104})};
  CHECK(RoundModel(steady, Scale::ratio).test(0, 1).design == Design::independent);
}

TEST_CASE("intervals within rounds hold the truth in 95 of 100 studies, with a drift and without")
{
  for (const double of_rounds : {0.0, 0.01, 0.05}) {
    CHECK(coverage({0.02, 0.02}, 3, of_rounds) > 0.935);
    CHECK(coverage({0.02, 0.02, 0.02, 0.02, 0.02, 0.02}, 3, of_rounds) == Approx(0.965).margin(0.02));
    CHECK(coverage({0.04, 0.02, 0.04, 0.02, 0.04, 0.02}, 5, of_rounds) > 0.93);
  }
}

TEST_CASE("rounds find a difference that a drift would hide")
{
  std::mt19937_64 random(3);
  int found = 0, found_without = 0;
  for (int draw = 0; draw < 500; ++draw) {
    auto candidates = drawn(random, Values(6, 0.02), 3, 0.05, 0.05);
    found += CandidateSet(candidates, Scale::ratio).compare(0, 1, {}).verdict == Verdict::faster;
    for (auto& candidate : candidates) candidate.blocks.clear();
    found_without += CandidateSet(candidates, Scale::ratio).compare(0, 1, {}).verdict == Verdict::faster;
  }
  CHECK(found > 230);
  CHECK(found_without < 60);
}

TEST_CASE("few runs that are alike by chance are no proof where the other candidates scatter")
{
  // A machine with two speeds: all runs of a were slow, all of b fast.
  const std::vector<Candidate> two_speeds{
      in_rounds("a", {95, 95.4, 94.7, 95.1, 95.2}),    in_rounds("b", {100.1, 99.8, 100.3, 99.7, 100}),
      in_rounds("c", {95.1, 100.2, 99.6, 94.8, 99.9}), in_rounds("d", {100, 95.3, 94.9, 100.3, 95}),
      in_rounds("e", {94.9, 99.8, 95.2, 99.9, 100.2}), in_rounds("f", {100.1, 94.7, 100, 95.2, 95.1})};
  const RoundModel model(two_speeds, Scale::ratio);
  CHECK(model.test(1, 0).p() > 1e-4);
  CHECK(RoundModel({two_speeds.data(), 2}, Scale::ratio).test(1, 0).p() < 1e-6);
}

TEST_CASE("deterministic values are compared by their difference alone")
{
  const std::vector<Candidate> simulated{{.name = "a", .values = {100}, .is_exact = true},
                                         {.name = "b", .values = {103, 103}, .is_exact = true}};
  const CandidateSet set(simulated, Scale::ratio);
  const auto comparison = set.compare(1, 0, {});
  CHECK(comparison.design == Design::exact);
  CHECK(comparison.verdict == Verdict::faster);
  CHECK(std::isnan(comparison.p));
  CHECK(std::isnan(comparison.interval.low));
  CHECK(set.compare(1, 0, {.margin = 0.05}).verdict == Verdict::equivalent);
  CHECK(set.test(1, 0, {}).a_is_better);
  CHECK(more_repeats(comparison).per_side == 0);
}

TEST_CASE("measured runs that do not scatter, or were measured one after the other, are no certainty")
{
  const std::vector<Candidate> rounded{{"a", {100, 100, 100}}, {"b", {101, 101, 101}}};
  const auto comparison = CandidateSet(rounded, Scale::ratio).compare(1, 0, {});
  CHECK(comparison.has_no_scatter);
  CHECK(comparison.verdict == Verdict::cannot_tell);
  CHECK(std::isnan(comparison.p));
  CHECK_FALSE(more_repeats(comparison).known);
  std::vector<Candidate> candidates{{"a", {100, 101, 102}}, {"b", {120, 121, 122}}};
  candidates[0].begins_unix_s = {1000, 1020, 1040};
  candidates[1].begins_unix_s = {1010, 1030, 1050};
  CHECK(CandidateSet(candidates, Scale::ratio).test(1, 0, {}).p.difference < 0.001);
  candidates[1].begins_unix_s = {1061, 1081, 1101};
  CHECK(std::isnan(CandidateSet(candidates, Scale::ratio).test(1, 0, {}).p.difference));
}
