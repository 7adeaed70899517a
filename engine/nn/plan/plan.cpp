#include "engine/nn/plan/plan.hpp"

#include "core/error.hpp"
#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/nn/kernels/elementwise.hpp"
#include "engine/nn/kernels/processor.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include <fmt/format.h>

namespace dt::nn {

Plan::Plan(const Options& options, std::shared_ptr<ParameterStore> store)
    : options_(options), store_(std::move(store)), data_(options.tensors), gradients_(options.tensors)
{
}

dnnl::prop_kind Plan::forward_kind() const
{
  return training() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
}

dnnl::primitive_attr Plan::attributes() const
{
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::data_type Plan::type() const
{
  return options_.precision == Precision::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc Plan::layout(const Shape& shape, dnnl::memory::format_tag tag) const
{
  return {{options_.batch, shape.channels, shape.height, shape.width}, type(), tag};
}

dnnl::memory::desc Plan::blocked_layout(const Shape& shape) const
{
  return layout(shape, channel_block() == 16 ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c);
}

dnnl::memory::desc Plan::image_layout(const Shape& shape) const
{
  return {
      {options_.batch, shape.channels, shape.height, shape.width}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nchw};
}

// ---- gradients ----

void Plan::add_gradient(Tensor tensor, const dnnl::memory& part)
{
  gradients_[tensor.id].push_back(part);
  ++holders_[part.get()];
}

std::vector<dnnl::memory> Plan::gradient_parts_in(Tensor tensor, const dnnl::memory::desc& layout, const std::string& layer,
                                                  std::vector<Operation>& operations)
{
  std::vector<dnnl::memory> parts;
  for (const auto& part : gradient_parts(tensor)) parts.push_back(in_layout(part, layout, layer, operations));
  return parts;
}

dnnl::memory Plan::gradient(Tensor tensor, const std::string& layer, std::vector<Operation>& operations)
{
  const auto& all = gradient_parts(tensor);
  if (all.empty()) throw Error(ErrorKind::internal, "Nothing depends on the output of layer " + layer + ".");
  if (all.size() == 1) return all[0];
  const auto layout = all[0].get_desc();
  const auto parts = gradient_parts_in(tensor, layout, layer, operations);
  const auto sum = writable_gradient(parts, layout);
  operations.push_back(sum_operation({layer, "sum of gradients"}, parts, sum));
  return sum;
}

dnnl::memory Plan::writable_gradient(const std::vector<dnnl::memory>& parts, const dnnl::memory::desc& layout)
{
  for (const auto& part : parts) {
    const auto holders = holders_.find(part.get());
    if (holders == holders_.end() || holders->second > 1 || part.get_desc() != layout) continue;
    forget_copies_of(part);
    return part;
  }
  return allocate(layout);
}

void Plan::release(Tensor tensor)
{
  for (const auto& part : gradients_[tensor.id]) --holders_[part.get()];
}

// ---- parameters and buffers ----

ParameterId Plan::parameter(const ParameterShape& shape, const dnnl::memory::desc& layout)
{
  if (!store_->sealed()) {
    auto master = layout;
    master.data.data_type = dnnl_f32;
    return store_->declare(shape, master);
  }
  const auto id = next_parameter_++;
  if (id >= store_->stored().size() || stored(id).shape.name != shape.name || stored(id).shape.dims != shape.dims) {
    throw Error(ErrorKind::internal,
                fmt::format("The weights to be shared have no {} of this shape at place {}: only networks of "
                            "the same model, image shape and classes can share weights.",
                            shape.name, id));
  }
  return id;
}

dnnl::memory Plan::allocate(const dnnl::memory::desc& layout)
{
  dnnl::memory memory(layout, engine(), DNNL_MEMORY_NONE);
  if (layout.get_size() > 0) buffers_.push_back(memory);
  return memory;
}

dnnl::memory Plan::allocate_floats(std::int64_t count)
{
  return allocate({{count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a});
}

dnnl::memory Plan::alias(const dnnl::memory& memory, const dnnl::memory::desc& layout)
{
  const auto known =
      std::find_if(aliases_.begin(), aliases_.end(), [&](const Alias& alias) { return alias.memory.get() == memory.get(); });
  const auto of = known == aliases_.end() ? memory : known->of;
  aliases_.push_back({dnnl::memory(layout, engine(), DNNL_MEMORY_NONE), of});
  return aliases_.back().memory;
}

void Plan::place(dnnl::memory& memory, void* data)
{
  memory.set_data_handle(data);
  for (auto& alias : aliases_)
    if (alias.of.get() == memory.get()) alias.memory.set_data_handle(data);
}

// ---- reorders ----

void Plan::append_reorder(const dnnl::memory& from, const dnnl::memory& to, const std::string& layer,
                          std::vector<Operation>& operations)
{
  const dnnl::reorder::primitive_desc descriptor(from, to, attributes());
  operations.emplace_back(
      OperationLabel{.layer = layer, .what = "reorder", .reorder = true}, descriptor,
      Operation::Arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, scratchpad(descriptor)}});
}

dnnl::memory Plan::in_layout(const dnnl::memory& memory, const dnnl::memory::desc& layout, const std::string& layer,
                             std::vector<Operation>& operations)
{
  if (memory.get_desc() == layout) return memory;
  for (const auto& copy : copies_)
    if (copy.from.get() == memory.get() && copy.to.get_desc() == layout) return copy.to;
  const auto copy = allocate(layout);
  append_reorder(memory, copy, layer, operations);
  copies_.push_back({memory, copy});
  return copy;
}

dnnl::memory Plan::activations(Tensor tensor, const std::string& layer, std::vector<Operation>& operations)
{
  const auto& memory = data(tensor);
  if (memory.get_desc().data_type() == type()) return memory;
  return in_layout(memory, layout(tensor.shape, dnnl::memory::format_tag::nchw), layer, operations);
}

// Removes the copies of a memory that is about to be overwritten.
void Plan::forget_copies_of(const dnnl::memory& memory)
{
  std::erase_if(copies_, [&](const Copy& copy) { return copy.from.get() == memory.get(); });
}

dnnl::memory Plan::staging_for(const dnnl::memory& target, const dnnl::memory::desc& layout)
{
  return target.get_desc() == layout ? target : allocate(layout);
}

void Plan::deliver(const dnnl::memory& staging, const dnnl::memory& target, const std::string& layer,
                   std::vector<Operation>& operations)
{
  if (staging.get() != target.get()) append_reorder(staging, target, layer, operations);
}

// ---- finishing ----

void Plan::finish(const std::vector<Operation*>& operations)
{
  create_primitives(operations);
  std::map<dnnl_memory_t, std::size_t> places;
  std::vector<BufferUse> uses;
  for (const auto& buffer : buffers_) {
    places[buffer.get()] = uses.size();
    uses.push_back({static_cast<std::int64_t>(buffer.get_desc().get_size()), -1, -1});
  }
  for (const auto& alias : aliases_)
    if (const auto of = places.find(alias.of.get()); of != places.end()) places[alias.memory.get()] = of->second;
  for (std::size_t i = 0; i < operations.size(); ++i)
    for (const auto& memory : operations[i]->memories()) {
      const auto place = places.find(memory.get());
      if (place == places.end()) continue;
      auto& use = uses[place->second];
      use.last = static_cast<std::int64_t>(i);
      if (use.first < 0) use.first = use.last;
    }
  for (auto& use : uses)
    if (use.first < 0) use.bytes = 0; // no operation uses this buffer
  memory_plan_ = plan_memory(uses);
}

// Each thread takes the next operation that no thread has begun. Rethrows the first error after all threads have ended.
void Plan::create_primitives(const std::vector<Operation*>& operations) const
{
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(options_.threads));
  const auto work = [&](std::size_t worker) {
    try {
      prepare_compute_thread(options_.threads); // oneDNN creates primitives for a number of threads
      for (auto i = next++; i < operations.size(); i = next++) operations[i]->create();
    } catch (...) {
      failures[worker] = std::current_exception();
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t worker = 1; worker < failures.size(); ++worker) helpers.emplace_back(work, worker);
  work(0);
  helpers.clear();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void Plan::allocate_all()
{
  arena_ = AlignedBuffer(memory_plan_.bytes);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i].set_data_handle(static_cast<char*>(arena_.data()) + memory_plan_.offsets[i]);
  for (const auto& alias : aliases_) alias.memory.set_data_handle(alias.of.get_data_handle());
}

std::int64_t Plan::unshared_bytes() const
{
  std::int64_t bytes = 0;
  for (const auto& buffer : buffers_) bytes += static_cast<std::int64_t>(buffer.get_desc().get_size());
  return bytes;
}

} // namespace dt::nn
