#include "engine/nn/layers/affine/inner_product.hpp"

namespace dt::nn {

// The network's own images are not flattened, because they are already in plain order.
bool InnerProduct::is_flattened(const Plan& plan) const
{
  return plan.needs_gradient(input()) && input().shape.height * input().shape.width > 1;
}

dnnl::memory InnerProduct::source(Plan& plan, std::vector<Operation>& operations)
{
  if (!is_flattened(plan)) return plan.data(input());
  const auto plain =
      plan.in_layout(plan.data(input()), plan.layout(input().shape, dnnl::memory::format_tag::nchw), name(), operations);
  const dnnl::memory::dims dims{plan.options().batch, input().shape.size()};
  return plan.alias(plain, {dims, plan.type(), dnnl::memory::format_tag::nc});
}

void InnerProduct::give_input_gradient(Plan& plan, const dnnl::memory& gradient)
{
  if (!is_flattened(plan)) return plan.add_gradient(input(), gradient);
  const auto plain = plan.in_layout(gradient, {source_dims_, plan.type(), dnnl::memory::format_tag::nc}, name(), backward_);
  plan.add_gradient(input(), plan.alias(plain, plan.layout(input().shape, dnnl::memory::format_tag::nchw)));
}

dnnl::memory::dims InnerProduct::weight_dims() const
{
  auto dims = source_dims_;
  dims[0] = output().shape.channels;
  return dims;
}

void InnerProduct::set_source_dims(const Plan& plan)
{
  source_dims_ = plan.data(input()).get_desc().dims();
  if (is_flattened(plan)) source_dims_ = {plan.options().batch, input().shape.size()};
}

dnnl::memory::desc InnerProduct::plain_input(const Plan& plan) const
{
  const bool is_image = plan.data(input()).get_desc().dims().size() == 4;
  if (is_image) return plan.layout(input().shape, dnnl::memory::format_tag::nchw);
  return {source_dims_, plan.type(), dnnl::memory::format_tag::nc};
}

dnnl::memory::desc InnerProduct::any_source(const Plan& plan) const
{
  return {source_dims_, plan.type(), dnnl::memory::format_tag::any};
}

dnnl::memory::desc InnerProduct::any_destination(const Plan& plan) const
{
  return {{source_dims_[0], output().shape.channels}, plan.type(), dnnl::memory::format_tag::any};
}

dnnl::primitive_desc_base InnerProduct::describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  set_source_dims(plan);
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
