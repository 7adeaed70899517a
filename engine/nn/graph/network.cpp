#include "engine/nn/graph/network.hpp"

#include "core/error.hpp"
#include "core/units.hpp"
#include "engine/nn/graph/initial_weights.hpp"
#include "engine/nn/graph/layer_graph.hpp"
#include "engine/nn/graph/make_layers.hpp"
#include "engine/nn/kernels/aligned_buffer.hpp"
#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/nn/layers/affine/convolution.hpp"
#include "engine/nn/layers/softmax_cross_entropy.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace dt::nn {
namespace {

// Checks that a network fits into memory before anything is allocated.

std::string in_words(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

// Activations grow with the batch; parameters do not.
std::string advice(const NetworkOptions& options, const MemoryNeed& need)
{
  const auto left = options.memory_limit_bytes - need.parameters;
  const auto fits = left <= 0 ? 0
                              : static_cast<std::int64_t>(static_cast<double>(left) / static_cast<double>(need.activations) *
                                                          static_cast<double>(options.batch));
  if (fits < 1) return "Not even one sample fits: run on a machine with more memory, or with fewer ranks on it.";
  return fmt::format(
      "A batch of at most about {} samples a rank fits (train.batch_per_rank; train.accumulation splits a batch without "
      "changing the training).",
      fits);
}

// A lower bound of the memory need, from the shapes of the layers alone: input and output of one layer exist at the same time.
// For batches that are too large to be planned.
MemoryNeed least_need(const LayerGraph& graph, const NetworkOptions& options)
{
  const std::int64_t bytes = options.precision == Precision::bf16 ? 2 : 4;
  MemoryNeed need;
  for (const auto& layer : graph.layers) {
    need.activations =
        std::max(need.activations, bytes * options.batch * (layer->input().shape.size() + layer->output().shape.size()));
    need.parameters += layer->description().parameters() * static_cast<std::int64_t>(2 * sizeof(float));
  }
  return need;
}

// Throws a recipe error if `need` exceeds options.memory_limit_bytes. The error names need, limit and approximately the largest
// batch that fits.
void require_memory(const NetworkOptions& options, const MemoryNeed& need)
{
  if (options.memory_limit_bytes == 0 || need.total() <= options.memory_limit_bytes) return;
  throw Error(
      ErrorKind::recipe,
      fmt::format("Model {} with batches of {} needs {} on each rank ({} for weights and gradients, {} for activations), but "
                  "{} are free for it. {}",
                  options.model, options.batch, in_words(need.total()), in_words(need.parameters), in_words(need.activations),
                  in_words(options.memory_limit_bytes), advice(options, need)));
}

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point begin, Clock::time_point end)
{
  return std::chrono::duration<double>(end - begin).count();
}

NetworkOptions checked(const NetworkOptions& options)
{
  if (options.batch < 1 || options.threads < 1)
    throw Error(ErrorKind::recipe,
                fmt::format("A network needs a batch and threads of at least 1 each, not batch {} and {} threads.", options.batch,
                            options.threads));
  if (!is_supported(options.precision))
    throw Error(ErrorKind::recipe, "This processor has no instructions for bfloat16 (AVX512_BF16): train.precision bf16 would be "
                                   "slower than fp32 here. Use fp32, or nodes that have them (resources.constraint).");
  if (options.reference && options.precision == Precision::bf16)
    throw Error(ErrorKind::recipe, "engine: reference computes in fp32 only; leave train.precision at fp32.");
  return options;
}

Error translated(const dnnl::error& error, const std::string& what)
{
  const bool memory = error.status == dnnl_out_of_memory;
  return Error(memory ? ErrorKind::environment : ErrorKind::internal,
               fmt::format("oneDNN failed in {}: {} (status {}).{}", what, error.what(), static_cast<int>(error.status),
                           memory ? " Use a smaller batch or more memory." : ""));
}

// An evaluation computes as its training does, whatever its batch: other kernels would copy all weights into other layouts.
NetworkOptions as_trained(NetworkOptions options, const Network& trained)
{
  if (!options.image_lanes && options.algorithms.empty()) options.image_lanes = uses_image_lanes(trained.algorithms());
  return options;
}

bool is_finite(const dnnl::memory& memory)
{
  const auto layout = memory.get_desc();
  if (layout.data_type() == dnnl::memory::data_type::bf16) {
    const std::span numbers(static_cast<const std::uint16_t*>(memory.get_data_handle()),
                            layout.get_size() / sizeof(std::uint16_t));
    // The exponent bits are all ones exactly for infinity and NaN.
    return std::none_of(numbers.begin(), numbers.end(), [](auto number) { return (number & 0x7F80) == 0x7F80; });
  }
  const std::span numbers(static_cast<const float*>(memory.get_data_handle()), layout.get_size() / sizeof(float));
  return std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); });
}

} // namespace

