// Network: a model built for one batch size, ready to compute. Knows no MPI.
#pragma once

#include <cstdint>
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

struct NetworkOptions {
  std::string model; // of model_names()
  ImageShape image;
  std::int64_t classes = 10;
  std::int64_t batch = 64; // samples of one call; fixed for the network's life
  int threads = 1;
  std::uint64_t seed = 1;  // of the initial weights: equal for every rank count and layout
};

// A tensor in the packed buffers.
struct Parameter {
  std::string name;     // "conv1.weight"
  std::int64_t offset;  // floats from the buffer's start; 64-byte aligned
  std::int64_t size;    // floats, padding of a blocked layout included
  bool is_bias;         // exempt from weight decay (and later from LARS)
};

// Times of one forward_backward call, in seconds.
struct ComputeTimes {
  double forward_s = 0, backward_s = 0;
};

struct Evaluation {
  double loss_sum = 0;      // over the counted samples
  std::int64_t correct = 0; // top-1
  std::int64_t samples = 0; // counted: those with a label >= 0
};

class Network {
public:
  explicit Network(const NetworkOptions& options); // a recipe error when the shapes do not fit the model, with both shapes
  ~Network();

  const NetworkOptions& options() const;
  // One packed buffer each: contiguous, 64-byte aligned, padding zero.
  std::span<float> weights();
  std::span<float> gradients();
  const std::vector<Parameter>& parameters() const;
  std::int64_t parameter_count() const; // without padding

  // images: batch x channels x height x width floats (plain NCHW); labels: batch class numbers.
  // Mean softmax cross-entropy over the batch; leaves the gradients of that mean.
  double forward_backward(std::span<const float> images, std::span<const std::int32_t> labels, ComputeTimes* times = nullptr);
  // Forward only; samples with label -1 (padding of a short batch) are not counted.
  Evaluation evaluate(std::span<const float> images, std::span<const std::int32_t> labels);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::vector<std::string> registered_models();

} // namespace dt::engine
