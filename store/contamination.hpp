// What may have spoilt a measurement: a machine that drifted, a node that is slower than its like. Pure functions over numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// How the same work (A/A controls) ran at the beginning and at the end of a study, against the scatter of its repeats.
// Fractions; NaN where it cannot be told.
struct Drift {
  std::size_t controls = 0;                                // that succeeded
  double first = 0, last = 0;                              // throughput, samples/s
  double change = 0;                                       // last / first - 1
  double spread = 0;                                       // (largest - smallest) / median of all controls
  double noise = std::numeric_limits<double>::quiet_NaN(); // standard deviation of a repeat from its point's median
  // The change is more than two repeats differ by chance: above 2 sqrt(2) noise, two standard deviations of a difference.
  bool beyond_noise = false;
};

// `controls`: throughputs in the order in which they ran, at least two. `points`: throughputs of the repeats, a vector a point;
// those of a single repeat tell no noise.
Drift drift_of_controls(std::span<const double> controls, std::span<const std::vector<double>> points);

// One rank's probe, and what it may be compared with: ranks of the same CPU model and thread count.
struct RankSpeed {
  std::string run, host, cpu_model;
  std::int64_t threads = 1;
  double gemm_gflops = 0;
  bool asked = true; // false: it is only what others are compared with
};

// A run's allreduce, compared with those of the same CPU model, nodes, ranks, threads and bytes.
struct AllreduceTime {
  std::string run, cpu_model;
  std::int64_t nodes = 1, ranks = 1, threads = 1, bytes = 0;
  double seconds = 0;
  bool asked = true; // false: it is only what others are compared with
};

struct Outlier {
  enum class Kind { matrix_product, allreduce };
  Kind kind = Kind::matrix_product;
  std::string host;              // of a matrix product
  std::vector<std::string> runs; // keys, ascending
  std::size_t ranks = 0;         // flagged ones; of an allreduce 0
  double slower_by = 0;          // matrix product: 1 - speed / median speed; allreduce: time / median time - 1
};

// Of so many like values an outlier can be told; of fewer nobody knows who is the odd one.
inline constexpr std::size_t least_alike = 3;

// How far from their median like values may lie.
struct Range {
  double median, limit;
};
// `least` of the median, and at least three robust standard deviations (1.4826 times the median absolute deviation).
Range range_of(const std::vector<double>& values, double least);

// Hosts whose matrix products (the median of their ranks') are slower than the median of the like ranks of all other hosts by more than
// 10 % and by more than three robust standard deviations. A host is never compared with itself, and with fewer than `least_alike` hosts
// there is none. Told are its slow ranks in the runs that were asked about, and the median of how much slower they are. Sorted by host.
std::vector<Outlier> slow_hosts(std::span<const RankSpeed> ranks);

// Likewise the runs on several nodes whose allreduce took longer than that above the median of its like, one outlier a run, sorted by
// key. On one node there is no network to be slow.
std::vector<Outlier> slow_allreduces(std::span<const AllreduceTime> times);

// "node2: matrix products 23 % slower than the others (2 ranks in 1 run)".
std::string describe(const Outlier& outlier);

} // namespace dt::store