bool is_supported(Precision precision)
{
#if defined(__x86_64__)
  return precision == Precision::fp32 || __builtin_cpu_supports("avx512bf16") != 0;
#else
  return precision == Precision::fp32;
#endif
}

struct Network::Impl {
  // The operations of one layer or loss, in the order of execution.
  struct Stage {
    Layer* layer = nullptr; // null: a loss
    std::vector<Operation>* operations = nullptr;
    std::size_t gradients_final = 0; // backward only
  };

  Impl(const NetworkOptions& wanted, Purpose purpose, std::shared_ptr<ParameterStore> shared)
      : options(checked(wanted)), store(std::move(shared)), graph(make_network_layers(options)),
        plan(plan_options(purpose), store), stream(store->engine())
  {
    require_memory(options, least_need(graph, options));
    prepare_compute_thread(options.threads); // oneDNN creates primitives for a number of threads
    try {
      plan_layers();
      plan.finish(all_operations());
    } catch (const dnnl::error& error) {
      throw translated(error, "model " + options.model);
    }
    need = {store->bytes(), plan.bytes(), plan.unshared_bytes()};
    require_memory(options, need);
    store->allocate();
    plan.allocate_all();
  }

  // Wraps the sums over ranks of the layers to measure their time, because only these sums are not computation.
  Plan::Options plan_options(Purpose purpose)
  {
    MeanOverRanks synchronize;
    if (options.synchronize && purpose == Purpose::training)
      synchronize = [this](std::span<float> values) {
        const auto begin = Clock::now();
        options.synchronize(values);
        synchronize_s += seconds_between(begin, Clock::now());
      };
    return {.batch = options.batch,
            .purpose = purpose,
            .tensors = graph.tensors,
            .input = graph.input,
            .uses = graph.uses(),
            .precision = options.precision,
            .winograd = options.winograd,
            .algorithms = options.algorithms,
            .threads = options.threads,
            .dropout_seed = options.dropout_seed,
            .label_smoothing = options.label_smoothing,
            .synchronize = std::move(synchronize)};
  }

