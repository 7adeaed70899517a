#include "engine/nn/network.hpp"

#include "core/error.hpp"
#include "engine/nn/compute_thread.hpp"
#include "engine/nn/initial_weights.hpp"
#include "engine/nn/model_registry.hpp"
#include "engine/nn/softmax_cross_entropy.hpp"

#include <chrono>
#include <optional>

#include <fmt/format.h>

namespace dt::engine {
namespace {

double seconds_between(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end)
{
  return std::chrono::duration<double>(end - begin).count();
}

NetworkOptions checked(const NetworkOptions& options)
{
  if (options.batch >= 1 && options.threads >= 1) return options;
  throw Error(ErrorKind::recipe,
              fmt::format("A network needs a batch and threads of at least 1 each, not batch {} and {} threads.", options.batch,
                          options.threads));
}

Error translated(const dnnl::error& error, const std::string& what)
{
  const bool memory = error.status == dnnl_out_of_memory;
  return Error(memory ? ErrorKind::environment : ErrorKind::internal,
               fmt::format("oneDNN failed in {}: {} (status {}).{}", what, error.what(), static_cast<int>(error.status),
                           memory ? " Use a smaller batch or more memory." : ""));
}

} // namespace

struct Network::Impl {
  Impl(const NetworkOptions& wanted, Purpose purpose, std::shared_ptr<ParameterStore> shared)
      : options(checked(wanted)), store(std::move(shared)), model(build_model(options)),
        plan({options.batch, purpose, model.tensors, model.input}, store), stream(store->engine())
  {
    prepare_compute_thread(options.threads); // primitives are made for a number of threads
    plan_layers();
    plan.finish();
  }

  void plan_layers()
  {
    image = dnnl::memory(plan.plain_layout(model.input.shape), plan.engine(), DNNL_MEMORY_NONE);
    plan.set_data(model.input, image);
    for (const auto& layer : model.layers) planning(*layer, &Layer::plan_forward);
    if (!store->sealed()) store->seal();
    loss.emplace(plan, model.logits);
    if (!plan.training()) return;
    for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) planning(**layer, &Layer::plan_backward);
  }

  void planning(Layer& layer, void (Layer::*step)(Plan&))
  {
    try {
      (layer.*step)(plan);
    } catch (const dnnl::error& error) {
      throw translated(error, "layer " + layer.name() + " of model " + options.model);
    }
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

  void forward(std::span<const float> images)
  {
    prepare_compute_thread(options.threads);
    image.set_data_handle(const_cast<float*>(images.data())); // only read: no primitive has it as an output
    for (const auto& layer : model.layers) layer->forward(stream);
  }

  void backward(const GradientReady& ready)
  {
    for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) (*layer)->backward(stream, ready);
  }

  // Seconds that `ready` took.
  double backward_telling(const GradientReady& ready)
  {
    double told_s = 0;
    backward([&](std::size_t parameter) {
      const auto begin = std::chrono::steady_clock::now();
      ready(parameter);
      told_s += seconds_between(begin, std::chrono::steady_clock::now());
    });
    return told_s;
  }

  NetworkOptions options;
  std::shared_ptr<ParameterStore> store;
  Model model;
  Plan plan;
  dnnl::stream stream;
  dnnl::memory image;
  std::optional<SoftmaxCrossEntropy> loss;
};

Network::Network(const NetworkOptions& options)
    : impl_(std::make_unique<Impl>(options, Purpose::training,
                                   std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0))))
{
  set_plain_weights(initial_weights(impl_->store->stored(), options.seed));
}

Network::Network(const NetworkOptions& options, const Network& trained)
    : impl_(std::make_unique<Impl>(options, Purpose::evaluation, trained.impl_->store))
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
int Network::reorders() const { return impl_->plan.reorders(); }

double Network::forward_backward(std::span<const float> images, std::span<const std::int32_t> labels, ComputeTimes* times,
                                 const GradientReady& ready)
{
  impl_->check_sizes(images, labels);
  if (!impl_->plan.training()) throw Error(ErrorKind::internal, "A network that shares another's weights can only evaluate.");
  try {
    const auto begin = std::chrono::steady_clock::now();
    impl_->forward(images);
    const double loss = impl_->loss->mean_loss(impl_->stream, labels);
    const auto middle = std::chrono::steady_clock::now();
    double told_s = 0;
    ready ? void(told_s = impl_->backward_telling(ready)) : impl_->backward({});
    const auto end = std::chrono::steady_clock::now();
    if (times) *times = {seconds_between(begin, middle), seconds_between(middle, end) - told_s};
    return loss;
  } catch (const dnnl::error& error) {
    throw translated(error, "a training step of model " + impl_->options.model);
  }
}

Evaluation Network::evaluate(std::span<const float> images, std::span<const std::int32_t> labels)
{
  impl_->check_sizes(images, labels);
  try {
    impl_->forward(images);
    return impl_->loss->evaluate(impl_->stream, labels);
  } catch (const dnnl::error& error) {
    throw translated(error, "an evaluation of model " + impl_->options.model);
  }
}

} // namespace dt::engine
