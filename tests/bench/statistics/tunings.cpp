// Searches of study.tune on surfaces whose optimum is known, and verdicts on candidates that were tuned.
#include "store/analysis/statistics/comparison.hpp"
#include "tests/bench/statistics/report.hpp"
#include "tests/support/simulated_surface.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace dt::bench {
namespace {

using namespace dt::store;

struct TuningCase {
  std::size_t keys;
  bool has_cliff;
  double bend, noise;
};

std::vector<TuningCase> tuning_cases()
{
  std::vector<TuningCase> cases;
  for (const std::size_t keys : {1, 2})
    for (const bool has_cliff : {false, true})
      for (const double bend : {0.5, 1.3, 5.0})
        for (const double noise : {0.02, 0.05, 0.1, 0.2}) cases.push_back({keys, has_cliff, bend, noise});
  return cases;
}

// The optimum lies anywhere in the range, and once in ten studies up to half a decade outside.
test::Surface surface_of(const TuningCase& studied, test::Draws& draws)
{
  test::Surface surface{.optimum = {}, .bend = studied.bend, .noise = studied.noise};
  for (std::size_t k = 0; k < studied.keys; ++k)
    surface.optimum.push_back(draws.chance(0.1) ? (draws.chance(0.5) ? 0.5 * draws.uniform() : -3 - 0.5 * draws.uniform())
                                                : -3 * draws.uniform());
  if (studied.has_cliff) surface.cliff = 0.05 + 0.6 * draws.uniform();
  return surface;
}

// Counts what a search takes with early ends and without them. Its runs are made one after the other. A run takes its cost, and
// at most ten times that of the optimum, because then the recipe's epochs are over. A run that diverges takes nothing.
struct Spent {
  double whole = 0, early = 0;
  int good = 0, good_ended = 0; // runs of settings within 10 % of the optimum, and those of them that were ended early

  double cost_of(const test::Surface& surface, const Trial& trial, test::Draws& draws)
  {
    constexpr double longest = 10, factor = 2;
    const double truth = surface.cost(trial.setting), cost = surface.cost_of_a_run(trial.setting, draws);
    if (!std::isfinite(cost)) return cost;
    const bool is_ended = cost > factor * best_;
    whole += std::min(cost, longest);
    early += std::min({cost, longest, factor * best_});
    good += truth <= 1.1 ? 1 : 0;
    good_ended += truth <= 1.1 && is_ended ? 1 : 0;
    best_ = std::min(best_, cost);
    return is_ended || cost > longest ? std::numeric_limits<double>::infinity() : cost;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity(); // of the runs so far
};

// Whether the best setting is the outermost of all that were tried, in some key.
bool is_outermost(const Search& found)
{
  for (std::size_t k = 0; k < found.best->size(); ++k) {
    const auto is_beyond = [&](double sign) {
      return std::ranges::none_of(found.trials,
                                  [&](const Trial& trial) { return sign * (trial.setting[k] - (*found.best)[k]) > 0; });
    };
    if (is_beyond(1) || is_beyond(-1)) return true;
  }
  return false;
}

// Times to the target of the runs of a candidate with its tuned values.
std::vector<double> results(const test::Surface& surface, const Search& found, test::Draws& draws)
{
  constexpr int repeats = 7;
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(surface.cost_of_a_run(*found.best, draws));
  return times;
}

class TuningShares {
 public:
  TuningShares(const TuningCase& studied, int trials, test::Draws& draws)
      : studied_(studied), runs_(studied.keys == 1 ? 12 : 24), trials_(trials), draws_(draws)
  {
  }

  Json row()
  {
    int within = 0, edges = 0, without = 0, false_differences = 0, wins = 0;
    double again = 0, whole = 0, early = 0, good = 0, good_ended = 0;
    for (int study = 0; study < trials_; ++study) {
      auto surface = surface_of(studied_, draws_);
      Spent spent;
      const auto found = test::search(surface.optimum.size(), runs_, {}, [&](const Trial& trial) -> std::optional<double> {
        return spent.cost_of(surface, trial, draws_);
      });
      whole += spent.whole;
      early += spent.early;
      good += spent.good;
      good_ended += spent.good_ended;
      if (!found.best || !found.is_bracketed) {
        ++without;
        continue;
      }
      within += surface.cost(*found.best) <= 1.1 ? 1 : 0;
      edges += is_outermost(found) ? 1 : 0;
      const auto begun = test::search(surface, runs_, draws_, {*found.best});
      again += static_cast<double>(begun.trials.size());
      false_differences += is_better(surface, found, 1) ? 1 : 0;
      wins += is_better(surface, found, 1.2) ? 1 : 0;
    }
    const auto share = [&](int count) { return static_cast<double>(count) / trials_; };
    return {{"case", "tuning " + std::to_string(studied_.keys) + (studied_.keys == 1 ? " key, " : " keys, ") +
                         std::to_string(runs_) + " runs" + (studied_.has_cliff ? ", with a cliff" : "")},
            {"bend", std::to_string(studied_.bend).substr(0, 3)},
            {"noise", studied_.noise},
            {"within 10 %", share(within)},
            {"no optimum", share(without)},
            {"edge reported", share(edges)},
            {"equal called different", share(false_differences)},
            {"20 % better wins", share(wins)},
            {"saved by ends", 1 - early / whole},
            {"good run ended", good_ended / good},
            {"runs from a smaller size", again / trials_}};
  }

 private:
  // Whether the candidate is called different from another one, which is tuned alike and `lead` times as slow at its own optimum.
  bool is_better(const test::Surface& surface, const Search& found, double lead)
  {
    auto other = surface_of(studied_, draws_);
    other.least = lead;
    const auto tuned = test::search(other, runs_, draws_);
    if (!tuned.best || !tuned.is_bracketed) return false;
    const auto verdict = compare_times_to_target(results(other, tuned, draws_), results(surface, found, draws_), {}).verdict;
    return lead == 1 ? verdict == Verdict::slower || verdict == Verdict::faster : verdict == Verdict::slower;
  }

  TuningCase studied_;
  std::int64_t runs_;
  int trials_;
  test::Draws& draws_;
};

} // namespace

void report_tunings(Report& report, const BenchOptions& options)
{
  const auto cases = tuning_cases();
  report_cases(report, options, cases.size(),
               [&](std::size_t i, test::Draws& draws) { return TuningShares(cases[i], options.trials, draws).row(); });
}

} // namespace dt::bench
