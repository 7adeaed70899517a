// Comparisons and rankings of whole studies whose truth is known, on every kind of machine.
#include "store/analysis/statistics/candidate_set.hpp"
#include "store/analysis/statistics/ranking.hpp"
#include "store/analysis/statistics/run_conditions.hpp"
#include "tests/bench/statistics/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace dt::bench {
namespace {

using namespace dt::store;

enum class Order {
  interleaved, // in rounds, each with every candidate at every size once, shuffled: as studies run
  apart,       // all runs of the first candidate, then all of the second, …: as separate studies run
};

struct StudyCase {
  test::MachineKind machine;
  Order order;
  bool has_nodes;
  std::size_t candidates, sizes, repeats;
};

bool is_asked(const StudyCase& study, const BenchOptions& options)
{
  return (options.machine.empty() || options.machine == name_of(study.machine)) &&
         (options.candidates == 0 || options.candidates == study.candidates) &&
         (options.sizes == 0 || options.sizes == study.sizes) && (options.repeats == 0 || options.repeats == study.repeats);
}

std::vector<StudyCase> study_cases(const BenchOptions& options)
{
  std::vector<StudyCase> cases;
  for (const auto order : {Order::interleaved, Order::apart})
    for (const std::size_t candidates : {2, 6})
      for (const std::size_t sizes : {1, 2, 4})
        for (const bool has_nodes : {false, true})
          for (const auto machine : test::machine_kinds)
            for (const std::size_t repeats : {3, 5, 10}) cases.push_back({machine, order, has_nodes, candidates, sizes, repeats});
  std::erase_if(cases, [&](const StudyCase& study) { return !is_asked(study, options); });
  return cases;
}

struct Run {
  double speed = 0;
  double begin_s = 0; // the runs begin a second after each other and take half a second
  bool is_outlier = false;
};
// The runs of equal candidates by candidate and repeat.
using Runs = std::vector<std::vector<Run>>;

// A simulated study of equal candidates.
class Measured {
 public:
  Measured(const StudyCase& study, test::Draws& draws)
      : study_(study), draws_(draws), cells_(study.candidates * study.sizes),
        machine_(study.machine, study.has_nodes, cells_ * study.repeats, draws),
        sizes_(study.sizes, Runs(study.candidates, std::vector<Run>(study.repeats)))
  {
    study.order == Order::interleaved ? interleaved() : apart();
    mark_outliers();
  }
  const std::vector<Runs>& sizes() const { return sizes_; }

 private:
  void run(std::size_t candidate, std::size_t size, std::size_t repeat)
  {
    sizes_[size][candidate][repeat] = {.speed = 1000 * machine_.next(candidate), .begin_s = started_++};
  }
  // A cell is a candidate at a size: size * candidates + candidate.
  void interleaved()
  {
    for (std::size_t repeat = 0; repeat < study_.repeats; ++repeat)
      for (const auto cell : draws_.order(cells_)) run(cell % study_.candidates, cell / study_.candidates, repeat);
  }
  void apart()
  {
    for (std::size_t candidate = 0; candidate < study_.candidates; ++candidate)
      for (std::size_t repeat = 0; repeat < study_.repeats; ++repeat)
        for (const auto size : draws_.order(study_.sizes)) run(candidate, size, repeat);
  }
  // Looks at the whole study, as store/query/compared_runs does.
  void mark_outliers()
  {
    std::vector<SpeedRun> looked_at;
    std::vector<Run*> runs;
    for (std::size_t cell = 0; cell < cells_; ++cell)
      for (std::size_t repeat = 0; repeat < study_.repeats; ++repeat) {
        auto& run = sizes_[cell / study_.candidates][cell % study_.candidates][repeat];
        looked_at.push_back({cell, static_cast<std::int64_t>(repeat), run.begin_s, run.speed});
        runs.push_back(&run);
      }
    const auto outlying = outlying_runs(looked_at);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->is_outlier = outlying[i];
  }

  const StudyCase& study_;
  test::Draws& draws_;
  std::size_t cells_;
  test::SimulatedMachine machine_;
  std::vector<Runs> sizes_;
  double started_ = 0;
};

// What the analysis is given of the runs of one size: values without outliers, with their rounds if there are any, and the time
// in which a candidate was measured. The first candidate is better by `lead`.
std::vector<Candidate> given(const StudyCase& study, const Runs& runs, double lead)
{
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& candidate = candidates.emplace_back(Candidate{.name = std::to_string(i), .values = {}});
    for (std::size_t repeat = 0; repeat < runs[i].size(); ++repeat) {
      const auto& run = runs[i][repeat];
      if (run.is_outlier) continue;
      candidate.values.push_back(run.speed * (i == 0 ? 1 + lead : 1));
      if (study.order == Order::interleaved) candidate.blocks.push_back("round " + std::to_string(repeat));
      candidate.begins_unix_s.push_back(run.begin_s);
    }
  }
  return candidates;
}

