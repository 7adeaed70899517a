// The results of `dtbench comm`, as a table or as JSON.
#pragma once

#include "core/allreduce_cost.hpp"
#include "engine/bench/bench.hpp"
#include "engine/comm/choice/paired_rounds.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dt::bench {

// One algorithm at one size. Times are per call, from a barrier to the slowest rank's end.
struct CommRow {
  std::string algorithm;
  std::int64_t bytes = 0;
  std::int64_t repeats = 0, calls = 0;        // calls: consecutive calls in a repetition; their mean counts
  double median_s = 0, low_s = 0, high_s = 0; // quartiles
  double against_mpi = 0; // median over repetitions of mpi's time ÷ this algorithm's time; 0: mpi was not measured
  double bound_s = 0;     // lower bound for any algorithm on these links; 0: unknown
  std::int64_t sent_bytes = 0, messages = 0; // per call over all ranks; 0 for those of Gloo's that only dtbench has
};

// `dynamic` at one size, compared with plain MPI and with the best of our other algorithms (lowest median). Ratios are the
// other's time ÷ dynamic's time in the same repetition: the median, and an interval whose two ends are each wrong in at most one
// case of ten.
struct DynamicRow {
  std::int64_t bytes = 0, repeats = 0;
  double median_s = 0, mpi_s = 0, best_s = 0;
  std::string best;
  comm::PairedRatio against_mpi, against_best;
};

struct CommReport {
  int ranks = 0, nodes = 0, supernodes = 0;
  std::string warning; // why the figures are less reliable; empty: no reason
  std::vector<CommRow> rows;
  std::vector<DynamicRow> dynamic_rows;                     // only if dynamic, mpi and another of ours are measured
  double dynamic_start_s = 0;                               // time that dynamic took to select
  std::optional<CostModel> network;                         // fitted to the rows of our schedules; without them none
  std::vector<std::pair<std::string, std::string>> choices; // of the algorithms that select by themselves
};

std::string text_of(const CommReport& report);
std::string json_of(const CommReport& report, const CommBench& options);

} // namespace dt::bench
