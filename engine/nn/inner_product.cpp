#include "engine/nn/inner_product.hpp"

namespace dt::engine {
dnnl::memory::dims InnerProduct::weight_dims() const
{
  auto dims = source_dims_;
  dims[0] = output().shape.channels;
  return dims;
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
  source_dims_ = plan.data(input()).get_desc().dims();
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
  const dnnl::inner_product_backward_weights::desc backward(any_source(plan), any_weights(dnnl::memory::data_type::f32), bias_desc(), any_destination(plan));
  return dnnl::inner_product_backward_weights::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

} // namespace dt::engine
