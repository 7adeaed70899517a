#include "engine/nn/layers/affine/block_inner_product.hpp"

#include "engine/nn/kernels/floats_of.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

using Tag = dnnl::memory::format_tag;

constexpr std::int64_t line = block_channels, block = line * line;

std::int64_t blocks_of(std::int64_t features) { return (features + line - 1) / line; }

// packed[feature / 16][sample][16] of plain[sample][feature].
void pack(const float* plain, std::int64_t batch, std::int64_t features, float* packed)
{
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < features; first += line) {
    const auto count = std::min(line, features - first);
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      float* to = packed + (first / line * batch + sample) * line;
      std::copy_n(plain + sample * features + first, count, to);
      std::fill_n(to + count, line - count, 0.0F);
    }
  }
}

} // namespace

bool BlockInnerProduct::suits(std::int64_t inputs, std::int64_t outputs, Precision precision)
{
  constexpr std::int64_t fewest_weights = 1 << 16;
  return precision == Precision::fp32 && best_instruction_set() != InstructionSet::avx512 && inputs * outputs >= fewest_weights;
}

dnnl::memory::desc BlockInnerProduct::weight_blocks() const
{
  return {weight_dims(), dnnl::memory::data_type::f32, Tag::AB16b16a};
}

dnnl::memory BlockInnerProduct::allocate_packed(Plan& plan, std::int64_t features) const
{
  return plan.allocate_floats(blocks_of(features) * line * plan.options().batch);
}

Operation BlockInnerProduct::packing(Plan& plan, const dnnl::memory& plain, const dnnl::memory& packed,
                                     std::int64_t features) const
{
  return {label("pack"), std::vector{plain, packed}, [plain, packed, features, batch = plan.options().batch] {
            pack(floats_of(plain), batch, features, floats_of(packed));
          }};
}

// ---- planning ----

void BlockInnerProduct::plan_forward(Plan& plan)
{
  const auto batch = plan.options().batch;
  declare(plan, weight_blocks());
  const auto plain = source(plan, forward_);
  samples_ = allocate_packed(plan, inputs());
  forward_.push_back(packing(plan, plain, samples_, inputs()));
  const auto weights = plan.in_layout(weight(plan).weight, weight_blocks(), name(), forward_);
  const auto results = plan.allocate(features(plan, output().shape));
  const auto sums = allocate_packed(plan, outputs());
  bias_ = bias(plan).weight;
  forward_.emplace_back(label("forward", batch_flops(plan)), std::vector{samples_, weights, results, sums},
                        [=, this] { run_forward(weights, results, sums, batch); });
  give_output(plan, results);
}

void BlockInnerProduct::plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient)
{
  const auto batch = plan.options().batch;
  gradients_ = allocate_packed(plan, outputs());
  backward_.push_back(packing(plan, output_gradient, gradients_, outputs()));
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, weight_blocks());
  backward_.emplace_back(label("backward weights", batch_flops(plan)), std::vector{samples_, gradients_, weight_gradient},
                         [this, weight_gradient, bias_gradient = bias(plan).gradient, batch] {
                           run_backward_weights(weight_gradient, bias_gradient, batch);
                         });
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
}

// After plan_backward_weights, which packs the gradient.
void BlockInnerProduct::plan_backward_data(Plan& plan, const dnnl::memory&)
{
  const auto batch = plan.options().batch;
  const auto weights = plan.in_layout(weight(plan).weight, weight_blocks(), name(), backward_);
  const auto sums = allocate_packed(plan, inputs());
  const auto plain = plan.allocate(features(plan, input().shape));
  backward_.emplace_back(label("backward data", batch_flops(plan)), std::vector{gradients_, weights, sums, plain},
                         [=, this] { run_backward_data(weights, sums, plain, batch); });
  give_input_gradient(plan, plain);
}

// ---- running ----

// Each thread has its share of the outputs; weights of some inputs at a time stay in its cache while all samples have their turn.
void BlockInnerProduct::run_forward(const dnnl::memory& weights, const dnnl::memory& results, const dnnl::memory& sums,
                                    std::int64_t batch) const
{
  constexpr std::int64_t blocks_at_once = 32;
  const auto in = blocks_of(inputs()), out = blocks_of(outputs());
#pragma omp parallel for schedule(static)
  for (std::int64_t o = 0; o < out; ++o) {
    float* own = floats_of(sums) + o * batch * line;
    for (std::int64_t i = 0; i < in; i += blocks_at_once)
      products_.sum_channels({batch, std::min(blocks_at_once, in - i), batch * line, i > 0},
                             floats_of(samples_) + i * batch * line, floats_of(weights) + (o * in + i) * block, own);
    const auto count = std::min(line, outputs() - o * line);
    const float* start = floats_of(bias_) + o * line;
    for (std::int64_t sample = 0; sample < batch; ++sample)
      for (std::int64_t i = 0; i < count; ++i) {
        const float value = own[sample * line + i] + start[i];
        floats_of(results)[sample * outputs() + o * line + i] = has_relu() && value < 0 ? 0 : value; // NaN stays
      }
  }
}

// Each thread has its share of the inputs. Blocks of weights are transposed in the first cache.
void BlockInnerProduct::run_backward_data(const dnnl::memory& weights, const dnnl::memory& sums, const dnnl::memory& plain,
                                          std::int64_t batch) const
{
  constexpr std::int64_t blocks_at_once = 8;
  const auto in = blocks_of(inputs()), out = blocks_of(outputs());
#pragma omp parallel
  {
    for (std::int64_t first = 0; first < out; first += blocks_at_once) {
      const auto count = std::min(blocks_at_once, out - first);
#pragma omp for schedule(static) nowait
      for (std::int64_t i = 0; i < in; ++i) {
        alignas(64) float transposed[blocks_at_once * block];
        for (std::int64_t o = 0; o < count; ++o)
          products_.transpose(floats_of(weights) + ((first + o) * in + i) * block, transposed + o * block);
        products_.sum_channels({batch, count, batch * line, first > 0}, floats_of(gradients_) + first * batch * line, transposed,
                               floats_of(sums) + i * batch * line);
      }
    }
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t sample = 0; sample < batch; ++sample)
        std::copy_n(floats_of(sums) + (i * batch + sample) * line, std::min(line, inputs() - i * line),
                    floats_of(plain) + sample * inputs() + i * line);
  }
}

void BlockInnerProduct::run_backward_weights(const dnnl::memory& weight_gradient, const dnnl::memory& bias_gradient,
                                             std::int64_t batch) const
{
  const auto in = blocks_of(inputs()), out = blocks_of(outputs());
#pragma omp parallel for schedule(static)
  for (std::int64_t o = 0; o < out; ++o) {
    const float* gradients = floats_of(gradients_) + o * batch * line;
    for (std::int64_t i = 0; i < in; ++i)
      products_.sum_rows({batch, false}, floats_of(samples_) + i * batch * line, gradients,
                         floats_of(weight_gradient) + (o * in + i) * block);
    float sum[line]{};
    add_pixels(gradients, batch, line, sum);
    std::copy_n(sum, std::min(line, outputs() - o * line), floats_of(bias_gradient) + o * line);
  }
}

} // namespace dt::nn
