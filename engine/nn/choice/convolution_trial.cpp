#include "engine/nn/choice/convolution_trial.hpp"

#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/nn/layers/winograd/winograd_convolution.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>

namespace dt::nn {
namespace {

constexpr std::size_t input_id = 0, output_id = 1, nobody_id = 2;
constexpr const char* layer_name = "convolution";
constexpr double not_timed = std::numeric_limits<double>::quiet_NaN();

Plan::Options plan_options(const ConvolutionCase& of, const Algorithms& algorithms)
{
  return {.batch = of.batch,
          .tensors = 2,
          .input = {of.needs_gradient ? nobody_id : input_id, of.input},
          .uses = {1, 1},
          .precision = of.precision,
          .winograd = of.winograd,
          .algorithms = algorithms,
          .threads = of.threads};
}

model::Layer layer_of(const ConvolutionCase& of) { return {layer_name, of.spec, {{input_id, of.input}}, {output_id, of.output}}; }

// Neither denormal nor large.
float small_number(std::size_t i) { return 0.01F * static_cast<float>(i % 251) - 1.25F; }

void fill(const dnnl::memory& memory)
{
  const auto layout = memory.get_desc();
  if (layout.data_type() == dnnl::memory::data_type::bf16) {
    const std::span numbers(static_cast<std::uint16_t*>(memory.get_data_handle()), layout.get_size() / sizeof(std::uint16_t));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(small_number(i)) >> 16);
    return;
  }
  const std::span numbers(static_cast<float*>(memory.get_data_handle()), layout.get_size() / sizeof(float));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = small_number(i);
}

// The number that choose_algorithms minimizes: the measured seconds, reduced for the rule's algorithm, so that another one must
// be clearly faster to be chosen.
double cost(double seconds, bool is_rule) { return is_rule ? (1 - clearly_faster) * seconds : seconds; }

struct Candidate {
  LayerAlgorithms algorithms;
  double cost = std::numeric_limits<double>::infinity();
};

// The best of both backward directions after one algorithm of the forward pass.
Candidate best_after(Algorithm forward, const LayerAlgorithms& rule, const std::vector<TimedPair>& timed)
{
  Candidate best{{forward, rule.backward_data, rule.backward_weights}};
  double forward_s = std::numeric_limits<double>::infinity(), data = forward_s, weights = forward_s;
  for (const auto& pair : timed) {
    if (pair.forward != forward || std::isnan(pair.seconds.forward)) continue;
    forward_s = std::min(forward_s, cost(pair.seconds.forward, forward == rule.forward));
    const auto take = [&](double seconds, Algorithm of_rule, double& least, Algorithm& chosen) {
      const double found = cost(seconds, pair.backward == of_rule);
      if (std::isnan(found) || found >= least) return;
      least = found;
      chosen = pair.backward;
    };
    take(pair.seconds.backward_data, rule.backward_data, data, best.algorithms.backward_data);
    take(pair.seconds.backward_weights, rule.backward_weights, weights, best.algorithms.backward_weights);
  }
  best.cost = forward_s + (std::isinf(data) ? 0 : data) + (std::isinf(weights) ? 0 : weights);
  return best;
}

} // namespace

LayerAlgorithms choose_algorithms(const LayerAlgorithms& rule, const std::vector<TimedPair>& timed)
{
  auto best = best_after(rule.forward, rule, timed);
  for (const auto& pair : timed) {
    if (pair.forward == rule.forward) continue;
    if (const auto other = best_after(pair.forward, rule, timed); other.cost < best.cost) best = other;
  }
  return best.algorithms;
}

struct ConvolutionTrial::Impl {
  Impl(const ConvolutionCase& of, const Convolution::Layouts& layouts, const Algorithms& algorithms)
      : computes_data(of.needs_gradient), threads(of.threads),
        store(std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0))),
        convolution(make_convolution(layer_of(of), of.winograd, of.precision)), layer(*convolution),
        plan(plan_options(of, algorithms), store), stream(store->engine()), input(plan.allocate(layouts.input)),
        output_gradient(plan.allocate(layouts.output))
  {
    prepare_compute_thread(threads);
    if (of.relu) layer.fuse_relu();
    plan.set_data(layer.input(), input);
    layer.plan_forward(plan);
    plan.in_layout(plan.data(layer.output()), layouts.output, layer.name(), layer.forward());
    store->seal();
    plan.add_gradient(layer.output(), output_gradient);
    layer.plan_backward(plan);
    if (computes_data) plan.in_layout(plan.gradient_parts(layer.input()).front(), layouts.input, layer.name(), layer.backward());
    allocate();
  }

  // Input and gradient keep their numbers from run to run, because empty operations use them first and last: no other buffer may
  // then have their place.
  void allocate()
  {
    const std::vector<dnnl::memory> kept{input, output_gradient};
    Operation first({}, kept, [] {}), last({}, kept, [] {});
    std::vector<Operation*> all{&first};
    for (auto* operations : {&layer.forward(), &layer.backward()})
      for (auto& operation : *operations) all.push_back(&operation);
    all.push_back(&last);
    plan.finish(all);
    store->allocate();
    plan.allocate_all();
    fill(input);
    fill(output_gradient);
    for (std::size_t i = 0; auto& weight : store->weights()) weight = small_number(i++);
  }

  double seconds_of(std::span<const Operation> operations) const
  {
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& operation : operations) operation.run(stream);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  bool computes_data;
  int threads;
  std::shared_ptr<ParameterStore> store;
  std::unique_ptr<Convolution> convolution;
  Convolution& layer; // the same
  Plan plan;
  dnnl::stream stream;
  dnnl::memory input, output_gradient;
};

Convolution::Layouts rule_layouts(const ConvolutionCase& of)
{
  const auto store = std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0));
  const Plan plan(plan_options(of, {}), store);
  prepare_compute_thread(of.threads); // oneDNN's choice depends on the number of threads
  Convolution layer(layer_of(of));
  auto layouts = layer.preferred_layouts(plan);
  if (!of.needs_gradient) layouts.input = plan.image_layout(of.input);
  return layouts;
}

ConvolutionTrial::ConvolutionTrial(const ConvolutionCase& of, const Convolution::Layouts& layouts)
    : impl_(std::make_unique<Impl>(of, layouts, Algorithms{}))
{
}

ConvolutionTrial::ConvolutionTrial(const ConvolutionCase& of, const Convolution::Layouts& layouts, Algorithm forward,
                                   Algorithm backward)
    : impl_(std::make_unique<Impl>(of, layouts, Algorithms{{layer_name, {forward, backward, backward}}}))
{
}

ConvolutionTrial::~ConvolutionTrial() = default;
ConvolutionTrial::ConvolutionTrial(ConvolutionTrial&&) noexcept = default;

const LayerAlgorithms& ConvolutionTrial::planned() const { return impl_->layer.planned(); }
std::string ConvolutionTrial::weight_layout() const { return impl_->store->layout(); }

ConvolutionTimes ConvolutionTrial::run()
{
  prepare_compute_thread(impl_->threads);
  const std::span backward(impl_->layer.backward());
  ConvolutionTimes times{.forward = impl_->seconds_of(impl_->layer.forward()), .backward_data = not_timed, .backward_weights = 0};
  times.backward_weights = impl_->seconds_of(backward.first(impl_->layer.gradients_final()));
  if (impl_->computes_data) times.backward_data = impl_->seconds_of(backward.subspan(impl_->layer.gradients_final()));
  return times;
}

} // namespace dt::nn