  void plan_layers()
  {
    image = dnnl::memory(plan.image_layout(graph.input.shape), plan.engine(), DNNL_MEMORY_NONE);
    plan.set_data(graph.input, image);
    const auto needed = graph.needed_for_logits();
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      auto& layer = *graph.layers[i];
      planning(layer, &Layer::plan_forward);
      if (plan.training() || needed[i]) forward_stages.push_back({&layer, &layer.forward()});
    }
    if (!store->sealed()) store->seal();
    plan_losses();
    if (!plan.training()) return;
    for (auto layer = graph.layers.rbegin(); layer != graph.layers.rend(); ++layer) {
      planning(**layer, &Layer::plan_backward);
      plan.release((*layer)->output());
      backward_stages.push_back({layer->get(), &(*layer)->backward(), (*layer)->gradients_final()});
    }
  }

  // Plans the losses of the model's logits, and in training those of its auxiliary logits.
  void plan_losses()
  {
    losses.push_back(std::make_unique<SoftmaxCrossEntropy>(plan, graph.logits, 1));
    if (plan.training())
      for (const auto& head : graph.auxiliary)
        losses.push_back(std::make_unique<SoftmaxCrossEntropy>(plan, head.logits, head.weight));
    for (const auto& loss : losses) {
      forward_stages.push_back({nullptr, &loss->forward()});
      forward_stages.push_back({nullptr, &loss->loss()});
    }
  }

  void planning(Layer& layer, void (Layer::*step)(Plan&))
  {
    try {
      (layer.*step)(plan);
    } catch (const dnnl::error& error) {
      throw translated(error, "layer " + layer.name() + " of model " + options.model);
    }
  }

  std::vector<Operation*> all_operations()
  {
    std::vector<Operation*> all;
    for (const auto* stages : {&forward_stages, &backward_stages})
      for (const auto& stage : *stages)
        for (auto& operation : *stage.operations) all.push_back(&operation);
    return all;
  }

  void check_sizes(std::span<const float> images, std::span<const std::int32_t> labels) const
  {
    const auto batch = static_cast<std::size_t>(options.batch), floats = batch * static_cast<std::size_t>(options.image.size());
    if (images.size() == floats && labels.size() == batch) return;
    throw Error(ErrorKind::internal,
                fmt::format("The network was built for batches of {} images ({} floats), but was given {} labels "
                            "and {} floats.",
                            batch, floats, labels.size(), images.size()));
  }

  void begin(std::span<const float> images, std::span<const std::int32_t> labels)
  {
    check_sizes(images, labels);
    prepare_compute_thread(options.threads);
    plan.place(image, const_cast<float*>(images.data())); // only read: no primitive writes to it
    for (const auto& loss : losses) loss->set_labels(labels, !plan.training());
    synchronize_s = 0;
  }

  void begin_training(std::span<const float> images, std::span<const std::int32_t> labels)
  {
    if (!plan.training()) throw Error(ErrorKind::internal, "A network that shares another's weights can only evaluate.");
    begin(images, labels);
  }

  void run(std::span<const Operation> operations) const
  {
    for (const auto& operation : operations) operation.run(stream);
  }

  void forward() const
  {
    for (const auto& stage : forward_stages) run(*stage.operations);
  }

  void backward() const
  {
    for (const auto& stage : backward_stages) run(*stage.operations);
  }

  // Backward pass that calls `ready` for each layer's parameters before the layers below are computed. Returns the seconds spent
  // in `ready`.
  double backward_telling(const GradientReady& ready) const
  {
    double told_s = 0;
    for (const auto& stage : backward_stages) {
      const std::span operations(*stage.operations);
      run(operations.first(stage.gradients_final));
      const auto begin = Clock::now();
      const auto& parameters = stage.layer->parameter_ids();
      for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) ready(*parameter);
      told_s += seconds_between(begin, Clock::now());
      run(operations.subspan(stage.gradients_final));
    }
    return told_s;
  }

  double total_loss() const
  {
    double sum = 0;
    for (const auto& loss : losses) sum += loss->weighted_loss();
    return sum;
  }

  double forward_backward(ComputeTimes* times, const GradientReady& ready)
  {
    const auto begin = Clock::now();
    forward();
    const auto middle = Clock::now();
    const double forward_waited_s = synchronize_s;
    double told_s = 0;
    if (ready)
      told_s = backward_telling(ready);
    else
      backward();
    ++plan.state().pass;
    const auto end = Clock::now();
    const double backward_waited_s = synchronize_s - forward_waited_s;
    if (times)
      *times = {seconds_between(begin, middle) - forward_waited_s, seconds_between(middle, end) - told_s - backward_waited_s};
    return total_loss();
  }

  std::vector<OperationTime> profile()
  {
    std::vector<OperationTime> times;
    for (const auto* stages : {&forward_stages, &backward_stages})
      for (const auto& stage : *stages)
        for (const auto& operation : *stage.operations) times.push_back(timed(operation, stages == &backward_stages));
    return times;
  }

  OperationTime timed(const Operation& operation, bool backward) const
  {
    const auto begin = Clock::now();
    operation.run(stream);
    const double seconds = seconds_between(begin, Clock::now());
    const auto& label = operation.label();
    return {label.layer, label.what, operation.implementation(), label.reorder, backward, label.flops, seconds};
  }

  std::string first_non_finite()
  {
    if (!is_finite(image)) return "images";
    for (const auto& stage : forward_stages) {
      run(*stage.operations);
      if (stage.layer && !is_finite(plan.data(stage.layer->output()))) return stage.layer->name();
    }
    return {};
  }

  NetworkOptions options;
  std::shared_ptr<ParameterStore> store;
  LayerGraph graph;
  double synchronize_s = 0; // seconds spent in sums over ranks in the current pass
  Plan plan;
  dnnl::stream stream;
  dnnl::memory image;
  std::vector<std::unique_ptr<SoftmaxCrossEntropy>> losses; // the loss of the model's own logits comes first
  std::vector<Stage> forward_stages, backward_stages;
  MemoryNeed need;
};

