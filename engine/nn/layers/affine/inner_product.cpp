#include "engine/nn/layers/affine/inner_product.hpp"

namespace dt::nn {

using Tag = dnnl::memory::format_tag;

namespace {

// Whether these are the plain order's bytes though the layout is another: of one pixel, with all channels of a sample in a row.
bool is_plain_pixel(const dnnl::memory::desc& layout, const Shape& shape)
{
  const auto& blocking = layout.data.format_desc.blocking;
  const bool by_channels = blocking.inner_nblks == 0 || (blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1);
  return shape.height * shape.width == 1 && by_channels && blocking.strides[0] == shape.channels;
}

} // namespace

// In plain order, so that an alias has the features of a sample in a row.
dnnl::memory InnerProduct::in_plain_order(Plan& plan, const dnnl::memory& memory, const Shape& shape,
                                          std::vector<Operation>& operations) const
{
  const auto layout = memory.get_desc();
  if (layout.data_type() == plan.type() && is_plain_pixel(layout, shape)) return memory;
  return plan.in_layout(memory, plan.layout(shape, Tag::nchw), name(), operations);
}

dnnl::memory::desc InnerProduct::features(const Plan& plan, const Shape& shape) const
{
  return {{plan.options().batch, shape.size()}, plan.type(), Tag::nc};
}

dnnl::memory InnerProduct::source(Plan& plan, std::vector<Operation>& operations)
{
  return plan.alias(in_plain_order(plan, plan.data(input()), input().shape, operations), features(plan, input().shape));
}

dnnl::memory InnerProduct::output_gradient(Plan& plan, std::vector<Operation>& operations)
{
  const auto gradient = plan.gradient(output(), name(), operations);
  return plan.alias(in_plain_order(plan, gradient, output().shape, operations), features(plan, output().shape));
}

void InnerProduct::give_output(Plan& plan, const dnnl::memory& result)
{
  const auto plain = plan.in_layout(result, features(plan, output().shape), name(), forward_);
  plan.set_data(output(), plan.alias(plain, plan.layout(output().shape, Tag::nchw)));
}

void InnerProduct::give_input_gradient(Plan& plan, const dnnl::memory& gradient)
{
  const auto layout = plan.data(input()).get_desc();
  const auto plain = plan.in_layout(gradient, features(plan, input().shape), name(), backward_);
  plan.add_gradient(input(), plan.alias(plain, is_plain_pixel(layout, input().shape) && layout.data_type() == plan.type()
                                                   ? layout
                                                   : plan.layout(input().shape, Tag::nchw)));
}

dnnl::memory::dims InnerProduct::weight_dims() const { return {output().shape.channels, input().shape.size()}; }

dnnl::memory::desc InnerProduct::any_source(const Plan& plan) const
{
  return {{plan.options().batch, input().shape.size()}, plan.type(), Tag::any};
}

dnnl::memory::desc InnerProduct::any_destination(const Plan& plan) const
{
  return {{plan.options().batch, output().shape.channels}, plan.type(), Tag::any};
}

dnnl::primitive_desc_base InnerProduct::describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::inner_product_forward::desc forward(plan.forward_kind(), any_source(plan), any_weights(plan.type()), bias_desc(),
                                                  any_destination(plan));
  forward_descriptor_ = {forward, attributes, plan.engine()};
  return forward_descriptor_;
}

dnnl::primitive_desc_base InnerProduct::describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::inner_product_backward_data::desc backward(any_source(plan), any_weights(plan.type()), any_destination(plan));
  return dnnl::inner_product_backward_data::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

dnnl::primitive_desc_base InnerProduct::describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::inner_product_backward_weights::desc backward(any_source(plan), any_weights(dnnl::memory::data_type::f32),
                                                            bias_desc(), any_destination(plan));
  return dnnl::inner_product_backward_weights::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

} // namespace dt::nn
