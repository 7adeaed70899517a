// Measurements of one part of a training step. Each prints one result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dt::engine {

struct ComputeBench {
  std::string model = "lenet";
  std::int64_t batch = 64;
  int threads = 1;
  double seconds = 3; // of measured steps, at least 10 of them
  bool json = false;
};

// Forward, loss, backward and momentum update on fixed random input, in this process alone. Exit status.
int bench_compute(const ComputeBench& options);

struct AllreduceBench {
  std::int64_t bytes = 1 << 20;
  std::string algorithm = "mpi";
  double seconds = 2;
  bool json = false;
};

// One allreduce of so many bytes; started by mpirun. A repetition lasts as long as its slowest rank. Exit status.
int bench_allreduce(const AllreduceBench& options);

// Middle and least of many times, in seconds; at least one is needed.
struct Times {
  double median = 0, least = 0;
};
Times summarize(std::vector<double> seconds);

} // namespace dt::engine
