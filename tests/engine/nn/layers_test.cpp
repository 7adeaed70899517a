// The layers over oneDNN against the reference, within the bound of floating-point sums.
#include "engine/nn/compute_thread.hpp"
#include "engine/nn/model_builder.hpp"
#include "engine/nn/softmax_cross_entropy.hpp"
#include "tests/engine/nn/numbers.hpp"
#include "tests/engine/nn/reference.hpp"

#include <cmath>
#include <functional>
#include <optional>

#include <catch2/catch.hpp>

using namespace dt::engine;
using reference::Values;
using reference::Windows;

namespace {

struct LayerInput {
  std::int64_t batch;
  Values images, weights, output_gradient; // weights: of all parameters in plain order
};

struct LayerOutput {
  Values output, input_gradient, weight_gradients;
};

dnnl::memory plain_memory(const Plan& plan, const dnnl::memory::desc& like, std::vector<float>& values)
{
  const auto dims = like.dims();
  dnnl::memory::dims strides(dims.size(), 1);
  for (auto i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  values.resize(like.get_size() / sizeof(float) + 16); // at least as many as without padding; kernels read whole vectors
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

// All operations in the order in which they run.
std::vector<Operation*> operations_of(const Model& model)
{
  std::vector<Operation*> all;
  for (const auto& layer : model.layers)
    for (auto& operation : layer->forward()) all.push_back(&operation);
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer)
    for (auto& operation : (*layer)->backward()) all.push_back(&operation);
  return all;
}

// Forward and backward of a few layers on their own, with a gradient for their input too.
LayerOutput run_layers(const Model& model, const LayerInput& in)
{
  prepare_compute_thread(1);
  auto store = std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0));
  const Tensor nobody{model.tensors, {}};
  Plan plan({.batch = in.batch, .tensors = model.tensors, .input = nobody, .uses = model.uses()}, store);
  auto images = to_float(in.images), output_gradient = to_float(in.output_gradient);
  plan.set_data(model.input, dnnl::memory(plan.image_layout(model.input.shape), plan.engine(), images.data()));
  for (const auto& layer : model.layers) layer->plan_forward(plan);
  store->seal();
  const auto output = plan.data(model.logits);
  plan.add_gradient(model.logits, plain_memory(plan, output.get_desc(), output_gradient));
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
    (*layer)->plan_backward(plan);
    plan.release((*layer)->output());
  }
  std::vector<Operation> sum;
  const auto input_gradient = plan.gradient(model.input, "input", sum);
  auto operations = operations_of(model);
  for (auto& operation : sum) operations.push_back(&operation);
  plan.finish(operations);
  store->allocate();
  plan.allocate_all();

  store->set_plain_weights(to_float(in.weights));
  const dnnl::stream stream(plan.engine());
  Values result;
  std::size_t forward = 0;
  for (const auto& layer : model.layers) forward += layer->forward().size();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (i == forward) result = read_plain(plan, stream, output); // before its place is taken
    operations[i]->run(stream);
  }
  if (result.empty()) result = read_plain(plan, stream, output);
  return {result, read_plain(plan, stream, input_gradient), to_double(store->plain_gradients())};
}

Model described(const ImageShape& image, const std::function<Tensor(ModelBuilder&)>& describe)
{
  ModelBuilder builder({.model = "test", .image = image, .classes = 2});
  auto model = builder.part(describe(builder));
  fuse(model);
  return model;
}

Values joined(const Values& a, const Values& b)
{
  auto all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Values absolute(Values values)
{
  for (auto& value : values) value = std::abs(value);
  return values;
}

// A sum of n products in float, in any order, is within n 2^-24 of the sum of their absolute values, to first order.
void check_sums(const Values& values, const Values& expected, const Values& absolute_sums, std::int64_t terms)
{
  REQUIRE(values.size() == expected.size());
  const double relative = static_cast<double>(terms + 2) * 0x1p-24;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i] - expected[i]) <= relative * absolute_sums[i])) ++outside; // NaN counts too
  }
  CHECK(outside == 0);
}

struct Affine {
  Windows shape;
  Values x, w, b, c;
};

Affine affine_input(const Windows& s)
{
  return {s, numbers(s.inputs(), 1), numbers(s.weights(), 2), numbers(s.out_channels, 3), numbers(s.outputs(), 4)};
}

