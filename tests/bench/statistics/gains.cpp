// What comparisons within rounds gain: six candidates, three repeats, a true lead of 5 %, with the rounds and without them.
#include "store/analysis/statistics/candidate_set.hpp"
#include "store/analysis/statistics/ranking.hpp"
#include "tests/bench/statistics/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace dt::bench {
namespace {

using namespace dt::store;

constexpr std::size_t candidates = 6, repeats = 3;

enum class Measure {
  pair,   // the first two candidates, compared alone: power is the share of studies that find the lead
  ranking // all candidates, corrected for all pairs: power is the share of the others that are excluded
};

// Noise and drift (over the study, linear) are such that without rounds, with Welch's t, the lead is found in 49 % of studies
// without a drift and in 3 % with it.
struct Setting {
  Measure measure;
  double noise, drift;
};
constexpr std::array settings{Setting{Measure::pair, 0.0204, 0}, Setting{Measure::pair, 0.0204, 0.113},
                              Setting{Measure::ranking, 0.00825, 0}, Setting{Measure::ranking, 0.00825, 0.0415}};

std::vector<Candidate> measured(const Setting& setting, test::Draws& draws)
{
  std::vector<Candidate> all(candidates);
  for (std::size_t i = 0; i < candidates; ++i) all[i].name = std::to_string(i);
  double share = 0; // of the study that has run
  for (std::size_t round = 0; round < repeats; ++round)
    for (const auto i : draws.order(candidates)) {
      all[i].values.push_back(1000 * std::exp(setting.noise * draws.normal() + std::log(1 - setting.drift) * share));
      all[i].blocks.push_back("round " + std::to_string(round));
      share += 1.0 / static_cast<double>(candidates * repeats);
    }
  return all;
}

std::vector<Candidate> without_rounds(std::vector<Candidate> all)
{
  for (auto& candidate : all) candidate.blocks.clear();
  return all;
}

std::vector<Candidate> with_lead(std::vector<Candidate> all)
{
  for (auto& value : all.front().values) value *= 1.05;
  return all;
}

double power(Measure measure, const std::vector<Candidate>& led)
{
  if (measure == Measure::pair) return CandidateSet(led, Scale::ratio).compare(0, 1, {}).verdict == Verdict::faster ? 1 : 0;
  const auto ranked = ranking(led, {});
  const auto excluded = std::count_if(ranked.begin(), ranked.end(),
                                      [](const Ranked& row) { return row.candidate > 0 && !row.excluded_by.empty(); });
  return static_cast<double>(excluded) / (candidates - 1);
}

bool is_wrong(Measure measure, const std::vector<Candidate>& equals)
{
  if (measure == Measure::pair) return CandidateSet(equals, Scale::ratio).compare(0, 1, {}).verdict != Verdict::cannot_tell;
  const auto ranked = ranking(equals, {});
  return std::any_of(ranked.begin(), ranked.end(), [](const Ranked& row) { return !row.excluded_by.empty(); });
}

Json row_of(const Setting& setting, int trials, test::Draws& draws)
{
  Json row{{"case", "gains of rounds: six candidates, three repeats, a lead of 5 %"},
           {"compared", setting.measure == Measure::pair ? "two of them" : "all in a ranking"},
           {"noise", setting.noise},
           {"drift", setting.drift}};
  double before = 0, after = 0, wrong_before = 0, wrong_after = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto equals = measured(setting, draws);
    before += power(setting.measure, without_rounds(with_lead(equals)));
    after += power(setting.measure, with_lead(equals));
    wrong_before += is_wrong(setting.measure, without_rounds(equals)) ? 1 : 0;
    wrong_after += is_wrong(setting.measure, equals) ? 1 : 0;
  }
  row["power without rounds"] = before / trials;
  row["power in rounds"] = after / trials;
  row["false without rounds"] = wrong_before / trials;
  row["false in rounds"] = wrong_after / trials;
  return row;
}

} // namespace

void report_gains(Report& report, const BenchOptions& options)
{
  const int trials = 5 * options.trials; // they are fast
  report_cases(report, options, settings.size(),
               [&](std::size_t i, test::Draws& draws) { return row_of(settings[i], trials, draws); });
}

} // namespace dt::bench
