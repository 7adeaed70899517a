// ParameterStore: the weights and gradients of a model in two packed buffers, in the layouts the kernels want.
//
// A network that trains declares the parameters and so fixes their layouts; networks that only evaluate share the store.
#pragma once

#include "engine/nn/aligned_buffer.hpp"
#include "engine/nn/network.hpp"

#include <memory>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::engine {

using ParameterId = std::size_t;

// What a layer says about a parameter, apart from its layout.
struct ParameterShape {
  std::string name;        // "conv1.weight"
  dnnl::memory::dims dims; // plain order: outputs x inputs (x height x width), or outputs of a bias
  ParameterKind kind = ParameterKind::weight;
  bool feeds_relu = false;   // decides the spread of the initial weights, with
  std::int64_t fan_in = 1;   // inputs of one output
  std::int64_t size() const; // elements, without padding
};

struct StoredParameter {
  ParameterShape shape;
  dnnl::memory weight, gradient; // equal layouts; parts of the packed buffers once sealed
};

class ParameterStore {
 public:
  explicit ParameterStore(const dnnl::engine& engine) : engine_(engine) {}
  const dnnl::engine& engine() const { return engine_; }

  // One more parameter. Its memories have no data until seal().
  ParameterId declare(const ParameterShape& shape, const dnnl::memory::desc& layout);
  // Lays all parameters out one behind the other, each on a 64-byte boundary.
  void seal();
  std::int64_t bytes() const { return 2 * packed_bytes_; } // of weights and gradients
  // Gives them memory, zero, once.
  void allocate();
  bool sealed() const { return sealed_; }

  const std::vector<StoredParameter>& stored() const { return stored_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::span<float> weights() const { return weights_.floats(); }
  std::span<float> gradients() const { return gradients_.floats(); }
  std::int64_t parameter_count() const; // that are trained
  std::int64_t plain_size() const;      // all

  // In the order of parameters(), each in plain order (outputs, inputs, height, width), without padding: plain_size()
  // floats, equal for every layout. For records and tests: they allocate.
  std::vector<float> plain_weights() const { return plain_of(weights()); }
  std::vector<float> plain_gradients() const { return plain_of(gradients()); }
  void set_plain_weights(std::span<const float> values) { pack(values, weights()); }
  // For any buffer laid out as the weights. An internal error for another number of floats on either side.
  std::vector<float> plain_of(std::span<const float> packed) const;
  void pack(std::span<const float> plain, std::span<float> packed) const;

  // The layout of every parameter in words, a line each: ranks may sum packed buffers only when these are equal.
  std::string layout() const;

 private:
  void require_size(std::size_t floats) const;
  dnnl::engine engine_;
  std::vector<StoredParameter> stored_;
  std::vector<Parameter> parameters_;
  AlignedBuffer weights_, gradients_;
  std::int64_t packed_bytes_ = 0;
  bool sealed_ = false;
};

} // namespace dt::engine