// The layer's numbers, with a ReLU behind it or not, against a convolution of the reference.
void check_affine(const Affine& in, const LayerOutput& out, bool relu)
{
  const auto& s = in.shape;
  const auto products = s.weights() / s.out_channels, outputs = s.outputs() / s.out_channels;
  auto expected = reference::convolution(s, in.x, in.w, in.b);
  if (relu) expected = reference::relu(expected);
  check_sums(out.output, expected, reference::convolution(s, absolute(in.x), absolute(in.w), absolute(in.b)), products);
  const auto c = relu ? reference::relu_gradient(out.output, in.c) : in.c;
  const auto gradients = reference::convolution_gradients(s, in.x, in.w, c);
  const auto sums = reference::convolution_gradients(s, absolute(in.x), absolute(in.w), absolute(c));
  check_sums(out.input_gradient, gradients.input, sums.input, s.out_channels * s.kernel * s.kernel);
  check_sums(out.weight_gradients, joined(gradients.weights, gradients.bias), joined(sums.weights, sums.bias), outputs);
}

const std::vector<Windows> convolutions{
    {1, 1, 5, 5, 1, 3, 1, 0},    {3, 1, 28, 28, 6, 5, 1, 2}, {1, 6, 14, 14, 16, 5, 1, 0}, {3, 7, 13, 11, 5, 3, 2, 1},
    {2, 3, 17, 19, 13, 5, 3, 2}, {1, 17, 7, 7, 19, 1, 1, 0}, {3, 16, 9, 9, 32, 3, 1, 1},  {64, 6, 14, 14, 16, 5, 1, 0},
};

} // namespace

TEST_CASE("convolution agrees with the reference over odd shapes")
{
  for (const auto& s : convolutions) {
    for (const bool relu : {false, true}) {
      INFO("channels " << s.in_channels << " -> " << s.out_channels << ", batch " << s.batch << ", relu " << relu);
      const auto in = affine_input(s);
      const auto model = described({s.in_channels, s.height, s.width}, [&](ModelBuilder& b) {
        const auto y = b.convolution("c", b.input(),
                                     {.channels = s.out_channels, .kernel = s.kernel, .stride = s.stride, .padding = s.padding});
        return relu ? b.relu(y) : y;
      });
      check_affine(in, run_layers(model, {s.batch, in.x, joined(in.w, in.b), in.c}), relu);
    }
  }
}

TEST_CASE("inner product agrees with the reference, from images and from features")
{
  struct Case {
    std::int64_t batch, outputs;
    ImageShape image;
  };
  for (const auto& [batch, outputs, image] : {Case{1, 1, {1, 1, 1}}, Case{3, 7, {5, 3, 1}}, Case{2, 13, {16, 5, 5}},
                                              Case{64, 120, {16, 5, 5}}, Case{3, 10, {84, 1, 1}}}) {
    for (const bool relu : {false, true}) {
      INFO("inputs " << image.size() << ", outputs " << outputs << ", batch " << batch << ", relu " << relu);
      const auto in = affine_input(reference::inner_product(batch, image.size(), outputs));
      const auto model = described(image, [&](ModelBuilder& b) {
        const auto y = b.inner_product("f", b.input(), outputs);
        return relu ? b.relu(y) : y;
      });
      check_affine(in, run_layers(model, {batch, in.x, joined(in.w, in.b), in.c}), relu);
    }
  }
}

TEST_CASE("max pooling moves values and gradients exactly, over odd shapes")
{
  for (const auto& s : {Windows{1, 1, 4, 4, 1, 2, 2, 0}, Windows{3, 6, 28, 28, 6, 2, 2, 0}, Windows{2, 17, 13, 11, 17, 3, 2, 1},
                        Windows{3, 5, 7, 5, 5, 2, 2, 0}, Windows{1, 16, 9, 9, 16, 3, 3, 1}}) {
    INFO("channels " << s.in_channels << ", " << s.height << "x" << s.width << ", kernel " << s.kernel);
    const auto x = to_double(to_float(distinct_numbers(s.inputs())));
    auto c = numbers(s.outputs(), 4);
    for (auto& value : c) value = std::round(value * 64); // sums of these are exact
    const auto model = described({s.in_channels, s.height, s.width}, [&](ModelBuilder& b) {
      return b.max_pooling(b.input(), {.kernel = s.kernel, .stride = s.stride, .padding = s.padding});
    });
    const auto out = run_layers(model, {s.batch, x, {}, c});
    CHECK(out.output == reference::max_pooling(s, x));
    CHECK(out.input_gradient == reference::max_pooling_gradient(s, x, c));
  }
}

