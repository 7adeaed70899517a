#include "engine/nn/layers/affine/affine.hpp"

namespace dt::nn {

dnnl::memory::desc Affine::any_weights(dnnl::memory::data_type type) const
{
  return {weight_dims(), type, dnnl::memory::format_tag::any};
}

dnnl::memory::desc Affine::bias_desc() const
{
  if (!bias_) return {};
  return {{output().shape.channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a};
}

ParameterShape Affine::weight_shape() const
{
  auto dims = weight_dims();
  const auto outputs = output().shape.channels;
  // A convolution with groups: groups x outputs of a group x inputs of a group x height x width.
  if (dims.size() == 5) dims = {outputs, dims[2], dims[3], dims[4]};
  return {name() + ".weight", dims, ParameterKind::weight, feeds_relu_, weight_count() / outputs};
}

ParameterShape Affine::bias_shape() const { return {name() + ".bias", {output().shape.channels}, ParameterKind::bias}; }

void Affine::declare(Plan& plan, const dnnl::memory::desc& weights)
{
  parameters_ = {plan.parameter(weight_shape(), weights)};
  if (bias_) parameters_.push_back(plan.parameter(bias_shape(), bias_desc()));
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
  // In bf16 every pass copies the weights anyway, so they take the layout that the weights' gradient is computed in, which then
  // needs no copy.
  const bool copied = plan.training() && plan.options().precision == Precision::bf16;
  declare(plan, copied ? describe_backward_weights(plan, plan.attributes()).diff_weights_desc(0) : primitive.weights_desc(0));
  source_ = source(plan, forward_);
  const auto input_data = plan.in_layout(source_, primitive.src_desc(0), name(), forward_);
  const auto weights = plan.in_layout(weight(plan).weight, primitive.weights_desc(0), name(), forward_);
  const auto destination = plan.allocate(primitive.dst_desc(0));
  std::vector<std::pair<int, dnnl::memory>> arguments{{DNNL_ARG_SRC, input_data},
                                                      {DNNL_ARG_WEIGHTS, weights},
                                                      {DNNL_ARG_DST, destination},
                                                      {DNNL_ARG_SCRATCHPAD, plan.scratchpad(primitive)}};
  if (bias_) arguments.emplace_back(DNNL_ARG_BIAS, bias(plan).weight);
  forward_.emplace_back(label("forward", batch_flops(plan)), primitive, arguments);
  give_output(plan, destination);
}

void Affine::plan_backward(Plan& plan)
{
  const auto gradient = output_gradient(plan, backward_);
  plan_backward_weights(plan, gradient);
  gradients_final_ = backward_.size();
  if (plan.needs_gradient(input())) plan_backward_data(plan, gradient);
}

dnnl::memory Affine::source(Plan& plan, std::vector<Operation>&) { return plan.data(input()); }

dnnl::memory Affine::output_gradient(Plan& plan, std::vector<Operation>& operations)
{
  return plan.gradient(output(), name(), operations);
}

void Affine::give_output(Plan& plan, const dnnl::memory& result) { plan.set_data(output(), result); }

void Affine::give_input_gradient(Plan& plan, const dnnl::memory& gradient) { plan.add_gradient(input(), gradient); }

// dL/dW = dL/dy * x, dL/db = sum dL/dy
void Affine::plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient)
{
  const auto primitive = describe_backward_weights(plan, plan.attributes());
  const auto input_data = plan.in_layout(source_, primitive.src_desc(0), name(), backward_);
  const auto gradient = plan.in_layout(output_gradient, primitive.diff_dst_desc(0), name(), backward_);
  const auto& target = weight(plan).gradient;
  const auto weight_gradient = plan.staging_for(target, primitive.diff_weights_desc(0));
  std::vector<std::pair<int, dnnl::memory>> arguments{{DNNL_ARG_SRC, input_data},
                                                      {DNNL_ARG_DIFF_DST, gradient},
                                                      {DNNL_ARG_DIFF_WEIGHTS, weight_gradient},
                                                      {DNNL_ARG_SCRATCHPAD, plan.scratchpad(primitive)}};
  if (bias_) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, bias(plan).gradient);
  backward_.emplace_back(label("backward weights", batch_flops(plan)), primitive, arguments);
  plan.deliver(weight_gradient, target, name(), backward_);
}

// dL/dx = W^T * dL/dy
void Affine::plan_backward_data(Plan& plan, const dnnl::memory& output_gradient)
{
  const auto primitive = describe_backward_data(plan, plan.attributes());
  const auto gradient = plan.in_layout(output_gradient, primitive.diff_dst_desc(0), name(), backward_);
  const auto weights = plan.in_layout(weight(plan).weight, primitive.weights_desc(0), name(), backward_);
  const auto input_gradient = plan.allocate(primitive.diff_src_desc(0));
  backward_.emplace_back(label("backward data", batch_flops(plan)), primitive,
                         Operation::Arguments{{DNNL_ARG_DIFF_DST, gradient},
                                              {DNNL_ARG_WEIGHTS, weights},
                                              {DNNL_ARG_DIFF_SRC, input_gradient},
                                              {DNNL_ARG_SCRATCHPAD, plan.scratchpad(primitive)}});
  give_input_gradient(plan, input_gradient);
}

} // namespace dt::nn
