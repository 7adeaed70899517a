// Comparisons and rankings of whole studies whose truth is known, on every kind of machine.
#include "store/analysis/statistics/ranking.hpp"
#include "tests/bench/statistics/report.hpp"

#include <algorithm>
#include <array>
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

std::vector<StudyCase> study_cases()
{
  std::vector<StudyCase> cases;
  for (const auto order : {Order::interleaved, Order::apart})
    for (const std::size_t candidates : {2, 6})
      for (const std::size_t sizes : {1, 4})
        for (const bool has_nodes : {false, true})
          for (const auto machine : test::machine_kinds)
            for (const std::size_t repeats : {3, 5, 10}) cases.push_back({machine, order, has_nodes, candidates, sizes, repeats});
  return cases;
}

// The speeds of equal candidates by size, candidate and repeat.
using Speeds = std::vector<std::vector<std::vector<double>>>;

// Measures one run of a candidate at each size, in a random order of the sizes. The size is part of the cell: size * candidates +
// candidate.
class Measured {
 public:
  Measured(const StudyCase& study, test::Draws& draws)
      : study_(study), draws_(draws), cells_(study.candidates * study.sizes),
        machine_(study.machine, study.has_nodes, cells_ * study.repeats, draws),
        speeds_(study.sizes, std::vector(study.candidates, std::vector<double>(study.repeats)))
  {
    study.order == Order::interleaved ? interleaved() : apart();
  }
  const Speeds& speeds() const { return speeds_; }

 private:
  void run(std::size_t candidate, std::size_t size, std::size_t repeat)
  {
    speeds_[size][candidate][repeat] = 1000 * machine_.next(candidate);
  }
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

  const StudyCase& study_;
  test::Draws& draws_;
  std::size_t cells_;
  test::SimulatedMachine machine_;
  Speeds speeds_;
};

// What the analysis is given of the runs of one size: the first candidate is better by `lead`.
std::vector<Candidate> given(const StudyCase&, const std::vector<std::vector<double>>& speeds, double lead)
{
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    candidates.push_back({.name = std::to_string(i), .values = speeds[i]});
    if (i == 0)
      for (auto& value : candidates.back().values) value *= 1 + lead;
  }
  return candidates;
}

Comparison first_pair(const std::vector<Candidate>& candidates)
{
  return compare_candidates(candidates[0], candidates[1], Scale::ratio, {});
}

// Whether equal candidates get a verdict: of two "faster" or "slower", of more the exclusion of any.
bool is_wrong(const std::vector<Candidate>& equals)
{
  if (equals.size() == 2) return first_pair(equals).verdict == Verdict::faster || first_pair(equals).verdict == Verdict::slower;
  const auto ranked = ranking(equals, {});
  return std::any_of(ranked.begin(), ranked.end(), [](const Ranked& row) { return !row.excluded_by.empty(); });
}

// What is found about a true leader, the first of the candidates.
struct Found {
  double excluded = 0;    // share of the others that are excluded; of two candidates as is_wrong
  bool is_slower = false; // the comparison of the second with the leader, not adjusted, says so
};

Found find_leader(const std::vector<Candidate>& candidates)
{
  if (candidates.size() == 2) {
    const bool is_faster = first_pair(candidates).verdict == Verdict::faster;
    return {is_faster ? 1.0 : 0.0, is_faster};
  }
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
  double covered = 0, wrong = 0, wrong_anywhere = 0;
  std::array<double, leads.size()> excluded{}, slower{};
  for (int trial = 0; trial < trials; ++trial) {
    const auto speeds = Measured(study, draws).speeds();
    const auto equals = given(study, speeds.back(), 0);
    const auto interval = first_pair(equals).interval;
    covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
    const bool is_wrong_here = is_wrong(equals);
    wrong += is_wrong_here ? 1 : 0;
    const bool is_wrong_anywhere =
        std::any_of(speeds.begin(), speeds.end() - 1, [&](const auto& of_size) { return is_wrong(given(study, of_size, 0)); });
    wrong_anywhere += is_wrong_here || is_wrong_anywhere ? 1 : 0;
    for (std::size_t i = 0; i < leads.size(); ++i) {
      const auto found = find_leader(given(study, speeds.back(), leads[i]));
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
          {"coverage", covered / count},
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
  const auto cases = study_cases();
  report_cases(report, options, cases.size(),
               [&](std::size_t i, test::Draws& draws) { return row_of(cases[i], options.trials, draws); });
}

} // namespace dt::bench
