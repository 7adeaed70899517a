// Types in the interfaces of plan, layers and network: the parameters and their packed buffers, the result of an evaluation, and
// the function that averages over ranks. None of them needs oneDNN.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dt::nn {

// The purpose of a tensor in the packed buffers.
enum class ParameterKind {
  weight,    // of a convolution or inner product
  bias,      // of a convolution or inner product
  scale,     // batch norm's gamma
  shift,     // batch norm's beta
  statistic, // batch norm's running mean or variance; its gradient is this batch's value times the loss scale
};

// A tensor in the packed buffers.
struct Parameter {
  std::string name;    // "conv1.weight"
  std::int64_t offset; // in floats from the buffer's start; 64-byte aligned
  std::int64_t size;   // in floats, with the padding of a blocked layout
  ParameterKind kind;
  std::vector<std::int64_t> dims{}; // as PyTorch's: outputs, inputs of its group (, height, width); a bias has only outputs
};

// The memory of the packed buffers.
struct ParameterBuffers {
  std::span<float> weights, gradients;
};
// The network calls it once, while it is built. Returns zeroed memory for the weights and for the gradients, `bytes` each,
// aligned to 64 bytes. The caller keeps the memory until this network, and all networks that share its weights, are destroyed.
using ParameterMemory = std::function<ParameterBuffers(std::int64_t bytes)>;

struct Evaluation {
  double loss_sum = 0;      // over the counted samples
  std::int64_t correct = 0; // top-1
  std::int64_t samples = 0; // number of counted samples: those with a label >= 0
};

// Replaces the values by their mean over all ranks, in place. Collective: every rank calls it at the same places of a pass.
using MeanOverRanks = std::function<void(std::span<float>)>;

} // namespace dt::nn
