// ParameterStore: the weights and gradients of a model in two packed buffers, in the layouts that the kernels use. A kernel's
// layout may have other dimensions than the parameter's shape (groups on their own), but the same plain order.
//
// A training network declares the parameters and so determines their layouts. Evaluation networks share its store.
#pragma once

#include "engine/nn/kernels/aligned_buffer.hpp"
#include "engine/nn/plan/values.hpp"

#include <memory>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {

using ParameterId = std::size_t;

// A layer's description of a parameter, without its layout.
struct ParameterShape {
  std::string name;        // "conv1.weight"
  dnnl::memory::dims dims; // plain order: outputs x inputs of its group (x height x width); a bias has only outputs
  ParameterKind kind = ParameterKind::weight;
  bool feeds_relu = false;   // with fan_in, determines the range of the initial weights
  std::int64_t fan_in = 1;   // inputs of one output
  std::int64_t size() const; // number of elements, without padding
};

struct StoredParameter {
  ParameterShape shape;
  dnnl::memory weight, gradient; // equal layouts; after allocate(), parts of the packed buffers
};

class ParameterStore {
 public:
  // `memory`: where the packed buffers lie; empty: in memory of the store.
  explicit ParameterStore(const dnnl::engine& engine, ParameterMemory memory = {}) : engine_(engine), memory_(std::move(memory))
  {
  }
  const dnnl::engine& engine() const { return engine_; }

  // Adds a parameter. Its memories have no data until allocate().
  ParameterId declare(const ParameterShape& shape, const dnnl::memory::desc& layout);
  // Places all parameters one after another, each on a 64-byte boundary. No parameter can be added afterwards.
  void seal();
  std::int64_t bytes() const { return 2 * packed_bytes_; } // of weights and gradients together
  // Provides both buffers, filled with zeros. Later calls do nothing.
  void allocate();
  bool sealed() const { return sealed_; }

  const std::vector<StoredParameter>& stored() const { return stored_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::span<float> weights() const { return buffers_.weights; }
  std::span<float> gradients() const { return buffers_.gradients; }
  std::int64_t parameter_count() const; // trained parameters
  std::int64_t plain_size() const;      // all parameters

  // All parameters in the order of parameters(), each in plain order (outputs, inputs, height, width) without padding:
  // plain_size() floats, independent of layouts. Allocates memory; for records and tests.
  std::vector<float> plain_weights() const { return plain_of(weights()); }
  std::vector<float> plain_gradients() const { return plain_of(gradients()); }
  void set_plain_weights(std::span<const float> values) { pack(values, weights()); }
  // The conversion for any buffer with the layout of the weights. Throws an internal error if either side has another number of
  // floats.
  std::vector<float> plain_of(std::span<const float> packed) const;
  void pack(std::span<const float> plain, std::span<float> packed) const;

  // The layout of every parameter in words, one line each. Ranks may sum packed buffers only if these texts are equal.
  std::string layout() const;

 private:
  void require_size(std::size_t floats) const;
  ParameterBuffers own_buffers();
  dnnl::engine engine_;
  ParameterMemory memory_;
  std::vector<StoredParameter> stored_;
  std::vector<Parameter> parameters_;
  AlignedBuffer weights_, gradients_; // empty if memory_ gives the buffers
  ParameterBuffers buffers_;
  std::int64_t packed_bytes_ = 0;
  bool sealed_ = false;
};

} // namespace dt::nn