Network::Network(const NetworkOptions& options, ParameterMemory memory)
    : impl_(std::make_unique<Impl>(options, Purpose::training,
                                   std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0), std::move(memory))))
{
  // An AlignedBuffer, because all threads touch it first: a vector of 100 MB would be zeroed by one thread.
  const AlignedBuffer plain(plain_size() * static_cast<std::int64_t>(sizeof(float)));
  fill_initial_weights(impl_->store->stored(), options.seed, plain.floats());
  set_plain_weights(plain.floats());
}

Network::Network(const NetworkOptions& options, const Network& trained)
    : impl_(std::make_unique<Impl>(as_trained(options, trained), Purpose::evaluation, trained.impl_->store))
{
}

Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

const NetworkOptions& Network::options() const { return impl_->options; }
std::span<float> Network::weights() { return impl_->store->weights(); }
std::span<float> Network::gradients() { return impl_->store->gradients(); }
const std::vector<Parameter>& Network::parameters() const { return impl_->store->parameters(); }
std::int64_t Network::parameter_count() const { return impl_->store->parameter_count(); }
std::int64_t Network::plain_size() const { return impl_->store->plain_size(); }
std::vector<float> Network::plain_weights() const { return impl_->store->plain_weights(); }
std::vector<float> Network::plain_gradients() const { return impl_->store->plain_gradients(); }
void Network::set_plain_weights(std::span<const float> values) { impl_->store->set_plain_weights(values); }
std::vector<float> Network::plain_of(std::span<const float> packed) const { return impl_->store->plain_of(packed); }
void Network::pack(std::span<const float> plain, std::span<float> packed) const { impl_->store->pack(plain, packed); }
std::string Network::layout() const { return impl_->store->layout(); }
const MemoryNeed& Network::memory() const { return impl_->need; }
void Network::set_loss_scale(double factor) { impl_->plan.state().loss_scale = static_cast<float>(factor); }
void Network::set_pass(std::uint64_t pass) { impl_->plan.state().pass = pass; }

int Network::reorders() const
{
  const auto all = impl_->all_operations();
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [](const auto* operation) { return operation->label().reorder; }));
}

Algorithms Network::algorithms() const
{
  Algorithms all;
  if (impl_->options.reference) return all;
  for (const auto& layer : impl_->graph.layers)
    if (const auto* convolution = dynamic_cast<const Convolution*>(layer.get())) all[layer->name()] = convolution->planned();
  return all;
}

double Network::flops() const
{
  double sum = 0;
  for (const auto* operation : impl_->all_operations()) sum += operation->label().flops;
  return sum;
}

double Network::forward_backward(std::span<const float> images, std::span<const std::int32_t> labels, ComputeTimes* times,
                                 const GradientReady& ready)
{
  try {
    impl_->begin_training(images, labels);
    return impl_->forward_backward(times, ready);
  } catch (const dnnl::error& error) {
    throw translated(error, "a training step of model " + impl_->options.model);
  }
}

Evaluation Network::evaluate(std::span<const float> images, std::span<const std::int32_t> labels)
{
  try {
    impl_->begin(images, labels);
    impl_->forward();
    return impl_->losses.front()->evaluate();
  } catch (const dnnl::error& error) {
    throw translated(error, "an evaluation of model " + impl_->options.model);
  }
}

std::vector<float> Network::logits(std::span<const float> images)
{
  const std::vector<std::int32_t> no_labels(static_cast<std::size_t>(impl_->options.batch), -1);
  evaluate(images, no_labels);
  const auto found = impl_->losses.front()->logits();
  return {found.begin(), found.end()};
}

std::vector<OperationTime> Network::profile(std::span<const float> images, std::span<const std::int32_t> labels)
{
  impl_->begin_training(images, labels);
  return impl_->profile();
}

std::string Network::first_non_finite(std::span<const float> images, std::span<const std::int32_t> labels)
{
  impl_->begin_training(images, labels);
  return impl_->first_non_finite();
}

} // namespace dt::nn
