#include "engine/nn/layers/pooling.hpp"

#include <algorithm>

namespace dt::nn {

Pooling::Pooling(const model::Layer& description)
    : Layer(description), strides_{spec().stride, spec().stride}, kernel_{spec().kernel, spec().kernel},
      padding_{spec().padding, spec().padding}, padding_behind_{0, 0}
{
  if (spec().global) {
    kernel_ = {input().shape.height, input().shape.width};
    return;
  }
  // The padding that the last window needs. It may exceed the padding in front, or be less if rows are dropped.
  const auto behind = [&](std::int64_t in, std::int64_t out) {
    return std::max<std::int64_t>(0, (out - 1) * spec().stride + spec().kernel - in - spec().padding);
  };
  padding_behind_ = {behind(input().shape.height, output().shape.height), behind(input().shape.width, output().shape.width)};
}

dnnl::algorithm Pooling::algorithm() const
{
  return spec().rule == PoolingRule::max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding;
}

void Pooling::plan_forward(Plan& plan)
{
  const auto source = plan.activations(input(), name(), forward_);
  if (has_planes(source)) {
    plan_planes_forward(plan, source);
    return;
  }
  const dnnl::pooling_forward::desc forward(plan.forward_kind(), algorithm(), source.get_desc(), plan.any_layout(output().shape),
                                            strides_, kernel_, padding_, padding_behind_);
  forward_descriptor_ = {forward, plan.attributes(), plan.engine()};
  const auto destination = plan.allocate(forward_descriptor_.dst_desc());
  workspace_ = plan.allocate(forward_descriptor_.workspace_desc());
  forward_.emplace_back(label("forward"), forward_descriptor_,
                        Operation::Arguments{{DNNL_ARG_SRC, source},
                                             {DNNL_ARG_DST, destination},
                                             {DNNL_ARG_WORKSPACE, workspace_},
                                             {DNNL_ARG_SCRATCHPAD, plan.scratchpad(forward_descriptor_)}});
  plan.set_data(output(), destination);
}

void Pooling::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  if (images_) {
    plan_planes_backward(plan);
    return;
  }
  const auto source = forward_descriptor_.src_desc(), destination = forward_descriptor_.dst_desc();
  const dnnl::pooling_backward::desc backward(algorithm(), source, destination, strides_, kernel_, padding_, padding_behind_);
  const dnnl::pooling_backward::primitive_desc descriptor(backward, plan.attributes(), plan.engine(), forward_descriptor_);
  const auto output_gradient =
      plan.in_layout(plan.gradient(output(), name(), backward_), descriptor.diff_dst_desc(), name(), backward_);
  const auto input_gradient = plan.allocate(descriptor.diff_src_desc());
  backward_.emplace_back(label("backward"), descriptor,
                         Operation::Arguments{{DNNL_ARG_DIFF_DST, output_gradient},
                                              {DNNL_ARG_WORKSPACE, workspace_},
                                              {DNNL_ARG_DIFF_SRC, input_gradient},
                                              {DNNL_ARG_SCRATCHPAD, plan.scratchpad(descriptor)}});
  plan.add_gradient(input(), input_gradient);
}

// ---- maximum by our own kernels ----

namespace {

using Type = dnnl::memory::data_type;

// The same kind of layout for another number of pixels.
dnnl::memory::desc layout_like(const dnnl::memory::desc& images, const Shape& shape)
{
  const auto& blocking = images.data.format_desc.blocking;
  const auto tag = blocking.inner_nblks == 0      ? dnnl::memory::format_tag::nhwc
                   : blocking.inner_blks[0] == 16 ? dnnl::memory::format_tag::nChw16c
                                                  : dnnl::memory::format_tag::nChw8c;
  return {{images.dims()[0], shape.channels, shape.height, shape.width}, images.data_type(), tag};
}

template<class T> T* plane_of(const dnnl::memory& memory, const ChannelView& view, std::int64_t plane)
{
  return static_cast<T*>(memory.get_data_handle()) + plane / view.groups * view.sample_stride +
         plane % view.groups * view.group_stride;
}

} // namespace

