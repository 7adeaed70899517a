#include "engine/nn/inner_product.hpp"

namespace dt::engine {
namespace {

dnnl::memory::desc any_layout(const dnnl::memory::dims& dims)
{
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

} // namespace

dnnl::memory::dims InnerProduct::weight_dims() const
{
  auto dims = source_dims_;
  dims[0] = output().shape.channels;
  return dims;
}

dnnl::memory::desc InnerProduct::any_source() const { return any_layout(source_dims_); }

dnnl::memory::desc InnerProduct::any_destination() const { return any_layout({source_dims_[0], output().shape.channels}); }

dnnl::primitive_desc InnerProduct::describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  source_dims_ = plan.data(input()).get_desc().dims();
  const dnnl::inner_product_forward::desc forward(plan.forward_kind(), any_source(), any_weights(), bias_desc(),
                                                  any_destination());
  forward_descriptor_ = {forward, attributes, plan.engine()};
  return forward_descriptor_;
}

dnnl::primitive_desc InnerProduct::describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::inner_product_backward_data::desc backward(any_source(), any_weights(), any_destination());
  return dnnl::inner_product_backward_data::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

dnnl::primitive_desc InnerProduct::describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::inner_product_backward_weights::desc backward(any_source(), any_weights(), bias_desc(), any_destination());
  return dnnl::inner_product_backward_weights::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

} // namespace dt::engine
