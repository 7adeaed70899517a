#include "engine/nn/plan.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::engine {

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

dnnl::memory::desc Plan::layout(const Shape& shape, dnnl::memory::format_tag tag) const
{
  return {{options_.batch, shape.channels, shape.height, shape.width}, dnnl::memory::data_type::f32, tag};
}

ParameterId Plan::parameter(const ParameterShape& shape, const dnnl::memory::desc& layout)
{
  if (!store_->sealed()) return store_->declare(shape, layout);
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
  buffers_.emplace_back(static_cast<std::int64_t>(layout.get_size()));
  return dnnl::memory(layout, engine(), buffers_.back().data());
}

dnnl::memory Plan::scratchpad(const dnnl::memory::desc& layout)
{
  scratchpads_.push_back(dnnl::memory(layout, engine(), DNNL_MEMORY_NONE));
  return scratchpads_.back();
}

void Plan::append_reorder(const dnnl::memory& from, const dnnl::memory& to, std::vector<Operation>& operations)
{
  const dnnl::reorder::primitive_desc descriptor(from, to, attributes());
  operations.emplace_back(
      dnnl::reorder(descriptor),
      std::initializer_list<std::pair<int, dnnl::memory>>{
          {DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, scratchpad(descriptor.scratchpad_desc())}});
  ++reorders_;
}

dnnl::memory Plan::in_layout(const dnnl::memory& memory, const dnnl::memory::desc& layout, std::vector<Operation>& operations)
{
  if (memory.get_desc() == layout) return memory;
  const auto copy = allocate(layout);
  append_reorder(memory, copy, operations);
  return copy;
}

dnnl::memory Plan::staging_for(const dnnl::memory& target, const dnnl::memory::desc& layout)
{
  return target.get_desc() == layout ? target : allocate(layout);
}

void Plan::deliver(const dnnl::memory& staging, const dnnl::memory& target, std::vector<Operation>& operations)
{
  if (staging.get() != target.get()) append_reorder(staging, target, operations);
}

void Plan::finish()
{
  std::size_t largest = 0;
  for (const auto& scratchpad : scratchpads_) largest = std::max(largest, scratchpad.get_desc().get_size());
  buffers_.emplace_back(static_cast<std::int64_t>(largest));
  for (const auto& scratchpad : scratchpads_) {
    if (scratchpad.get_desc().get_size() > 0) scratchpad.set_data_handle(buffers_.back().data());
  }
}

} // namespace dt::engine