bool Pooling::has_planes(const dnnl::memory& source) const
{
  constexpr std::int64_t most_places = 256; // in a window: a place is a byte
  const auto layout = source.get_desc();
  return spec().rule == PoolingRule::max && kernel_[0] * kernel_[1] <= most_places &&
         (layout.data_type() == Type::f32 || layout.data_type() == Type::bf16) && channel_view(layout);
}

PlaneWindows Pooling::windows(const dnnl::memory::desc& layout) const
{
  const bool blocked = layout.data.format_desc.blocking.inner_nblks > 0;
  return {.height = input().shape.height,
          .width = input().shape.width,
          .out_height = output().shape.height,
          .out_width = output().shape.width,
          .kernel_height = kernel_[0],
          .kernel_width = kernel_[1],
          .stride = spec().stride,
          .padding = spec().padding,
          .block = images_->block,
          .pixel_stride = blocked ? images_->block : input().shape.channels};
}

void Pooling::plan_planes_forward(Plan& plan, const dnnl::memory& source)
{
  image_layout_ = source.get_desc();
  result_layout_ = layout_like(image_layout_, output().shape);
  images_ = channel_view(image_layout_), results_ = channel_view(result_layout_);
  windows_ = windows(image_layout_);
  const auto result = plan.allocate(result_layout_);
  std::vector<dnnl::memory> uses{source, result};
  if (plan.training()) {
    const auto places = images_->samples * images_->groups * results_->places * images_->block;
    workspace_ = plan.allocate_floats(places / static_cast<std::int64_t>(sizeof(float)));
    uses.push_back(workspace_);
  }
  const bool half = image_layout_.data_type() == Type::bf16;
  forward_.emplace_back(label("forward"), uses, [=, this] { half ? pool<Bf16>(source, result) : pool<float>(source, result); });
  plan.set_data(output(), result);
}

void Pooling::plan_planes_backward(Plan& plan)
{
  const auto gradient = plan.in_layout(plan.gradient(output(), name(), backward_), result_layout_, name(), backward_);
  const auto input_gradient = plan.allocate(image_layout_);
  const bool half = image_layout_.data_type() == Type::bf16;
  backward_.emplace_back(label("backward"), std::vector{gradient, workspace_, input_gradient}, [=, this] {
    half ? pool_backward<Bf16>(gradient, input_gradient) : pool_backward<float>(gradient, input_gradient);
  });
  plan.add_gradient(input(), input_gradient);
}

// The places of the maxima of one plane; null in an evaluation.
std::uint8_t* Pooling::winners(std::int64_t plane) const
{
  if (workspace_.get(true) == nullptr) return nullptr;
  return static_cast<std::uint8_t*>(workspace_.get_data_handle()) + plane * results_->places * results_->block;
}

template<class T> void Pooling::pool(const dnnl::memory& source, const dnnl::memory& result) const
{
  const auto& kernels = max_pooling_kernels<T>(best_instruction_set());
#pragma omp parallel for schedule(static)
  for (std::int64_t plane = 0; plane < images_->samples * images_->groups; ++plane)
    kernels.pool(windows_, plane_of<const T>(source, *images_, plane), plane_of<T>(result, *results_, plane), winners(plane));
}

template<class T> void Pooling::pool_backward(const dnnl::memory& gradient, const dnnl::memory& input_gradient) const
{
  const auto& kernels = max_pooling_kernels<T>(best_instruction_set());
#pragma omp parallel for schedule(static)
  for (std::int64_t plane = 0; plane < images_->samples * images_->groups; ++plane)
    kernels.gradient(windows_, plane_of<const T>(gradient, *results_, plane), winners(plane),
                     plane_of<T>(input_gradient, *images_, plane));
}

} // namespace dt::nn
