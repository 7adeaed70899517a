// Network: a model built for one batch size, ready to compute. Knows no MPI. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// One image: channels x height x width.
struct ImageShape {
  std::int64_t channels = 1, height = 28, width = 28;
  std::int64_t size() const { return channels * height * width; }
};

// What kernels compute in. bf16: activations and the kernels' copies of the weights in bfloat16; weights, gradients and sums in fp32.
enum class Precision { fp32, bf16 };
// Whether this processor computes in it faster than by emulation.
bool is_supported(Precision precision);

// Sums the values over all ranks, in place, and divides by their number. Every rank calls it at the same places of a pass.
using MeanOverRanks = std::function<void(std::span<float>)>;

struct NetworkOptions {
  std::string model;                 // of model_names()
  std::vector<std::string> layers{}; // of model "custom": a line a layer (engine/nn/custom_model.hpp)
  ImageShape image{};
  std::int64_t classes = 10;
  std::int64_t batch = 64; // samples of one call; fixed for the network's life
  int threads = 1;
  std::uint64_t seed = 1; // of the initial weights: equal for every rank count and layout
  Precision precision = Precision::fp32;
  bool winograd = true;              // 3x3 convolutions in fp32 by Winograd's algorithm where that is faster; errors of rounding grow a little
  bool reference = false;            // plain loops in place of oneDNN's convolutions: what the fast ones are measured against
  bool dropout = true;               // false: the model's dropout layers pass everything
  std::uint64_t dropout_seed = 0;    // another one on each rank
  double label_smoothing = 0;        // share of the target that is spread over all classes
  MeanOverRanks synchronize{};       // batch norm's statistics over all ranks; empty: each rank's own
  std::int64_t memory_limit_bytes = 0; // refuse to be built when more is needed; 0: no limit
};

// What a tensor in the packed buffers is for.
enum class ParameterKind {
  weight,    // of a convolution or an inner product
  bias,      // likewise
  scale,     // batch norm's gamma
  shift,     // batch norm's beta
  statistic, // batch norm's running mean or variance; its gradient is this batch's value, times the loss scale
};

// A tensor in the packed buffers.
struct Parameter {
  std::string name;    // "conv1.weight"
  std::int64_t offset; // floats from the buffer's start; 64-byte aligned
  std::int64_t size;   // floats, padding of a blocked layout included
  ParameterKind kind;
  std::vector<std::int64_t> dims{}; // plain order: outputs, inputs (, height, width), or outputs; groups first where there are any
};

// Told during the backward pass of each parameter, by its place in parameters(), once its gradient is final: the last layer's
// first, before the layers below are computed.
using GradientReady = std::function<void(std::size_t parameter)>;

// Times of one forward_backward call, in seconds; what whoever is told of gradients or sums statistics takes is in neither.
struct ComputeTimes {
  double forward_s = 0, backward_s = 0;
};

struct Evaluation {
  double loss_sum = 0;      // over the counted samples
  std::int64_t correct = 0; // top-1
  std::int64_t samples = 0; // counted: those with a label >= 0
};

// One operation of a step, as it ran.
struct OperationTime {
  std::string layer;   // "conv1"
  std::string what;    // "backward weights"
  std::string kernel;  // "jit:avx512_core"; empty for a kernel of our own
  bool reorder = false;
  double flops = 0;    // of multiplications and additions in convolutions and inner products
  double seconds = 0;
};

// What building the network needs in memory, in bytes.
struct MemoryNeed {
  std::int64_t parameters = 0;  // weights and gradients
  std::int64_t activations = 0; // activations, their gradients and scratch, in one plan
  std::int64_t unshared = 0;    // what activations would be if no two of them shared a place
  std::int64_t total() const { return parameters + activations; }
};

class Network {
 public:
  // To train and evaluate, with initial weights from the seed. A recipe error when the shapes do not fit the model, with both
  // shapes, when the processor lacks the precision, and when more memory is needed than the options allow.
  explicit Network(const NetworkOptions& options);
  // Only to evaluate, with the very weights of `trained` (shared, and kept alive) at a batch size of its own; its seed is
  // unused. An internal error when the two are not of one model, image shape and classes.
  Network(const NetworkOptions& options, const Network& trained);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  const NetworkOptions& options() const;
  // One packed buffer each: contiguous, 64-byte aligned, padding zero.
  std::span<float> weights();
  std::span<float> gradients();
  const std::vector<Parameter>& parameters() const;
  std::int64_t parameter_count() const; // that are trained, without padding and statistics
  std::int64_t plain_size() const;      // all of them, statistics included, without padding

  // In the order of parameters(), each in plain order (outputs, inputs, height, width) without padding: plain_size()
  // floats, equal whatever the layouts. For hashes, checkpoints and tests: they allocate.
  std::vector<float> plain_weights() const;
  std::vector<float> plain_gradients() const;
  void set_plain_weights(std::span<const float> values); // an internal error for another count
  // The same for any buffer laid out as weights(): an optimizer's velocity, a strategy's centre. Only numbers are copied, so
  // plain_of(pack(x)) equals x bit for bit. An internal error for a buffer of another size.
  std::vector<float> plain_of(std::span<const float> packed) const;
  void pack(std::span<const float> plain, std::span<float> packed) const;
  // The layouts of the packed buffers in words, a line a parameter. Ranks may sum buffers only when these are equal.
  std::string layout() const;
  // Copies from one layout or precision into another in one step (in one evaluation, for a network that only evaluates).
  int reorders() const;
  const MemoryNeed& memory() const;
  double flops() const; // of one step: forward, backward to the data and to the weights of every convolution and inner product

  // Gradients are of factor x loss from the next call on, and statistics times factor; the loss itself is told without.
  void set_loss_scale(double factor);
  // The next forward_backward call draws its dropout from this number, the following ones from those behind it.
  void set_pass(std::uint64_t pass);

  // images: batch x channels x height x width floats (plain NCHW); labels: batch class numbers.
  // Mean softmax cross-entropy over the batch; leaves the gradients of that mean. Sets the calling thread's OpenMP team to
  // options().threads and makes it flush denormals, as evaluate() does. Equal bits for equal input and thread count.
  double forward_backward(std::span<const float> images, std::span<const std::int32_t> labels, ComputeTimes* times = nullptr,
                          const GradientReady& ready = {});
  // Forward only; samples with label -1 (padding of a short batch) are not counted. A network that trains does it as it trains, with
  // dropout and this batch's statistics: the trained model is evaluated by a network of its own.
  Evaluation evaluate(std::span<const float> images, std::span<const std::int32_t> labels);

  // forward_backward with every operation timed, in the order in which they ran.
  std::vector<OperationTime> profile(std::span<const float> images, std::span<const std::int32_t> labels);
  // The first layer whose output holds a number that is not finite; "images" when they do, empty when there is none.
  std::string first_non_finite(std::span<const float> images, std::span<const std::int32_t> labels);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::vector<std::string> registered_models();

} // namespace dt::engine
