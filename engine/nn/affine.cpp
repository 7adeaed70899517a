#include "engine/nn/affine.hpp"

namespace dt::engine {

using Arguments = std::initializer_list<std::pair<int, dnnl::memory>>;

dnnl::memory::desc Affine::any_weights() const
{
  return {weight_dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

dnnl::memory::desc Affine::bias_desc() const
{
  return {{weight_dims()[0]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a};
}

void Affine::plan_forward(Plan& plan)
{
  auto attributes = plan.attributes();
  if (relu_) {
    dnnl::post_ops relu;
    relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(relu);
  }
  const auto primitive = describe_forward(plan, attributes);
  weight_ = plan.parameter({name() + ".weight", weight_dims(), ParameterKind::weight, relu_}, primitive.weights_desc(0));
  bias_ = plan.parameter({name() + ".bias", {weight_dims()[0]}, ParameterKind::bias, relu_}, primitive.weights_desc(1));
  parameters_ = {weight_, bias_};
  const auto source = plan.in_layout(plan.data(input()), primitive.src_desc(0), forward_);
  const auto weights = plan.in_layout(plan.stored(weight_).weight, primitive.weights_desc(0), forward_);
  const auto destination = plan.allocate(primitive.dst_desc(0));
  forward_.emplace_back(dnnl::primitive(primitive.get()),
                        Arguments{{DNNL_ARG_SRC, source},
                                  {DNNL_ARG_WEIGHTS, weights},
                                  {DNNL_ARG_BIAS, plan.stored(bias_).weight},
                                  {DNNL_ARG_DST, destination},
                                  {DNNL_ARG_SCRATCHPAD, plan.scratchpad(primitive.scratchpad_desc())}});
  plan.set_data(output(), destination);
}

void Affine::plan_backward(Plan& plan)
{
  plan_backward_weights(plan);
  gradients_final_ = backward_.size();
  if (plan.needs_gradient(input())) plan_backward_data(plan);
}

// dL/dW = dL/dy * x, dL/db = sum dL/dy
void Affine::plan_backward_weights(Plan& plan)
{
  const auto primitive = describe_backward_weights(plan, plan.attributes());
  const auto source = plan.in_layout(plan.data(input()), primitive.src_desc(0), backward_);
  const auto output_gradient = plan.in_layout(plan.gradient(output()), primitive.diff_dst_desc(0), backward_);
  const auto& target = plan.stored(weight_).gradient;
  const auto weight_gradient = plan.staging_for(target, primitive.diff_weights_desc(0));
  backward_.emplace_back(dnnl::primitive(primitive.get()),
                         Arguments{{DNNL_ARG_SRC, source},
                                   {DNNL_ARG_DIFF_DST, output_gradient},
                                   {DNNL_ARG_DIFF_WEIGHTS, weight_gradient},
                                   {DNNL_ARG_DIFF_BIAS, plan.stored(bias_).gradient},
                                   {DNNL_ARG_SCRATCHPAD, plan.scratchpad(primitive.scratchpad_desc())}});
  plan.deliver(weight_gradient, target, backward_);
}

// dL/dx = W^T * dL/dy
void Affine::plan_backward_data(Plan& plan)
{
  const auto primitive = describe_backward_data(plan, plan.attributes());
  const auto output_gradient = plan.in_layout(plan.gradient(output()), primitive.diff_dst_desc(0), backward_);
  const auto weights = plan.in_layout(plan.stored(weight_).weight, primitive.weights_desc(0), backward_);
  const auto input_gradient = plan.allocate(primitive.diff_src_desc(0));
  backward_.emplace_back(dnnl::primitive(primitive.get()),
                         Arguments{{DNNL_ARG_DIFF_DST, output_gradient},
                                   {DNNL_ARG_WEIGHTS, weights},
                                   {DNNL_ARG_DIFF_SRC, input_gradient},
                                   {DNNL_ARG_SCRATCHPAD, plan.scratchpad(primitive.scratchpad_desc())}});
  plan.set_gradient(input(), input_gradient);
}

} // namespace dt::engine
