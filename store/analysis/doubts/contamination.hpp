// Detects disturbed measurements: drift of the machine, and nodes that are slower than others. Pure functions over numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// Drift: how the throughput of identical runs (A/A controls) changed from the beginning to the end of a study, compared with the
// scatter of the study's repeats. Fractions; NaN if unknown.
struct Drift {
  std::size_t controls = 0;   // number of controls that succeeded
  double first = 0, last = 0; // throughput of the first and the last control, samples/s
  double change = 0;          // last / first - 1
  double spread = 0;          // (largest - smallest) / median of all controls
  // Relative standard deviation of repeats around the median of their point.
  double noise = std::numeric_limits<double>::quiet_NaN();
  // The change is larger than chance explains: above 2 sqrt(2) noise, i.e. two standard deviations of a difference.
  bool beyond_noise = false;
};

// `controls`: at least two throughputs, in the order of the runs. `points`: the throughputs of the repeats, one vector per point;
// a point with a single repeat adds nothing to the noise.
Drift drift_of_controls(std::span<const double> controls, std::span<const std::vector<double>> points);

// One rank's probe. It is compared with ranks of the same CPU model and thread count.
struct RankSpeed {
  std::string run, host, cpu_model;
  std::int64_t threads = 1;
  double gemm_gflops = 0;
  bool asked = true; // false: not reported, only used for comparison
};

// A run's allreduce probe. It is compared with those of the same CPU model, nodes, ranks, threads and bytes.
struct AllreduceTime {
  std::string run, cpu_model;
  std::int64_t nodes = 1, ranks = 1, threads = 1, bytes = 0;
  double seconds = 0;
  bool asked = true; // false: not reported, only used for comparison
};

struct Outlier {
  enum class Kind { matrix_product, allreduce };
  Kind kind = Kind::matrix_product;
  std::string host;               // of a matrix product; empty for an allreduce
  std::vector<std::string> runs;  // keys, ascending
  std::size_t ranks = 0;          // number of slow ranks; 0 for an allreduce
  double slower_by = 0;           // matrix product: 1 - speed / median speed; allreduce: time / median time - 1
  bool is_on_one_machine = false; // the hosts of all its runs are emulated on one machine, so that none is a slow node
};

// Minimum number of comparable values: among fewer, an outlier cannot be identified.
inline constexpr std::size_t least_alike = 3;

// The median of comparable values, and how far a value may be from it.
struct Tolerance {
  double median, limit;
};
// The limit is the larger of `least` x median and three robust standard deviations (1.4826 x median absolute deviation).
Tolerance tolerance_of(const std::vector<double>& values, double least);

// Finds slow hosts: the median matrix-product speed of their ranks is below the median of the comparable ranks of all other hosts
// by more than 10 % and by more than three robust standard deviations. A host is never compared with itself. With fewer than
// `least_alike` hosts, none is reported. An outlier contains the slow ranks in the asked runs, and the median of how much slower
// they are. Sorted by host.
std::vector<Outlier> slow_hosts(std::span<const RankSpeed> ranks);

// Finds runs on several nodes whose allreduce time is above the median of comparable runs by more than the same limits. One
// outlier per run, sorted by key. Runs on one node use no network and are ignored.
std::vector<Outlier> slow_allreduces(std::span<const AllreduceTime> times);

} // namespace dt::store
