// Plan: what layers share while a network is built: activations and their gradients, parameters, scratchpad, reorders.
#pragma once

#include "engine/nn/aligned_buffer.hpp"
#include "engine/nn/operation.hpp"
#include "engine/nn/parameter_store.hpp"
#include "engine/nn/tensor.hpp"

#include <memory>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::engine {

enum class Purpose { training, evaluation };

// Build order: every layer's forward in order, parameters sealed, for training every layer's backward in reverse, finish().
class Plan {
 public:
  struct Options {
    std::int64_t batch = 1;
    Purpose purpose = Purpose::training;
    std::size_t tensors = 0;
    Tensor input; // gets no gradient
  };
  // An unsealed store is filled, a sealed one is used as it is.
  Plan(const Options& options, std::shared_ptr<ParameterStore> store);

  const dnnl::engine& engine() const { return store_->engine(); }
  bool training() const { return options_.purpose == Purpose::training; }
  dnnl::prop_kind forward_kind() const;
  // Scratchpad from the plan, not from the library.
  dnnl::primitive_attr attributes() const;
  // Descriptors of a batch: in the layout the primitive likes best, in plain order, with channels last.
  dnnl::memory::desc any_layout(const Shape& shape) const { return layout(shape, dnnl::memory::format_tag::any); }
  dnnl::memory::desc plain_layout(const Shape& shape) const { return layout(shape, dnnl::memory::format_tag::nchw); }
  dnnl::memory::desc channels_last_layout(const Shape& shape) const { return layout(shape, dnnl::memory::format_tag::nhwc); }

  const dnnl::memory& data(Tensor tensor) const { return data_[tensor.id]; }
  const dnnl::memory& gradient(Tensor tensor) const { return gradients_[tensor.id]; }
  void set_data(Tensor tensor, const dnnl::memory& memory) { data_[tensor.id] = memory; }
  void set_gradient(Tensor tensor, const dnnl::memory& memory) { gradients_[tensor.id] = memory; }
  bool needs_gradient(Tensor tensor) const { return tensor.id != options_.input.id; }

  // The parameter of that shape: declared in this layout, or the next one of a sealed store.
  ParameterId parameter(const ParameterShape& shape, const dnnl::memory::desc& layout);
  const StoredParameter& stored(ParameterId id) const { return store_->stored()[id]; }

  // A zeroed buffer of the network's own.
  dnnl::memory allocate(const dnnl::memory::desc& layout);
  // The one scratchpad, for one more primitive. It has data after finish().
  dnnl::memory scratchpad(const dnnl::memory::desc& layout);

  // `memory` in that layout: itself, or a copy that a reorder appended to `operations` fills.
  dnnl::memory in_layout(const dnnl::memory& memory, const dnnl::memory::desc& layout, std::vector<Operation>& operations);
  // Where a primitive that writes that layout should write what is to end up in `target`: target itself, or a buffer.
  dnnl::memory staging_for(const dnnl::memory& target, const dnnl::memory::desc& layout);
  // Appends the reorder from staging to target, if they are two.
  void deliver(const dnnl::memory& staging, const dnnl::memory& target, std::vector<Operation>& operations);

  void finish();
  int reorders() const { return reorders_; }

 private:
  dnnl::memory::desc layout(const Shape& shape, dnnl::memory::format_tag tag) const;
  void append_reorder(const dnnl::memory& from, const dnnl::memory& to, std::vector<Operation>& operations);
  Options options_;
  std::shared_ptr<ParameterStore> store_;
  std::vector<dnnl::memory> data_, gradients_; // by tensor
  std::vector<AlignedBuffer> buffers_;
  std::vector<dnnl::memory> scratchpads_;
  ParameterId next_parameter_ = 0;
  int reorders_ = 0;
};

} // namespace dt::engine
