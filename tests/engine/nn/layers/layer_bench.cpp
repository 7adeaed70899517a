#include "tests/engine/nn/layers/layer_bench.hpp"

#include "engine/nn/kernels/compute_thread.hpp"
#include "engine/nn/kernels/simd_vector.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <cmath>
#include <stdexcept>

namespace dt::nn {
namespace {

using reference::Values;

void append(std::vector<Operation*>& all, std::vector<Operation>& operations)
{
  for (auto& operation : operations) all.push_back(&operation);
}

// Layers with all that they need to run, planned for one purpose.
class LayerBench {
 public:
  LayerBench(const LayerGraph& graph, const LayerInput& in, Purpose purpose)
      : graph_(graph), store_(std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0))),
        plan_({.batch = in.batch,
               .purpose = purpose,
               .tensors = graph.tensors,
               .input = nobody(),
               .uses = graph.uses(),
               .precision = in.precision,
               .algorithms = in.algorithms,
               .threads = in.threads},
              store_),
        stream_(plan_.engine()), images_(to_float(in.images)), output_gradient_(to_float(in.output_gradient))
  {
    prepare_compute_thread(in.threads);
    set_images(in.layout);
    for (const auto& layer : graph.layers) layer->plan_forward(plan_);
    for (const auto& layer : graph.layers) append(forward_, layer->forward());
    store_->seal();
    if (purpose == Purpose::training) plan_backward();
    auto all = forward_;
    all.insert(all.end(), backward_.begin(), backward_.end());
    plan_.finish(all);
    store_->allocate();
    plan_.allocate_all();
    store_->set_plain_weights(to_float(in.weights));
  }
  // What later operations may write over is read at once.
  Values forward()
  {
    for (const auto* operation : forward_) operation->run(stream_);
    return read_plain(plan_, stream_, plan_.data(graph_.logits));
  }
  Values backward()
  {
    for (const auto* operation : backward_) operation->run(stream_);
    return read_plain(plan_, stream_, input_gradient_);
  }
  Values weight_gradients() const { return to_double(store_->plain_gradients()); }

 private:
  void set_images(dnnl::memory::format_tag layout)
  {
    dnnl::memory plain(plan_.image_layout(graph_.input.shape), plan_.engine(), images_.data());
    auto memory = plain;
    if (layout != dnnl::memory::format_tag::nchw) {
      memory = dnnl::memory(plan_.layout(graph_.input.shape, layout), plan_.engine());
      dnnl::reorder(plain, memory).execute(stream_, plain, memory);
    }
    plan_.set_data(graph_.input, memory);
  }
  Tensor nobody() const { return {graph_.tensors, {}}; } // so that the images get a gradient
  void plan_backward()
  {
    plan_.add_gradient(graph_.logits, plain_memory(plan_, plan_.data(graph_.logits).get_desc(), output_gradient_));
    for (auto layer = graph_.layers.rbegin(); layer != graph_.layers.rend(); ++layer) {
      (*layer)->plan_backward(plan_);
      plan_.release((*layer)->output());
      append(backward_, (*layer)->backward());
    }
    input_gradient_ = plan_.gradient(graph_.input, "input", sum_);
    append(backward_, sum_);
  }
  const LayerGraph& graph_;
  std::shared_ptr<ParameterStore> store_;
  Plan plan_;
  dnnl::stream stream_;
  std::vector<float> images_, output_gradient_;
  std::vector<Operation> sum_;
  std::vector<Operation*> forward_, backward_;
  dnnl::memory input_gradient_;
};

} // namespace

LayerGraph described(const Shape& image, const std::function<Tensor(ModelBuilder&)>& describe, LayerKernels kernels,
                     Precision precision)
{
  ModelBuilder builder({.model = "test", .image = image, .classes = 2});
  auto graph = make_layers(builder.part(describe(builder)), {.kernels = kernels, .precision = precision});
  fuse(graph);
  return graph;
}

LayerOutput run_layers(const LayerGraph& graph, const LayerInput& in)
{
  LayerBench bench(graph, in, Purpose::training);
  LayerOutput out;
  out.output = bench.forward();
  out.input_gradient = bench.backward();
  out.weight_gradients = bench.weight_gradients();
  return out;
}

Values evaluate_layers(const LayerGraph& graph, const LayerInput& in)
{
  return LayerBench(graph, in, Purpose::evaluation).forward();
}

dnnl::memory plain_memory(const Plan& plan, const dnnl::memory::desc& like, std::vector<float>& values)
{
  const auto dims = like.dims();
  dnnl::memory::dims strides(dims.size(), 1);
  for (auto i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  const std::size_t number_bytes = like.data_type() == dnnl::memory::data_type::bf16 ? sizeof(Bf16) : sizeof(float);
  values.resize(like.get_size() / number_bytes + 16); // at least as many as without padding; kernels read whole vectors
  return dnnl::memory({dims, dnnl::memory::data_type::f32, strides}, plan.engine(), values.data());
}

Values read_plain(const Plan& plan, const dnnl::stream& stream, dnnl::memory memory)
{
  std::vector<float> values;
  auto plain = plain_memory(plan, memory.get_desc(), values);
  dnnl::reorder(memory, plain).execute(stream, memory, plain);
  values.resize(plain.get_desc().get_size() / sizeof(float));
  return to_double(values);
}

Values joined(const std::vector<Values>& parts)
{
  Values all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Values absolute(Values values)
{
  for (auto& value : values) value = std::abs(value);
  return values;
}

std::size_t count_outside(const Values& values, const Values& expected, const Values& allowed)
{
  if (values.size() != expected.size() || values.size() != allowed.size()) throw std::logic_error("sizes differ");
  std::size_t outside = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    outside += std::abs(values[i] - expected[i]) <= allowed[i] ? 0 : 1; // NaN counts too
  return outside;
}

std::size_t count_outside_sums(const Values& values, const Values& expected, const Values& absolute_sums, std::int64_t terms)
{
  auto allowed = absolute_sums;
  for (auto& value : allowed) value *= static_cast<double>(terms + 2) * 0x1p-24;
  return count_outside(values, expected, allowed);
}

} // namespace dt::nn
