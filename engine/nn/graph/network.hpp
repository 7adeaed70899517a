// Network: a model built for one batch size, ready to compute. Does not use MPI. Only one thread may use it at a time.
#pragma once

#include "core/spec/algorithms.hpp"
#include "core/spec/choices.hpp"
#include "engine/model/tensor.hpp"
#include "engine/nn/plan/values.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::nn {

using model::Shape;

// Whether this processor supports the number format of the kernels without emulation. bf16: activations and the kernels' copies
// of the weights are bfloat16; weights, gradients and sums stay fp32.
bool is_supported(Precision precision);

struct NetworkOptions {
  std::string model;                 // one of model::registered_models()
  std::vector<std::string> layers{}; // for model "custom": one line per layer (engine/model/models/custom_model.hpp)
  Shape image{1, 28, 28};
  std::int64_t classes = 10;
  std::int64_t batch = 64; // samples per call; fixed for the network's life
  int threads = 1;
  std::uint64_t seed = 1; // for the initial weights; they are equal for every rank count and layout
  Precision precision = Precision::fp32;
  bool winograd = true; // 3x3 and 5x5 convolutions may use Winograd's algorithm; rounding errors grow a little
  // Convolutions that are named here use these algorithms, the others those of the rules (Convolution::algorithms). Where there
  // is no such algorithm for the layer's shape, it is direct. If one is image_lanes, image_lanes below holds too.
  Algorithms algorithms{};
  bool reference = false; // plain loops instead of the fast convolutions: the baseline for them
  // Layers in image lanes (engine/nn/kernels/lanes/lane_products.hpp) where there is such a kernel. Not set: as `algorithms`
  // says, and without algorithms where suits_image_lanes says so; a network for evaluation as the trained one.
  std::optional<bool> image_lanes{};
  bool dropout = true;                 // false: the model's dropout layers are left out
  std::uint64_t dropout_seed = 0;      // must differ between ranks
  double label_smoothing = 0;          // share of the target that is spread over all classes
  MeanOverRanks synchronize{};         // averages batch norm's statistics over all ranks; empty: each rank uses its own
  std::int64_t memory_limit_bytes = 0; // throw if the network needs more; 0: no limit
};

// Called during the backward pass for each parameter, with its index in parameters(), when its gradient is final. The last layer
// comes first, before the layers below are computed.
using GradientReady = std::function<void(std::size_t parameter)>;

// Times of one forward_backward call, in seconds. They exclude the time in GradientReady callbacks and in sums of statistics.
struct ComputeTimes {
  double forward_s = 0, backward_s = 0;
};

// One executed operation of a step.
struct OperationTime {
  std::string layer;  // "conv1"
  std::string what;   // "backward weights"
  std::string kernel; // "jit:avx512_core"; empty for one of our own kernels
  bool reorder = false;
  bool backward = false; // of the backward pass; the losses belong to the forward pass
  double flops = 0;      // floating-point operations of convolutions and inner products
  double seconds = 0;
};

// Memory that the network needs, in bytes.
struct MemoryNeed {
  std::int64_t parameters = 0;  // weights and gradients
  std::int64_t activations = 0; // activations, their gradients and scratch memory, in one plan
  std::int64_t unshared = 0;    // size of activations if no two buffers shared memory
  std::int64_t total() const { return parameters + activations; }
};

class Network {
 public:
  // A network for training, with initial weights from the seed. Throws a recipe error if shapes do not fit the model (with both
  // shapes), if the processor does not support the precision, or if more memory is needed than the options allow.
  // With `memory`, the packed buffers lie there, otherwise in the network's own memory.
  explicit Network(const NetworkOptions& options, ParameterMemory memory = {});
  // A network for evaluation only. It shares the weights of `trained` and keeps them alive, with its own batch size; its seed is
  // unused. Throws an internal error if model, image shape or classes differ.
  Network(const NetworkOptions& options, const Network& trained);
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  const NetworkOptions& options() const;
  // Packed buffers: contiguous, 64-byte aligned, padding is zero.
  std::span<float> weights();
  std::span<float> gradients();
  const std::vector<Parameter>& parameters() const;
  std::int64_t parameter_count() const; // trained parameters, without padding and statistics
  std::int64_t plain_size() const;      // all parameters with statistics, without padding

  // All parameters in the order of parameters(), each in plain order (outputs, inputs, height, width) without padding:
  // plain_size() floats, independent of layouts. Allocates memory; for hashes, checkpoints and tests.
  std::vector<float> plain_weights() const;
  std::vector<float> plain_gradients() const;
  void set_plain_weights(std::span<const float> values); // throws an internal error if the number of values is wrong
  // The same conversion for any buffer with the layout of weights(), for example an optimizer's velocity or a strategy's centre.
  // Numbers are only copied, so plain_of(pack(x)) equals x bit for bit. Throws an internal error for a buffer of another size.
  std::vector<float> plain_of(std::span<const float> packed) const;
  void pack(std::span<const float> plain, std::span<float> packed) const;
  // The layouts of the packed buffers in words, one line per parameter. Ranks may sum their buffers only if these texts are
  // equal.
  std::string layout() const;
  // Number of copies into another layout or precision per step; for an evaluation network, per evaluation.
  int reorders() const;
  // The algorithms of all convolutions; empty for plain loops. A network whose options have these algorithms computes the same.
  Algorithms algorithms() const;
  const MemoryNeed& memory() const;
  double flops() const; // per step: forward, backward to data and backward to weights of every convolution and inner product

  // From the next call on, gradients are those of factor x loss, and statistics are multiplied by factor. The returned loss is
  // not scaled.
  void set_loss_scale(double factor);
  // Sets the pass number from which the next forward_backward call draws its dropout; later calls use the following numbers.
  void set_pass(std::uint64_t pass);

  // images: batch x channels x height x width floats (plain NCHW). labels: one class number per sample. Returns the mean softmax
  // cross-entropy over the batch and leaves its gradients in gradients(). Like evaluate(), it sets the calling thread's OpenMP
  // team to options().threads and makes it flush denormals. The result has equal bits for equal input and thread count.
  double forward_backward(std::span<const float> images, std::span<const std::int32_t> labels, ComputeTimes* times = nullptr,
                          const GradientReady& ready = {});
  // Forward pass only. Samples with label -1 (padding of a short batch) are not counted. A training network would use dropout and
  // this batch's statistics here, so evaluate a trained model in a network for evaluation.
  Evaluation evaluate(std::span<const float> images, std::span<const std::int32_t> labels);

  // The outputs before the softmax: batch x classes numbers. For a network for evaluation. Allocates memory.
  std::vector<float> logits(std::span<const float> images);

  // Like forward_backward, but measures every operation; the result is in the order of execution.
  std::vector<OperationTime> profile(std::span<const float> images, std::span<const std::int32_t> labels);
  // The first layer whose output contains NaN or infinity; "images" if the images do; empty if there is none.
  std::string first_non_finite(std::span<const float> images, std::span<const std::int32_t> labels);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dt::nn