TEST_CASE("a ReLU that no layer can take in is exact, and equally so behind the pooling it was described before")
{
  const Windows s{2, 3, 6, 6, 3, 2, 2, 0};
  const auto x = to_double(to_float(distinct_numbers(s.inputs()))), all = numbers(s.inputs(), 4),
             pooled = numbers(s.outputs(), 4);
  const auto alone = run_layers(described({3, 6, 6}, [](ModelBuilder& b) { return b.relu(b.input()); }), {2, x, {}, all});
  CHECK(alone.output == reference::relu(x));
  CHECK(alone.input_gradient == reference::relu_gradient(reference::relu(x), all));

  const auto model =
      described({3, 6, 6}, [](ModelBuilder& b) { return b.max_pooling(b.relu(b.input()), {.kernel = 2, .stride = 2}); });
  const auto out = run_layers(model, {2, x, {}, pooled});
  const auto active = reference::relu(x);
  CHECK(out.output == reference::max_pooling(s, active));
  CHECK(out.input_gradient == reference::relu_gradient(active, reference::max_pooling_gradient(s, active, pooled)));
}

namespace {

// The loss over given logits, on its own.
struct LossBench {
  LossBench(std::vector<float> values, std::int64_t batch)
      : logits(std::move(values)), store(std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0))),
        tensor{0, {static_cast<std::int64_t>(logits.size()) / batch, 1, 1}},
        plan({.batch = batch, .tensors = 1, .input = {1, {}}, .uses = {1}}, store), stream(plan.engine())
  {
    plan.set_data(tensor,
                  dnnl::memory({{batch, tensor.shape.channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nc},
                               plan.engine(), logits.data()));
    loss.emplace(plan, tensor, 1);
    operations = {&loss->loss()[0]};
    plan.finish(operations);
    plan.allocate_all();
  }
  double mean_loss(const std::vector<std::int32_t>& labels)
  {
    loss->set_labels(labels, false);
    operations[0]->run(stream);
    return loss->weighted_loss();
  }
  Values gradient() { return read_plain(plan, stream, plan.gradient_parts(tensor)[0]); }
  Evaluation evaluate(const std::vector<std::int32_t>& labels)
  {
    loss->set_labels(labels, true);
    return loss->evaluate();
  }
  std::vector<float> logits;
  std::shared_ptr<ParameterStore> store;
  Tensor tensor;
  Plan plan;
  dnnl::stream stream;
  std::optional<SoftmaxCrossEntropy> loss;
  std::vector<Operation*> operations;
};

} // namespace

TEST_CASE("softmax cross-entropy and its gradient agree with the reference")
{
  for (const std::int64_t classes : {2, 7, 100}) {
    const std::vector<std::int32_t> labels{0, 1, static_cast<std::int32_t>(classes - 1)};
    const auto logits = numbers(3 * classes, 9);
    LossBench bench(to_float(logits), 3);
    const auto expected = reference::softmax_cross_entropy(logits, labels);
    CHECK(bench.mean_loss(labels) == Approx(expected.mean).epsilon(1e-6));
    const auto gradient = bench.gradient();
    for (std::size_t i = 0; i < gradient.size(); ++i) CHECK(gradient[i] == Approx(expected.gradient[i]).margin(1e-7));
  }
}

TEST_CASE("softmax cross-entropy survives logits whose exponentials do not")
{
  LossBench bench({1000, 0, -1000, 0, 1000, -1000}, 2);
  CHECK(bench.mean_loss({0, 0}) == Approx(500));
  CHECK(bench.gradient() == Values{0, 0, 0, -0.5, 0.5, 0});
}

TEST_CASE("evaluation leaves samples of label -1 out, and logits that are no numbers are wrong")
{
  LossBench bench({1, 0, 0, 1, 0, 1, NAN, NAN}, 4);
  const auto evaluation = bench.evaluate({0, 0, -1, -1});
  CHECK(evaluation.samples == 2);
  CHECK(evaluation.correct == 1);
  CHECK(evaluation.loss_sum == Approx(2 * std::log(1 + std::exp(1.0)) - 1));
  CHECK(bench.evaluate({-1, -1, -1, 0}).correct == 0);
}
