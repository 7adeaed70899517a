// What `dtbench comm` measured, as a table or as JSON.
#pragma once

#include "engine/bench/bench.hpp"
#include "engine/comm/paired_rounds.hpp"

#include <string>
#include <vector>

namespace dt::engine {

// One algorithm at one size. Times are of one call, from a common start to the slowest rank's end.
struct CommRow {
  std::string algorithm;
  std::int64_t bytes = 0;
  std::int64_t repeats = 0, calls = 0;        // calls: in a row in each repetition, whose mean is taken
  double median_s = 0, low_s = 0, high_s = 0; // quartiles
  double against_mpi = 0; // median over repetitions of mpi's time ÷ its own in the same repetition; 0: mpi was not measured
  double bound_s = 0;     // that no algorithm can undercut on these links; 0: not told
  std::int64_t sent_bytes = 0, messages = 0; // counted, of all ranks, a call; 0 for Gloo, which does not count
};

// `dynamic` at one size, beside plain MPI and the best of our other algorithms, that with the least median. Ratios are the other's time ÷
// dynamic's in the same repetition: their median, and an interval that misses the true one in one case of ten at each end.
struct DynamicRow {
  std::int64_t bytes = 0, repeats = 0;
  double median_s = 0, mpi_s = 0, best_s = 0;
  std::string best;
  PairedRatio against_mpi, against_best;
};

struct CommReport {
  int ranks = 0, nodes = 0, supernodes = 0;
  std::string warning; // why the figures are worth less; empty: none
  std::vector<CommRow> rows;
  std::vector<DynamicRow> dynamic_rows; // where dynamic, mpi and another of ours are measured
  double dynamic_start_s = 0;           // that dynamic took to choose
  std::vector<std::pair<std::string, std::string>> choices; // of the algorithms that choose by themselves
};

std::string text_of(const CommReport& report);
std::string json_of(const CommReport& report, const CommBench& options);

} // namespace dt::engine