Comparison first_pair(const std::vector<Candidate>& candidates)
{
  return compare_candidates(candidates[0], candidates[1], Scale::ratio, {});
}

// The share of all pairs of equal candidates that a comparison of the two, not adjusted, calls different.
double wrong_pairs(const std::vector<Candidate>& equals)
{
  const CandidateSet set(equals, Scale::ratio);
  double wrong = 0, pairs = 0;
  for (std::size_t a = 1; a < equals.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      wrong += set.compare(a, b, {}).verdict == Verdict::cannot_tell ? 0 : 1;
      ++pairs;
    }
  return wrong / pairs;
}

// Whether one of equal candidates is excluded.
bool is_wrong(const std::vector<Candidate>& equals)
{
  const auto ranked = ranking(equals, {});
  return std::any_of(ranked.begin(), ranked.end(), [](const Ranked& row) { return !row.excluded_by.empty(); });
}

// Whether one of equal candidates is excluded at any size, if all sizes are looked at in one verdict.
bool is_wrong_anywhere(const StudyCase& study, const std::vector<Runs>& sizes)
{
  std::vector<std::vector<Candidate>> equals;
  for (const auto& runs : sizes) equals.push_back(given(study, runs, 0));
  std::vector<Contestants> contests;
  for (const auto& candidates : equals) contests.push_back({candidates, {}, Scale::ratio});
  for (const auto& ranked : rankings(contests))
    if (std::any_of(ranked.begin(), ranked.end(), [](const Ranked& row) { return !row.excluded_by.empty(); })) return true;
  return false;
}

// What is found about a true leader, the first of the candidates.
struct Found {
  double excluded = 0;    // share of the others that are excluded
  bool is_slower = false; // the comparison of the second with the leader, not adjusted, says so
};

Found find_leader(const std::vector<Candidate>& candidates)
{
  Found found;
  const auto ranked = ranking(candidates, {});
  for (const auto& row : ranked) {
    if (row.candidate == 0) continue;
    if (!row.excluded_by.empty()) found.excluded += 1 / static_cast<double>(ranked.size() - 1);
    if (row.candidate == 1 && ranked.front().candidate == 0) found.is_slower = row.with_best->verdict == Verdict::slower;
  }
  return found;
}

Json row_of(const StudyCase& study, int trials, test::Draws& draws)
{
  constexpr std::array leads{0.02, 0.05};
  double covered = 0, with_interval = 0, of_pairs = 0, wrong = 0, wrong_anywhere = 0;
  std::array<double, leads.size()> excluded{}, slower{};
  for (int trial = 0; trial < trials; ++trial) {
    const auto sizes = Measured(study, draws).sizes();
    const auto equals = given(study, sizes.back(), 0);
    const auto interval = first_pair(equals).interval;
    with_interval += std::isnan(interval.low) ? 0 : 1; // outliers leave fewer than three runs
    covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
    of_pairs += wrong_pairs(equals);
    wrong += is_wrong(equals) ? 1 : 0;
    wrong_anywhere += is_wrong_anywhere(study, sizes) ? 1 : 0;
    for (std::size_t i = 0; i < leads.size(); ++i) {
      const auto found = find_leader(given(study, sizes.back(), leads[i]));
      excluded[i] += found.excluded;
      slower[i] += found.is_slower ? 1 : 0;
    }
  }
  const double count = trials;
  return {{"case", "studies"},
          {"machine", name_of(study.machine)},
          {"order", study.order == Order::interleaved ? "interleaved" : "apart"},
          {"nodes", study.has_nodes ? 4 : 1},
          {"candidates", study.candidates},
          {"sizes", study.sizes},
          {"n", study.repeats},
          {"coverage", covered / std::max(1.0, with_interval)},
          {"false pairs", of_pairs / count},
          {"false", wrong / count},
          {"false at any size", wrong_anywhere / count},
          {"power 2 %", excluded[0] / count},
          {"power 5 %", excluded[1] / count},
          {"pair 2 %", slower[0] / count},
          {"pair 5 %", slower[1] / count}};
}

} // namespace

void report_studies(Report& report, const BenchOptions& options)
{
  const auto cases = study_cases(options);
  report_cases(report, options, cases.size(),
               [&](std::size_t i, test::Draws& draws) { return row_of(cases[i], options.trials, draws); });
}

} // namespace dt::bench
