// Plan: what layers share while a network is built: activations and their gradients, parameters, scratch memory, reorders.
#pragma once

#include "engine/nn/aligned_buffer.hpp"
#include "engine/nn/memory_plan.hpp"
#include "engine/nn/operation.hpp"
#include "engine/nn/parameter_store.hpp"
#include "engine/nn/tensor.hpp"

#include <map>
#include <memory>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::engine {

enum class Purpose { training, evaluation };

// What a pass reads that may change between two passes.
struct PassState {
  float loss_scale = 1;
  std::uint64_t pass = 0; // dropout's draws
};

// Build order: every layer's forward in order, parameters sealed, for training every layer's backward in reverse, each followed
// by release(), then finish() with all operations in the order in which they will run.
class Plan {
 public:
  struct Options {
    std::int64_t batch = 1;
    Purpose purpose = Purpose::training;
    std::size_t tensors = 0;
    Tensor input;               // gets no gradient
    std::vector<int> uses{};    // by tensor: how many layers read it
    Precision precision = Precision::fp32;
    bool winograd = true;
    int threads = 1;
    std::uint64_t dropout_seed = 0;
    double label_smoothing = 0;
    MeanOverRanks synchronize{};
  };
  // An unsealed store is filled, a sealed one is used as it is.
  Plan(const Options& options, std::shared_ptr<ParameterStore> store);

  const Options& options() const { return options_; }
  const dnnl::engine& engine() const { return store_->engine(); }
  bool training() const { return options_.purpose == Purpose::training; }
  dnnl::prop_kind forward_kind() const;
  PassState& state() { return *state_; }
  // Scratchpad from the plan, not from the library.
  dnnl::primitive_attr attributes() const;
  // Of activations and their gradients.
  dnnl::memory::data_type type() const;
  // Descriptors of a batch of activations: in the layout the primitive likes best, or in a given one.
  dnnl::memory::desc any_layout(const Shape& shape) const { return layout(shape, dnnl::memory::format_tag::any); }
  dnnl::memory::desc layout(const Shape& shape, dnnl::memory::format_tag tag) const;
  // The images as they come: fp32, plain order.
  dnnl::memory::desc image_layout(const Shape& shape) const;

  const dnnl::memory& data(Tensor tensor) const { return data_[tensor.id]; }
  void set_data(Tensor tensor, const dnnl::memory& memory) { data_[tensor.id] = memory; }
  bool needs_gradient(Tensor tensor) const { return tensor.id != options_.input.id; }
  // Whether one layer alone reads the tensor, so that it may write over it.
  bool used_once(Tensor tensor) const { return options_.uses[tensor.id] == 1; }

  // A tensor that several layers read gets a part of its gradient from each. A memory may be part of several gradients.
  void add_gradient(Tensor tensor, const dnnl::memory& part);
  const std::vector<dnnl::memory>& gradient_parts(Tensor tensor) const { return gradients_[tensor.id]; }
  // All parts in the layout of the first, or in the given one.
  std::vector<dnnl::memory> gradient_parts_in(Tensor tensor, const dnnl::memory::desc& layout, const std::string& layer,
                                              std::vector<Operation>& operations);
  // Their sum: the only part itself, or what an operation appended to `operations` makes.
  dnnl::memory gradient(Tensor tensor, const std::string& layer, std::vector<Operation>& operations);
  // A memory of that layout to write into: one of the parts when nobody else will read it, or a new one.
  dnnl::memory writable_gradient(const std::vector<dnnl::memory>& parts, const dnnl::memory::desc& layout);
  // The layer that made the tensor has planned its backward pass.
  void release(Tensor tensor);

  // The parameter of that shape: declared in this layout (in fp32, whatever the descriptor's type), or the next one of a sealed store.
  ParameterId parameter(const ParameterShape& shape, const dnnl::memory::desc& layout);
  const StoredParameter& stored(ParameterId id) const { return store_->stored()[id]; }

  // A buffer of the network's own. It has data after finish(), only while operations use it.
  dnnl::memory allocate(const dnnl::memory::desc& layout);
  dnnl::memory allocate_floats(std::int64_t count);
  // The same bytes under another descriptor: of a buffer of the network's own, or of one that has its data for good.
  dnnl::memory alias(const dnnl::memory& memory, const dnnl::memory::desc& layout);
  // The same for one primitive.
  dnnl::memory scratchpad(const dnnl::primitive_desc_base& primitive) { return allocate(primitive.scratchpad_desc()); }

  // `memory` in that layout and type: itself, or a copy that a reorder appended to `operations` fills; one copy serves all.
  dnnl::memory in_layout(const dnnl::memory& memory, const dnnl::memory::desc& layout, const std::string& layer,
                         std::vector<Operation>& operations);
  // Where a primitive that writes that layout should write what is to end up in `target`: target itself, or a buffer.
  dnnl::memory staging_for(const dnnl::memory& target, const dnnl::memory::desc& layout);
  // Appends the reorder from staging to target, if they are two.
  void deliver(const dnnl::memory& staging, const dnnl::memory& target, const std::string& layer,
               std::vector<Operation>& operations);

  // Makes the primitives, several at a time, and plans the memory for operations that run in this order. Nothing is allocated yet.
  void finish(const std::vector<Operation*>& operations);
  // Gives everything its memory.
  void allocate_all();
  std::int64_t bytes() const { return memory_plan_.bytes; }
  std::int64_t unshared_bytes() const;

 private:
  struct Alias {
    dnnl::memory memory, of;
  };
  struct Copy {
    dnnl::memory from, to;
  };
  void append_reorder(const dnnl::memory& from, const dnnl::memory& to, const std::string& layer,
                      std::vector<Operation>& operations);
  void forget_copies_of(const dnnl::memory& memory);
  void create_primitives(const std::vector<Operation*>& operations) const;
  Options options_;
  std::shared_ptr<ParameterStore> store_;
  std::unique_ptr<PassState> state_ = std::make_unique<PassState>();
  std::vector<dnnl::memory> data_;                   // by tensor
  std::vector<std::vector<dnnl::memory>> gradients_; // likewise, their parts
  std::map<dnnl_memory_t, int> holders_;             // tensors whose gradient a memory is part of and that are not released yet
  std::vector<dnnl::memory> buffers_;
  std::vector<Alias> aliases_;
  std::vector<Copy> copies_;
  MemoryPlan memory_plan_;
  AlignedBuffer arena_;
  ParameterId next_parameter_ = 0;
};

} // namespace dt::engine
