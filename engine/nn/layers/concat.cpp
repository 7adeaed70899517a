#include "engine/nn/layers/concat.hpp"

#include "engine/nn/kernels/processor.hpp"

#include <algorithm>
#include <cstring>

namespace dt::nn {
namespace {

// One tensor's channels as a part of the joined tensor: a range of bytes in each sample.
struct Part {
  dnnl::memory memory;
  std::int64_t bytes = 0;  // per sample
  std::int64_t offset = 0; // within a sample of the joined tensor
};

void copy_samples(const char* from, std::int64_t from_stride, char* to, std::int64_t to_stride, std::int64_t bytes,
                  std::int64_t samples)
{
#pragma omp parallel for schedule(static)
  for (std::int64_t sample = 0; sample < samples; ++sample)
    std::memcpy(to + sample * to_stride, from + sample * from_stride, static_cast<std::size_t>(bytes));
}

char* bytes_of(const dnnl::memory& memory) { return static_cast<char*>(memory.get_data_handle()); }

} // namespace

dnnl::memory::desc Concat::common_layout(const Plan& plan) const
{
  const auto blocked = [](const Tensor& tensor) { return tensor.shape.channels % channel_block() == 0; };
  const bool blocks = std::all_of(inputs().begin(), inputs().end(), blocked);
  return blocks ? plan.blocked_layout(output().shape) : plan.layout(output().shape, dnnl::memory::format_tag::nchw);
}

namespace {

// The joined tensor's kind of layout, for one part's channels.
dnnl::memory::desc part_layout(const Plan& plan, const dnnl::memory::desc& whole, const Shape& shape)
{
  const bool blocks = whole.data.format_desc.blocking.inner_nblks > 0;
  return blocks ? plan.blocked_layout(shape) : plan.layout(shape, dnnl::memory::format_tag::nchw);
}

std::int64_t sample_bytes(const dnnl::memory::desc& layout)
{
  return static_cast<std::int64_t>(layout.get_size()) / layout.dims()[0];
}

} // namespace

void Concat::plan_forward(Plan& plan)
{
  const auto layout = common_layout(plan);
  whole_ = plan.allocate(layout);
  std::vector<Part> parts;
  std::vector<dnnl::memory> uses{whole_};
  std::int64_t offset = 0;
  for (const auto input : inputs()) {
    const auto memory = plan.in_layout(plan.data(input), part_layout(plan, layout, input.shape), name(), forward_);
    parts.push_back({memory, sample_bytes(memory.get_desc()), offset});
    uses.push_back(memory);
    offset += parts.back().bytes;
  }
  forward_.emplace_back(label("forward"), uses, [whole = whole_, parts, stride = offset, batch = plan.options().batch] {
    for (const auto& part : parts)
      copy_samples(bytes_of(part.memory), part.bytes, bytes_of(whole) + part.offset, stride, part.bytes, batch);
  });
  plan.set_data(output(), whole_);
}

void Concat::plan_backward(Plan& plan)
{
  const auto layout = whole_.get_desc();
  const auto whole = plan.in_layout(plan.gradient(output(), name(), backward_), layout, name(), backward_);
  const auto stride = sample_bytes(layout);
  std::int64_t offset = 0;
  for (const auto input : inputs()) {
    const auto memory = plan.allocate(part_layout(plan, layout, input.shape));
    const auto bytes = sample_bytes(memory.get_desc());
    if (plan.needs_gradient(input)) {
      backward_.emplace_back(label("backward"), std::vector{whole, memory}, [=, batch = plan.options().batch] {
        copy_samples(bytes_of(whole) + offset, stride, bytes_of(memory), bytes, bytes, batch);
      });
      plan.add_gradient(input, memory);
    }
    offset += bytes;
  }
}

} // namespace dt::nn
