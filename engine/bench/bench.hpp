// Benchmarks of the parts of a training step. Each function prints one result and returns the exit status.
#pragma once

#include "core/spec/choices.hpp"
#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::bench {

struct ComputeBench {
  std::string model = "lenet";
  std::int64_t batch = 64;
  int threads = 1;
  double seconds = 3;            // time for the measured steps, at least 10 steps
  std::int64_t steps = 0;        // number of measured steps instead of a time; 0: use `seconds`
  std::string allreduce = "mpi"; // for the gradients, if there are several ranks
  Precision precision = Precision::fp32;
  bool library = false;             // no layers in image lanes
  bool reference = false;           // plain loops instead of the fast convolutions
  bool direct = false;              // no Winograd
  std::string algorithms = "rules"; // of the convolutions: rules, as trainings have them, or timed
  std::string cache{};              // folder in which timed choices are kept; empty: none
  bool profile = false;       // also report each operation's time, and the compute profile in the JSON; keep the model's dropout
  std::string profile_file{}; // file for the compute profile alone, written by rank 0; empty: none
  bool json = false;
};

// Times forward pass, loss, backward pass and momentum update on fixed random input: in this process alone, or on all ranks that
// mpirun started, where each rank has its own batch and each step makes one allreduce of the packed gradients.
int bench_compute(const ComputeBench& options);

struct ConvolutionBench {
  std::vector<std::string> models{"alexnet", "vgg16"};
  std::int64_t batch = 2;
  int threads = 1;
  std::int64_t rounds = 3; // in which the forms have their turn; plain loops run once
  bool plain = true;       // also measure plain loops
  bool json = false;
};

// Times every convolution of the models: by the engine's layers in a training step, as matrix products of OpenBLAS where it is
// installed, and by plain loops.
int bench_convolution(const ConvolutionBench& options);

struct MatmulBench {
  int threads = 1;
  double seconds = 0.5;
  bool json = false;
};

// Times products of two 512 x 512 matrices in single precision, in GFLOP/s; reports the best of five repetitions.
int bench_matmul(const MatmulBench& options);

struct GradientsBench {
  std::string model = "lenet";
  std::string input;   // .npz: images (batch x channels x height x width) and labels (batch), both as 32-bit floats
  std::string weights; // .npz with the parameters' names; empty: weights from the seed
  std::string output;  // .npz: "weights/" parameter, "gradients/" parameter, "loss"
  int threads = 1;
  bool winograd = true;
};

// Computes loss and gradients of one batch without dropout, for comparison with another program.
int bench_gradients(const GradientsBench& options);

struct AllreduceBench {
  std::int64_t bytes = 1 << 20;
  std::string algorithm = "mpi";
  double seconds = 2;              // time to measure for
  std::int64_t repeats = 0;        // repetitions; 0: as many as fit into the time
  std::int64_t warmup_repeats = 5; // before; at least 1 if `repeats` is 0
  int calls = 1;                   // sums in a row of a repetition, whose mean counts
  std::int64_t nodes_per_supernode = 0;
  bool simulated = false; // the ranks are simulated; the output says so
  bool json = false;
};

// Times one allreduce of `bytes` bytes over all ranks of comm, and prints the times on rank 0. The time of a repetition is that
// of its slowest rank. Collective.
int bench_allreduce(const AllreduceBench& options, comm::Communicator& comm);

struct CommBench {
  std::vector<std::string> algorithms; // empty: all of ours and of Gloo's; "ring:bfloat16" is ring with sync.wire: bfloat16
  std::int64_t least_bytes = 1 << 10, most_bytes = 1 << 28, factor = 4;
  std::vector<std::int64_t> sizes; // in bytes, instead of least_bytes, least_bytes x factor, …
  double seconds = 4;              // time per size, for all algorithms together
  std::int64_t repeats = 0;        // per algorithm and size; 0: as many as fit into the time, at least `fewest`
  std::int64_t fewest = 5;
  double leave_out = 0; // stop measuring one of ours when a sum takes over 0.25 s and this many times the fastest; 0: never
  std::int64_t nodes_per_supernode = 0;
  double link_gbit = 0, trunk_gbit = 0; // bandwidth of a node's link and of a supernode's trunk; 0: unknown
  std::string json_file;                // file for a copy of the result as JSON, written by rank 0; empty: none
  std::string cache;                    // folder for `dynamic`'s timings; empty: none
  bool json = false;
};

// Compares allreduces at many sizes: ours, the MPI library's and Gloo's; started by mpirun.
int bench_comm(const CommBench& options);

struct StrategiesBench {
  std::vector<std::string> strategies{"sync-sgd"}; // "sync-easgd:1" is sync-easgd with overlap 1
  int workers = 2;
  double scale = 1;        // factor on AlexNet's parameters
  double compute_s = 0.06; // modelled time per step
  bool sleeps = false;     // the modelled computation sleeps instead of using its core
  std::int64_t steps = 5, period = 1, servers = 1, server_threads = 2;
  std::int64_t fragments = 1, delay = 0; // of diloco
  Wire wire = Wire::float32;
  bool pack = true;
  std::string allreduce = "mpi";
  ProgressMode progress = ProgressMode::none;
  std::int64_t nodes_per_supernode = 0;
  bool simulated = false; // the ranks are simulated; the output says so
  bool json = false;
};

// Times steps of each strategy with AlexNet's tensors and a modelled computation, and prints them on rank 0. `world` must have at
// least as many ranks as workers and servers together. Collective.
int bench_strategies(const StrategiesBench& options, comm::Communicator& world);

struct OverlapBench {
  std::vector<ProgressMode> progress{ProgressMode::none, ProgressMode::poll, ProgressMode::thread};
  double scale = 1;                           // factor on AlexNet's parameters
  double forward_s = 0.02, backward_s = 0.04; // modelled times
  bool sleeps = false;                        // the modelled computation sleeps instead of using its core
  bool works = false;          // the modelled computation is an amount of work, so what else uses its core delays it
  bool between_layers = false; // poll moves messages on between layers only, as with synchronized batch norm
  std::int64_t steps = 5, bucket_bytes = 4 << 20;
  std::string allreduce = "ring";
  bool json = false;
};

// Measures how much of sync-sgd's communication overlaps with the backward pass, and how much could; started by mpirun.
int bench_overlap(const OverlapBench& options);

struct InputBench {
  std::string file; // a packed set
  std::vector<std::string> readers{"buffered"};
  std::vector<DataOrder> orders{DataOrder::blocks, DataOrder::samples, DataOrder::file};
  std::vector<std::int64_t> threads{1}; // that read and decode; 0: the caller does
  std::int64_t batch = 64;
  std::int64_t samples = 0; // of each rank; 0: its part of an epoch
  std::int64_t block_bytes = std::int64_t{8} << 20;
  bool decode = true; // false: records are read, and their hashes checked
  std::int64_t image_size = 0;
  ImageCrop crop = ImageCrop::none;
  bool flip = false;
  bool cold = true, warm = true; // with the file out of the page cache, and in it
  std::int64_t repeats = 3;
  bool json = false;
};

// Measures how fast the batches of a packed set come, and prints the repetition with the median time of each case on rank 0.
// Collective.
int bench_input(const InputBench& options, comm::Communicator& comm);

// Median and minimum of times in seconds. Needs at least one time.
struct Times {
  double median = 0, least = 0;
};
Times summarize(std::vector<double> seconds);

} // namespace dt::bench
