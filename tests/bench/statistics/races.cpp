// Races of `sweep --until-decided` whose truth is known: how often they are wrong, how often they find the leader, and the runs
// that they spend, beside a study with a fixed number of repeats.
#include "tests/bench/statistics/report.hpp"
#include "tests/support/simulated_race.hpp"

#include <utility>
#include <vector>

namespace dt::bench {
namespace {

using namespace dt::store;

struct RaceCase {
  test::MachineKind machine;
  bool has_nodes;
  std::size_t candidates, sizes;
};

std::vector<RaceCase> race_cases()
{
  std::vector<RaceCase> cases;
  for (const std::size_t candidates : {2, 6})
    for (const std::size_t sizes : {1, 4})
      for (const bool has_nodes : {false, true})
        for (const auto machine : test::machine_kinds) cases.push_back({machine, has_nodes, candidates, sizes});
  return cases;
}

// At each size the first candidate is better than the others, which are equal, by `lead`.
struct RaceOutcome {
  bool is_wrong = false;     // a leader was dropped; with a lead of 0, any candidate was
  bool finds_leader = false; // at each size only the leader is left
  double runs = 0;           // mean of a candidate at a size
};

RaceOutcome outcome_of(const std::vector<RacePoint>& points, const Race& race, std::size_t candidates, double lead)
{
  RaceOutcome outcome{.finds_leader = true};
  for (std::size_t i = 0; i < points.size(); ++i) {
    outcome.runs += static_cast<double>(points[i].values.size()) / static_cast<double>(points.size());
    const bool is_dropped = race.standings[i].reason.starts_with("worse than"), is_leader = i % candidates == 0;
    if (is_dropped && (is_leader || lead == 0)) outcome.is_wrong = true;
    if (is_dropped == is_leader) outcome.finds_leader = false;
  }
  return outcome;
}

RaceOutcome race_once(const RaceCase& studied, const RaceRule& rule, double lead, test::Draws& draws)
{
  auto points = test::rivals(studied.candidates, studied.sizes);
  test::SimulatedMachine machine(studied.machine, studied.has_nodes, points.size() * static_cast<std::size_t>(rule.most), draws);
  const auto race = test::run_race(points, rule, draws, [&](std::size_t i) {
    const auto candidate = i % studied.candidates;
    return (candidate == 0 ? 1 + lead : 1) * 1000 * machine.next(candidate);
  });
  return outcome_of(points, race, studied.candidates, lead);
}

struct RaceShares {
  double wrong = 0, finds_leader = 0, runs = 0;
};

RaceShares shares_of(const RaceCase& studied, const RaceRule& rule, double lead, int trials, test::Draws& draws)
{
  RaceShares shares;
  for (int trial = 0; trial < trials; ++trial) {
    const auto outcome = race_once(studied, rule, lead, draws);
    shares.wrong += (outcome.is_wrong ? 1.0 : 0.0) / trials;
    shares.finds_leader += (outcome.finds_leader ? 1.0 : 0.0) / trials;
    shares.runs += outcome.runs / trials;
  }
  return shares;
}

Json row_of(const RaceCase& studied, int trials, test::Draws& draws)
{
  const RaceRule rule;
  const auto equals = shares_of(studied, rule, 0, trials, draws), led = shares_of(studied, rule, 0.05, trials, draws);
  return {{"case", "races, 3 to 12 repeats"},
          {"machine", name_of(studied.machine)},
          {"nodes", studied.has_nodes ? 4 : 1},
          {"candidates", studied.candidates},
          {"sizes", studied.sizes},
          {"wrong, equals", equals.wrong},
          {"runs, equals", equals.runs},
          {"wrong, lead 5 %", led.wrong},
          {"finds the leader", led.finds_leader},
          {"runs, lead 5 %", led.runs}};
}

// The repeats with which a study with a fixed number of them, judged by the same tests at the same error, finds the leader as
// often: between the last number that does not and the first that does.
double fixed_repeats(const RaceCase& studied, double lead, double power, int trials, test::Draws& draws)
{
  double below = 0;
  for (std::int64_t repeats = 3; repeats < 30; ++repeats) {
    const auto found = shares_of(studied, {.first = repeats, .most = repeats}, lead, trials, draws).finds_leader;
    if (found >= power) return repeats == 3 ? 3 : static_cast<double>(repeats - 1) + (power - below) / (found - below);
    below = found;
  }
  return 30;
}

Json saving_of(std::size_t candidates, double lead, int trials, test::Draws& draws)
{
  const RaceCase studied{test::MachineKind::equal, false, candidates, 1};
  const auto raced = shares_of(studied, {}, lead, trials, draws);
  const auto fixed = fixed_repeats(studied, lead, raced.finds_leader, trials, draws);
  return {{"case", "races beside studies with a fixed number of repeats that find the leader as often"},
          {"candidates", candidates},
          {"lead", lead},
          {"finds the leader", raced.finds_leader},
          {"runs, race", raced.runs},
          {"runs, fixed", fixed},
          {"saved", 1 - raced.runs / fixed}};
}

} // namespace

void report_races(Report& report, const BenchOptions& options)
{
  const auto cases = race_cases();
  report_cases(report, options, cases.size(),
               [&](std::size_t i, test::Draws& draws) { return row_of(cases[i], options.trials, draws); });
  const std::vector<std::pair<std::size_t, double>> led{{2, 0.05}, {2, 0.1}, {6, 0.05}, {6, 0.1}};
  report_cases(report, options, led.size(),
               [&](std::size_t i, test::Draws& draws) { return saving_of(led[i].first, led[i].second, options.trials, draws); });
}

} // namespace dt::bench
