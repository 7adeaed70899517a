#include "engine/nn/plan/parameter_store.hpp"

#include "core/error.hpp"

#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::nn {
namespace {

std::int64_t floats_of(const dnnl::memory::desc& layout) { return static_cast<std::int64_t>(layout.get_size() / sizeof(float)); }

std::int64_t round_up(std::int64_t floats) { return (floats + floats_per_line - 1) / floats_per_line * floats_per_line; }

dnnl::memory::desc plain_layout(const dnnl::memory& stored)
{
  const auto dims = stored.get_desc().dims();
  dnnl::memory::dims strides(dims.size(), 1);
  for (auto i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return {dims, dnnl::memory::data_type::f32, strides};
}

// Not part of a step, so the reorder may use its own scratch memory and threads.
void copy(dnnl::memory from, dnnl::memory to)
{
  dnnl::stream stream(from.get_engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

std::string describe(const dnnl_memory_desc_t& layout)
{
  const auto& blocking = layout.format_desc.blocking;
  return fmt::format("dims {} strides {} blocks {} of {}", fmt::join(layout.dims, layout.dims + layout.ndims, "x"),
                     fmt::join(blocking.strides, blocking.strides + layout.ndims, ","),
                     fmt::join(blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks, "x"),
                     fmt::join(blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks, ","));
}

} // namespace

std::int64_t ParameterShape::size() const
{
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

ParameterId ParameterStore::declare(const ParameterShape& shape, const dnnl::memory::desc& layout)
{
  stored_.push_back({shape, dnnl::memory(layout, engine_, DNNL_MEMORY_NONE), dnnl::memory(layout, engine_, DNNL_MEMORY_NONE)});
  return stored_.size() - 1;
}

void ParameterStore::seal()
{
  std::int64_t offset = 0;
  for (const auto& stored : stored_) {
    const auto size = floats_of(stored.weight.get_desc());
    parameters_.push_back({stored.shape.name, offset, size, stored.shape.kind, stored.shape.dims});
    offset += round_up(size);
  }
  packed_bytes_ = offset * static_cast<std::int64_t>(sizeof(float));
  sealed_ = true;
}

void ParameterStore::allocate()
{
  if (buffers_.weights.data() != nullptr) return;
  buffers_ = memory_ ? memory_(packed_bytes_) : own_buffers();
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    stored_[i].weight.set_data_handle(buffers_.weights.data() + parameters_[i].offset);
    stored_[i].gradient.set_data_handle(buffers_.gradients.data() + parameters_[i].offset);
  }
}

ParameterBuffers ParameterStore::own_buffers()
{
  weights_ = AlignedBuffer(packed_bytes_);
  gradients_ = AlignedBuffer(packed_bytes_);
  return {weights_.floats(), gradients_.floats()};
}

std::int64_t ParameterStore::parameter_count() const
{
  std::int64_t count = 0;
  for (const auto& stored : stored_) count += stored.shape.kind == ParameterKind::statistic ? 0 : stored.shape.size();
  return count;
}

std::int64_t ParameterStore::plain_size() const
{
  std::int64_t count = 0;
  for (const auto& stored : stored_) count += stored.shape.size();
  return count;
}

std::vector<float> ParameterStore::plain_of(std::span<const float> packed) const
{
  require_size(packed.size());
  std::vector<float> plain(static_cast<std::size_t>(plain_size()));
  auto* source = const_cast<float*>(packed.data()); // only read
  auto* next = plain.data();
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    const auto& shape = stored_[i].shape;
    copy(dnnl::memory(stored_[i].weight.get_desc(), engine_, source + parameters_[i].offset),
         dnnl::memory(plain_layout(stored_[i].weight), engine_, next));
    next += shape.size();
  }
  return plain;
}

void ParameterStore::pack(std::span<const float> values, std::span<float> packed) const
{
  require_size(packed.size());
  if (static_cast<std::int64_t>(values.size()) != plain_size()) {
    throw Error(ErrorKind::internal, fmt::format("The model has {} parameters, but {} values were given for its weights.",
                                                 plain_size(), values.size()));
  }
  auto* next = const_cast<float*>(values.data()); // only read
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    const auto& shape = stored_[i].shape;
    copy(dnnl::memory(plain_layout(stored_[i].weight), engine_, next),
         dnnl::memory(stored_[i].weight.get_desc(), engine_, packed.data() + parameters_[i].offset));
    next += shape.size();
  }
}

void ParameterStore::require_size(std::size_t floats) const
{
  if (floats == weights().size()) return;
  throw Error(ErrorKind::internal,
              fmt::format("A buffer of {} floats is not laid out as the model's {} packed floats.", floats, weights().size()));
}

std::string ParameterStore::layout() const
{
  std::string text;
  for (const auto& stored : stored_) text += stored.shape.name + ": " + describe(stored.weight.get_desc().data) + "\n";
  return text;
}

} // namespace dt::nn
