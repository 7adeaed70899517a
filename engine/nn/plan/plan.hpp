// Plan: what layers share while a network is built: activations, their gradients, parameters, scratch memory and reorders.
#pragma once

#include "core/spec/algorithms.hpp"
#include "core/spec/choices.hpp"
#include "engine/model/tensor.hpp"
#include "engine/nn/kernels/aligned_buffer.hpp"
#include "engine/nn/kernels/operation.hpp"
#include "engine/nn/plan/memory_plan.hpp"
#include "engine/nn/plan/parameter_store.hpp"

#include <map>
#include <memory>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {

using model::Shape;
using model::Tensor;

enum class Purpose { training, evaluation };

// State that a pass reads and that may change between passes.
struct PassState {
  float loss_scale = 1;
  std::uint64_t pass = 0; // selects dropout's random numbers
};

// Order of calls: plan_forward of every layer; seal the parameters; for training, plan_backward of every layer in reverse order,
// each followed by release(); then finish() with all operations in the order in which they will run.
class Plan {
 public:
  struct Options {
    std::int64_t batch = 1;
    Purpose purpose = Purpose::training;
    std::size_t tensors = 0;
    Tensor input;            // gets no gradient
    std::vector<int> uses{}; // for each tensor: how many layers read it
    Precision precision = Precision::fp32;
    bool winograd = true;
    Algorithms algorithms{};
    int threads = 1;
    std::uint64_t dropout_seed = 0;
    double label_smoothing = 0;
    MeanOverRanks synchronize{};
  };
  // An unsealed store gets new parameters; a sealed store is used unchanged.
  Plan(const Options& options, std::shared_ptr<ParameterStore> store);

  const Options& options() const { return options_; }
  const dnnl::engine& engine() const { return store_->engine(); }
  bool training() const { return options_.purpose == Purpose::training; }
  dnnl::prop_kind forward_kind() const;
  PassState& state() { return *state_; }
  // Attributes with scratch memory from the plan, not from the library.
  dnnl::primitive_attr attributes() const;
  // Data type of activations and their gradients.
  dnnl::memory::data_type type() const;
  // Descriptors of a batch of activations: with the layout that the primitive prefers, or with a given one.
  dnnl::memory::desc any_layout(const Shape& shape) const { return layout(shape, dnnl::memory::format_tag::any); }
  dnnl::memory::desc layout(const Shape& shape, dnnl::memory::format_tag tag) const;
  // With this processor's blocks of channels (channel_block()).
  dnnl::memory::desc blocked_layout(const Shape& shape) const;
  // Descriptor of the images as they arrive: fp32, plain order.
  dnnl::memory::desc image_layout(const Shape& shape) const;

  const dnnl::memory& data(Tensor tensor) const { return data_[tensor.id]; }
  void set_data(Tensor tensor, const dnnl::memory& memory) { data_[tensor.id] = memory; }
  // data(tensor) in the number format of activations. The images are fp32, so for them it is a copy in a network of another
  // format.
  dnnl::memory activations(Tensor tensor, const std::string& layer, std::vector<Operation>& operations);
  bool needs_gradient(Tensor tensor) const { return tensor.id != options_.input.id; }
  // Whether only one layer reads the tensor, so that this layer may overwrite it.
  bool used_once(Tensor tensor) const { return options_.uses[tensor.id] == 1; }

  // Adds a part of the tensor's gradient: each layer that reads the tensor contributes one. A memory may be part of several
  // gradients.
  void add_gradient(Tensor tensor, const dnnl::memory& part);
  const std::vector<dnnl::memory>& gradient_parts(Tensor tensor) const { return gradients_[tensor.id]; }
  // All parts, reordered to the given layout where they differ from it.
  std::vector<dnnl::memory> gradient_parts_in(Tensor tensor, const dnnl::memory::desc& layout, const std::string& layer,
                                              std::vector<Operation>& operations);
  // The sum of the parts: the part itself if there is only one, otherwise the result of an operation appended to `operations`.
  dnnl::memory gradient(Tensor tensor, const std::string& layer, std::vector<Operation>& operations);
  // A memory with this layout to write into: one of the parts if no other layer will read it, otherwise a new one.
  dnnl::memory writable_gradient(const std::vector<dnnl::memory>& parts, const dnnl::memory::desc& layout);
  // Call it when the layer that made the tensor has planned its backward pass: its gradient's parts may then be reused.
  void release(Tensor tensor);

  // The parameter with this shape: a new one in this layout (in fp32, whatever the descriptor's type), or the next one of a
  // sealed store.
  ParameterId parameter(const ParameterShape& shape, const dnnl::memory::desc& layout);
  const StoredParameter& stored(ParameterId id) const { return store_->stored()[id]; }

  // A new buffer of the network. It has data after allocate_all(), and only while operations use it.
  dnnl::memory allocate(const dnnl::memory::desc& layout);
  dnnl::memory allocate_floats(std::int64_t count);
  // The same bytes under another descriptor: of a buffer of the network, or of a memory that place() gives its data.
  dnnl::memory alias(const dnnl::memory& memory, const dnnl::memory::desc& layout);
  // Gives a memory that is no buffer of the network its data, for the passes that follow; its aliases get the same data.
  void place(dnnl::memory& memory, void* data);
  // Scratch memory for one primitive.
  dnnl::memory scratchpad(const dnnl::primitive_desc_base& primitive) { return allocate(primitive.scratchpad_desc()); }

  // `memory` in this layout and type: itself, or a copy that a reorder appended to `operations` fills. All users share one copy.
  dnnl::memory in_layout(const dnnl::memory& memory, const dnnl::memory::desc& layout, const std::string& layer,
                         std::vector<Operation>& operations);
  // The memory that a primitive with this output layout should write so that the values end up in `target`: target itself, or a
  // buffer.
  dnnl::memory staging_for(const dnnl::memory& target, const dnnl::memory::desc& layout);
  // Appends the reorder from staging to target, if they differ.
  void deliver(const dnnl::memory& staging, const dnnl::memory& target, const std::string& layer,
               std::vector<Operation>& operations);

  // Creates the primitives, several concurrently, and plans the memory for operations that run in this order. Allocates no memory
  // yet.
  void finish(const std::vector<Operation*>& operations);
  // Allocates all memory.
  void allocate_all();
  std::int64_t bytes() const { return memory_plan_.bytes; }
  std::int64_t unshared_bytes() const;

 private:
  struct Alias {
    dnnl::memory memory, of; // `of` is no alias itself
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
  std::vector<std::vector<dnnl::memory>> gradients_; // by tensor: the parts of its gradient
  // for each memory: number of tensors that are not released and whose gradient it is part of
  std::map<dnnl_memory_t, int> holders_;
  std::vector<dnnl::memory> buffers_;
  std::vector<Alias> aliases_;
  std::vector<Copy> copies_;
  MemoryPlan memory_plan_;
  AlignedBuffer arena_;
  ParameterId next_parameter_ = 0;
};

} // namespace dt::nn
