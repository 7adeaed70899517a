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
  double seconds = 3;            // of measured steps, at least 10 of them
  std::int64_t steps = 0;        // so many instead; 0: as many as fit into the time
  std::string allreduce = "mpi"; // of the gradients, where there are several ranks
  std::string precision = "fp32"; // or "bf16"
  bool reference = false;         // plain loops in place of oneDNN's convolutions
  bool direct = false;            // no Winograd
  bool profile = false;           // tells every operation's time
  bool json = false;
};

// Forward, loss, backward and momentum update on fixed random input; in this process alone, or on all ranks that mpirun started,
// each with a batch of its own size and one allreduce of the packed gradients a step. Exit status.
int bench_compute(const ComputeBench& options);

struct ConvolutionBench {
  std::vector<std::string> models{"alexnet", "vgg16"};
  std::int64_t batch = 2;
  int threads = 1;
  bool json = false;
};

// Every convolution of these models, as oneDNN computes it and as plain loops do. Exit status.
int bench_convolution(const ConvolutionBench& options);

struct MatmulBench {
  int threads = 1;
  double seconds = 0.5;
  bool json = false;
};

// Products of two 512 x 512 matrices in single precision, in GFLOP/s; the best of five stretches. Exit status.
int bench_matmul(const MatmulBench& options);

struct GradientsBench {
  std::string model = "lenet";
  std::string input;   // .npz: images (batch x channels x height x width) and labels (batch), 32-bit floats both
  std::string weights; // .npz under the parameters' names; empty: from the seed
  std::string output;  // .npz: "weights/" and "gradients/" parameter, "loss"
  int threads = 1;
  bool winograd = true;
};

// Loss and gradients of one batch without dropout, to be compared with another program's. Exit status.
int bench_gradients(const GradientsBench& options);

struct AllreduceBench {
  std::int64_t bytes = 1 << 20;
  std::string algorithm = "mpi";
  double seconds = 2;
  bool json = false;
};

// One allreduce of so many bytes; started by mpirun. A repetition lasts as long as its slowest rank. Exit status.
int bench_allreduce(const AllreduceBench& options);

struct CommBench {
  std::vector<std::string> algorithms; // empty: all of ours and of Gloo; "ring:bfloat16" is ring with sync.wire: bfloat16
  std::int64_t least_bytes = 1 << 10, most_bytes = 1 << 28, factor = 4;
  std::vector<std::int64_t> sizes;      // in bytes, instead of least_bytes, least_bytes x factor, …
  double seconds = 4;       // to measure one size for, all algorithms together
  std::int64_t repeats = 0; // of each algorithm and size; 0: as many as fit into the time, at least `fewest`
  std::int64_t fewest = 5;
  double leave_out = 0; // ours of which one sum takes over 0.25 s and so many times the fastest one's are measured no further; 0: none
  std::int64_t nodes_per_supernode = 0;
  double link_gbit = 0, trunk_gbit = 0; // bandwidth of a node's link, of a supernode's trunk; 0: not told
  std::string json_file;                // the result as JSON too, written by rank 0; empty: not
  std::string cache;                    // folder of `dynamic`'s timings; empty: none
  bool json = false;
};

// Allreduces of many sizes side by side: ours, the MPI library's and Gloo's; started by mpirun. Exit status.
int bench_comm(const CommBench& options);

struct StrategiesBench {
  std::vector<std::string> strategies{"sync-sgd"}; // "sync-easgd:1" is sync-easgd with overlap 1
  int workers = 2;
  double scale = 1;        // of AlexNet's parameters
  double compute_s = 0.06; // modelled, of one step
  bool sleeps = false;     // the modelled computation leaves its core to others
  std::int64_t steps = 5, period = 1, servers = 1;
  bool pack = true;
  std::string allreduce = "mpi", progress = "none";
  bool json = false;
};

// Steps under each strategy with AlexNet's tensors and a modelled computation; started by mpirun with at least as many ranks as
// workers and servers. Exit status.
int bench_strategies(const StrategiesBench& options);

struct OverlapBench {
  std::vector<std::string> progress{"none", "poll", "thread"};
  double scale = 1; // of AlexNet's parameters
  double forward_s = 0.02, backward_s = 0.04; // modelled
  bool sleeps = false; // the modelled computation leaves its core to others
  std::int64_t steps = 5, bucket_bytes = 4 << 20;
  std::string allreduce = "ring";
  bool json = false;
};

// How much of sync-sgd's communication hides behind the backward pass, and how much of it can; started by mpirun. Exit status.
int bench_overlap(const OverlapBench& options);

// Middle and least of many times, in seconds; at least one is needed.
struct Times {
  double median = 0, least = 0;
};
Times summarize(std::vector<double> seconds);

} // namespace dt::engine
