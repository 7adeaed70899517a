// Convolutions, inner products, poolings, ReLU and loss against the reference, within the bound of floating-point sums.
#include "engine/nn/graph/network.hpp"
#include "engine/nn/layers/softmax_cross_entropy.hpp"
#include "engine/nn/layers/winograd/winograd_convolution.hpp"
#include "tests/engine/nn/layers/layer_bench.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace dt;
using namespace dt::nn;
using Tag = dnnl::memory::format_tag;
using reference::Values;
using reference::Windows;

namespace {

struct Affine {
  Windows shape;
  Values x, w, b, c;
};

Affine affine_input(const Windows& s)
{
  return {s, numbers(s.inputs(), 1), numbers(s.weights(), 2), numbers(s.out_channels, 3), numbers(s.outputs(), 4)};
}

// The layer's numbers, with a ReLU behind it or not, against a convolution of the reference. growth: how many times more
// products' rounding may show.
void check_affine(const Affine& in, const LayerOutput& out, bool relu, bool bias = true, std::int64_t growth = 1)
{
  const auto& s = in.shape;
  const auto outputs = s.outputs() / s.out_channels;
  auto expected = reference::convolution(s, in.x, in.w, in.b);
  if (relu) expected = reference::relu(expected);
  const auto output_sums = reference::convolution(s, absolute(in.x), absolute(in.w), absolute(in.b));
  CHECK(count_outside_sums(out.output, expected, output_sums, growth * s.products()) == 0);
  const auto c = relu ? reference::relu_gradient(out.output, in.c) : in.c;
  const auto gradients = reference::convolution_gradients(s, in.x, in.w, c);
  const auto sums = reference::convolution_gradients(s, absolute(in.x), absolute(in.w), absolute(c));
  CHECK(count_outside_sums(out.input_gradient, gradients.input, sums.input, growth * s.out_channels * s.kernel * s.kernel) == 0);
  const auto of_parameters = [&](const reference::Gradients& g) { return bias ? joined({g.weights, g.bias}) : g.weights; };
  CHECK(count_outside_sums(out.weight_gradients, of_parameters(gradients), of_parameters(sums), growth * outputs) == 0);
}

ConvolutionSpec spec_of(const Windows& s, bool bias = true)
{
  return {
      .channels = s.out_channels, .kernel = s.kernel, .stride = s.stride, .padding = s.padding, .groups = s.groups, .bias = bias};
}

Shape images_of(const Windows& s) { return {s.in_channels, s.height, s.width}; }

LayerGraph convolution_model(const Windows& s, bool relu = false, LayerKernels kernels = LayerKernels::library,
                             Precision precision = Precision::fp32)
{
  const auto describe = [&](ModelBuilder& b) {
    const auto y = b.convolution("c", b.input(), spec_of(s));
    return relu ? b.relu(y) : y;
  };
  return described(images_of(s), describe, kernels, precision);
}

PoolingSpec pooling_of(const Windows& s)
{
  return {.kernel = s.kernel, .stride = s.stride, .padding = s.padding, .ceil = s.ceil};
}

// "2x17x13x11, kernel 3, stride 2"
std::string words_of(const Windows& s)
{
  return fmt::format("{}x{}x{}x{}, kernel {}, stride {}", s.batch, s.in_channels, s.height, s.width, s.kernel, s.stride);
}

void check_convolution(const Windows& s, bool relu, LayerKernels kernels, std::int64_t growth = 1,
                       const Algorithms& algorithms = {})
{
  INFO(words_of(s) << ", to " << s.out_channels << ", groups " << s.groups << ", relu " << relu << ", kernels "
                   << static_cast<int>(kernels));
  const auto in = affine_input(s);
  check_affine(in, run_layers(convolution_model(s, relu, kernels), {s.batch, in.x, joined({in.w, in.b}), in.c, algorithms}), relu,
               true, growth);
}

void check_average(const Windows& s, const LayerGraph& model)
{
  const auto x = numbers(s.inputs(), 1), c = numbers(s.outputs(), 4);
  const auto out = run_layers(model, {s.batch, x, {}, c});
  const auto terms = s.kernel * s.kernel;
  CHECK(count_outside_sums(out.output, reference::average_pooling(s, x), reference::average_pooling(s, absolute(x)), terms) == 0);
  CHECK(count_outside_sums(out.input_gradient, reference::average_pooling_gradient(s, c),
                           reference::average_pooling_gradient(s, absolute(c)), terms) == 0);
}

constexpr auto all_kernels = {LayerKernels::library, LayerKernels::image_lanes, LayerKernels::plain_loops};
constexpr auto fast_kernels = {LayerKernels::library, LayerKernels::image_lanes};

const std::vector<Windows> convolutions{
    {1, 1, 5, 5, 1, 3, 1, 0},    {3, 1, 28, 28, 6, 5, 1, 2},   {1, 6, 14, 14, 16, 5, 1, 0},   {3, 7, 13, 11, 5, 3, 2, 1},
    {2, 3, 17, 19, 13, 5, 3, 2}, {1, 17, 7, 7, 19, 1, 1, 0},   {3, 16, 9, 9, 32, 3, 1, 1},    {64, 6, 14, 14, 16, 5, 1, 0},
    {2, 6, 7, 5, 4, 3, 1, 1, 2}, {1, 2, 5, 5, 2, 5, 1, 2, 2},  {2, 34, 9, 9, 38, 3, 2, 1, 2}, {3, 32, 7, 7, 64, 3, 1, 1, 2},
    {1, 5, 7, 7, 5, 3, 1, 1, 5}, {1, 3, 23, 23, 16, 11, 4, 0}, {1, 37, 7, 6, 33, 3, 1, 0},
};

} // namespace

TEST_CASE(
    "convolution agrees with the reference over odd shapes, with groups and without, by oneDNN, in plain loops and in lanes")
{
  for (const auto kernels : all_kernels) {
    auto shapes = convolutions;
    if (kernels == LayerKernels::image_lanes) // groups of images that are not full
      shapes.insert(shapes.end(), {{17, 6, 14, 14, 16, 5, 1, 0}, {33, 1, 28, 28, 6, 5, 1, 2}, {31, 3, 9, 10, 5, 4, 1, 3}});
    for (const auto& s : shapes)
      for (const bool relu : {false, true}) check_convolution(s, relu, kernels);
  }
}

TEST_CASE(
    "a convolution by Winograd's algorithm agrees with the reference, its rounding grown by what its transforms multiply with")
{
  constexpr std::int64_t growth = 4;
  for (const auto& s : {Windows{2, 32, 13, 11, 48, 3, 1, 1}, Windows{1, 48, 7, 6, 32, 3, 1, 0}, Windows{3, 64, 4, 4, 32, 3, 1, 1},
                        Windows{2, 48, 10, 9, 32, 3, 1, 2}, Windows{7, 32, 33, 30, 32, 3, 1, 1}})
    for (const bool relu : {false, true}) check_convolution(s, relu, LayerKernels::library, growth);
}

namespace {

double distance(const Values& a, const Values& b)
{
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
  return std::sqrt(difference / size);
}

// Numbers that bfloat16 has exactly.
Values in_bf16(Values values)
{
  for (auto& value : values) value = std::round(128 * value) / 128;
  return values;
}

} // namespace

TEST_CASE("a convolution by Winograd's algorithm in bf16 rounds its results alone: products and sums are fp32")
{
  if (!is_supported(Precision::bf16)) return; // the network refuses bf16 on this processor, and oneDNN has no kernels for it
  using enum Algorithm;
  for (const auto& s :
       {Windows{2, 32, 13, 11, 48, 3, 1, 1}, Windows{3, 64, 8, 9, 32, 3, 1, 0}, Windows{2, 32, 13, 11, 48, 5, 1, 2}})
    for (const bool relu : {false, true}) {
      INFO("kernel " << s.kernel << ", relu " << relu);
      auto in = affine_input(s);
      in.x = in_bf16(in.x), in.c = in_bf16(in.c);
      const auto model = convolution_model(s, relu, LayerKernels::library, Precision::bf16);
      const auto out = run_layers(
          model,
          {s.batch, in.x, joined({in.w, in.b}), in.c, {{"c", {winograd, winograd, winograd}}}, Tag::nchw, Precision::bf16});
      CHECK(dynamic_cast<const Convolution&>(*model.layers.front()).planned() == LayerAlgorithms{winograd, winograd, winograd});
      auto expected = reference::convolution(s, in.x, in.w, in.b);
      if (relu) expected = reference::relu(expected);
      const auto gradients =
          reference::convolution_gradients(s, in.x, in.w, relu ? reference::relu_gradient(out.output, in.c) : in.c);
      // Half a unit of the last place of bfloat16 is at most 2^-9 of a number. Rounded weights would add as much again.
      CHECK(distance(out.output, expected) < 0x1p-9);
      CHECK(distance(out.input_gradient, gradients.input) < 0x1p-9);
      CHECK(distance(out.weight_gradients, joined({gradients.weights, gradients.bias})) < 1e-5);
    }
}

TEST_CASE("in bf16 a convolution's directions may be mixed of Winograd's algorithm and direct sums")
{
  if (!is_supported(Precision::bf16)) return;
  using enum Algorithm;
  const Windows s{2, 32, 13, 11, 48, 3, 1, 1};
  const auto in = affine_input(s);
  const auto gradients = reference::convolution_gradients(s, in.x, in.w, in.c);
  for (const auto& mix : {LayerAlgorithms{winograd, direct, direct}, LayerAlgorithms{direct, winograd, direct},
                          LayerAlgorithms{direct, direct, winograd}, LayerAlgorithms{winograd, channels_last, winograd}}) {
    INFO("algorithms " << algorithm_lines({{"c", mix}}).front());
    const auto model = convolution_model(s, false, LayerKernels::library, Precision::bf16);
    const auto out = run_layers(model, {s.batch, in.x, joined({in.w, in.b}), in.c, {{"c", mix}}, Tag::nchw, Precision::bf16});
    CHECK(dynamic_cast<const Convolution&>(*model.layers.front()).planned() == mix);
    CHECK(distance(out.output, reference::convolution(s, in.x, in.w, in.b)) < 0x1p-7);
    CHECK(distance(out.input_gradient, gradients.input) < 0x1p-7);
    CHECK(distance(out.weight_gradients, joined({gradients.weights, gradients.bias})) < 0x1p-7);
  }
}

// Chunks that all threads share, and chunks of a thread's own; backward to the weights also sums that a thread has for itself.
TEST_CASE("a convolution by Winograd's algorithm gives what direct sums give, however its tiles are divided among threads")
{
  using enum Algorithm;
  for (const auto& s :
       {Windows{1, 16, 496, 492, 16, 3, 1, 1}, Windows{1, 512, 51, 52, 32, 3, 1, 1}, Windows{1, 64, 44, 44, 64, 3, 1, 1},
        Windows{2, 80, 9, 9, 144, 3, 1, 1}, Windows{2, 48, 120, 116, 80, 3, 1, 1}, Windows{1, 16, 496, 492, 16, 5, 1, 2},
        Windows{1, 512, 43, 44, 32, 5, 1, 2}}) {
    INFO(s.in_channels << " to " << s.out_channels << " channels, windows of " << s.kernel);
    const auto in = affine_input(s);
    const auto computed = [&](Algorithm by, int threads) {
      return run_layers(convolution_model(s),
                        {s.batch, in.x, joined({in.w, in.b}), in.c, {{"c", {by, by, by}}}, Tag::nchw, Precision::fp32, threads});
    };
    const auto one = computed(winograd, 1), three = computed(winograd, 3), again = computed(winograd, 3),
               by_sums = computed(direct, 1);
    // In brackets: a failed check would otherwise print millions of numbers.
    CHECK((one.output == three.output));
    CHECK((one.input_gradient == three.input_gradient));
    CHECK((three.weight_gradients == again.weight_gradients));
    const double error = s.kernel == 3 ? 3e-6 : 1e-5;
    CHECK(distance(one.output, by_sums.output) < error);
    CHECK(distance(one.input_gradient, by_sums.input_gradient) < error);
    CHECK(distance(one.weight_gradients, by_sums.weight_gradients) < 10 * error);
    CHECK(distance(three.weight_gradients, by_sums.weight_gradients) < 10 * error);
  }
}

TEST_CASE("a 5x5 convolution by Winograd's algorithm agrees with the reference over odd shapes")
{
  constexpr std::int64_t growth = 16;
  for (const auto& s :
       {Windows{2, 32, 13, 11, 48, 5, 1, 2}, Windows{1, 48, 12, 13, 32, 5, 1, 0}, Windows{2, 32, 8, 8, 32, 5, 1, 4},
        Windows{1, 64, 27, 27, 192, 5, 1, 2}, Windows{5, 32, 10, 11, 32, 5, 1, 1}}) {
    CHECK(dynamic_cast<WinogradConvolution*>(convolution_model(s).layers[0].get()) != nullptr);
    for (const bool relu : {false, true}) check_convolution(s, relu, LayerKernels::library, growth);
  }
}

TEST_CASE("a convolution agrees with the reference by every algorithm, alone and mixed over the directions")
{
  using enum Algorithm;
  const auto check_mixes = [](const std::vector<Windows>& shapes, const std::vector<LayerAlgorithms>& mixes,
                              std::int64_t growth) {
    for (const auto& s : shapes)
      for (const auto& mix : mixes) {
        INFO("algorithms " << algorithm_lines({{"c", mix}}).front());
        check_convolution(s, true, LayerKernels::library, growth, {{"c", mix}});
      }
  };
  const std::vector<Windows> wide{{2, 32, 13, 11, 48, 3, 1, 1}, {2, 64, 6, 6, 32, 1, 1, 0}, {2, 32, 8, 8, 64, 1, 2, 0}};
  const std::vector<LayerAlgorithms> exact{{channels_last, channels_last, channels_last},
                                           {direct, channels_last, direct},
                                           {channels_last, direct, channels_last},
                                           {direct, direct, direct}};
  check_mixes(convolutions, exact, 1);
  check_mixes(wide, exact, 1);
  // Winograd's errors are relative to all numbers of a tile, so that a sum of a few small products has no bound of its own.
  check_mixes(wide,
              {{winograd, winograd, winograd},
               {direct, channels_last, winograd},
               {winograd, direct, channels_last},
               {channels_last, winograd, direct}},
              4);
}

TEST_CASE("a convolution is planned with the algorithms that are named for it, and is direct where there is no such")
{
  using enum Algorithm;
  const auto planned = [](const Windows& s, const LayerAlgorithms& wanted) {
    const auto in = affine_input(s);
    const auto model = convolution_model(s);
    run_layers(model, {s.batch, in.x, joined({in.w, in.b}), in.c, {{"c", wanted}}});
    return dynamic_cast<const Convolution&>(*model.layers.front()).planned();
  };
  const Windows wide{2, 32, 13, 11, 48, 3, 1, 1}, strided{2, 32, 13, 11, 48, 3, 2, 1};
  const LayerAlgorithms mixed{direct, channels_last, channels_last}, none{direct, direct, direct};
  CHECK(planned(wide, mixed) == mixed);
  CHECK(planned(wide, none) == none);
  CHECK(planned(strided, {winograd, winograd, winograd}) == none);
}

TEST_CASE("a convolution without bias has weights only")
{
  for (const auto kernels : all_kernels) {
    const Windows s{3, 7, 13, 11, 5, 3, 2, 1};
    auto in = affine_input(s);
    std::fill(in.b.begin(), in.b.end(), 0.0);
    const auto describe = [&](ModelBuilder& b) { return b.convolution("c", b.input(), spec_of(s, false)); };
    check_affine(in, run_layers(described({7, 13, 11}, describe, kernels), {s.batch, in.x, in.w, in.c}), false, false);
  }
}

TEST_CASE("inner product agrees with the reference, from images and from features")
{
  struct Case {
    std::int64_t batch, outputs;
    Shape image;
  };
  for (const auto& [batch, outputs, image] :
       {Case{1, 1, {1, 1, 1}}, Case{3, 7, {5, 3, 1}}, Case{2, 13, {16, 5, 5}}, Case{64, 120, {16, 5, 5}}, Case{3, 10, {84, 1, 1}},
        Case{50, 33, {3, 7, 5}}, Case{17, 337, {37, 3, 2}}, Case{4, 512, {272, 1, 1}}}) {
    for (const auto kernels : fast_kernels)
      for (const bool relu : {false, true}) {
        INFO("inputs " << image.size() << ", outputs " << outputs << ", batch " << batch << ", relu " << relu);
        const auto in = affine_input(reference::inner_product(batch, image.size(), outputs));
        const auto describe = [&](ModelBuilder& b) {
          const auto y = b.inner_product("f", b.input(), outputs);
          return relu ? b.relu(y) : y;
        };
        check_affine(in, run_layers(described(image, describe, kernels), {batch, in.x, joined({in.w, in.b}), in.c}), relu);
      }
  }
}

namespace {

// Sums of a few of these are exact.
Values exact_numbers(std::int64_t size)
{
  auto values = numbers(size, 4);
  for (auto& value : values) value = std::round(value * 64);
  return values;
}

LayerGraph max_pooling_model(const Windows& s, LayerKernels kernels = LayerKernels::library)
{
  return described(
      images_of(s), [&](ModelBuilder& b) { return b.max_pooling(b.input(), pooling_of(s)); }, kernels);
}

} // namespace

TEST_CASE("max pooling moves values and gradients exactly, over odd shapes")
{
  for (const auto& s : {Windows{1, 1, 4, 4, 1, 2, 2, 0}, Windows{3, 6, 28, 28, 6, 2, 2, 0}, Windows{2, 17, 13, 11, 17, 3, 2, 1},
                        Windows{3, 5, 7, 5, 5, 2, 2, 0}, Windows{1, 16, 9, 9, 16, 3, 3, 1},
                        Windows{2, 3, 8, 7, 3, 3, 2, 0, 1, true}, Windows{1, 16, 8, 13, 16, 3, 2, 1, 1, true},
                        Windows{1, 1, 5, 5, 1, 2, 3, 1, 1, true}, Windows{19, 2, 9, 6, 2, 3, 3, 0}}) {
    INFO(words_of(s) << ", rounded up " << s.ceil);
    const auto x = to_double(to_float(distinct_numbers(s.inputs()))), c = exact_numbers(s.outputs());
    for (const auto kernels : fast_kernels) {
      const auto out = run_layers(max_pooling_model(s, kernels), {s.batch, x, {}, c});
      CHECK(out.output == reference::max_pooling(s, x));
      CHECK(out.input_gradient == reference::max_pooling_gradient(s, x, c));
    }
  }
}

TEST_CASE("max pooling by our own kernels is exact where channels lie in blocks and where they are last, in evaluations too")
{
  for (const auto& s :
       {Windows{2, 16, 9, 7, 16, 3, 2, 1}, Windows{2, 32, 12, 13, 32, 3, 2, 0, 1, true}, Windows{3, 16, 6, 5, 16, 3, 1, 1},
        Windows{1, 48, 8, 8, 48, 2, 2, 0}, Windows{2, 16, 11, 9, 16, 5, 3, 2}, Windows{2, 20, 7, 8, 20, 3, 2, 1, 1, true},
        Windows{1, 16, 3, 2, 16, 3, 1, 1}, Windows{1, 24, 7, 9, 24, 2, 3, 1}, Windows{1, 16, 9, 11, 16, 1, 2, 0}}) {
    const auto x = to_double(to_float(distinct_numbers(s.inputs()))), c = exact_numbers(s.outputs());
    for (const auto layout : {Tag::nChw8c, Tag::nChw16c, Tag::nhwc}) {
      INFO(words_of(s) << ", layout " << static_cast<int>(layout));
      const LayerInput input{.batch = s.batch, .images = x, .weights = {}, .output_gradient = c, .layout = layout};
      const auto out = run_layers(max_pooling_model(s), input);
      CHECK(out.output == reference::max_pooling(s, x));
      CHECK(out.input_gradient == reference::max_pooling_gradient(s, x, c));
      CHECK(evaluate_layers(max_pooling_model(s), input) == out.output);
    }
  }
}

TEST_CASE("average pooling agrees with the reference over odd shapes, and leaves padding out of the mean")
{
  for (const auto& s : {Windows{1, 1, 4, 4, 1, 2, 2, 0}, Windows{2, 17, 13, 11, 17, 3, 2, 1}, Windows{3, 5, 7, 5, 5, 5, 3, 2},
                        Windows{1, 16, 8, 13, 16, 3, 2, 1, 1, true}}) {
    INFO(words_of(s));
    const auto describe = [&](ModelBuilder& b) { return b.average_pooling(b.input(), pooling_of(s)); };
    for (const auto kernels : fast_kernels) check_average(s, described(images_of(s), describe, kernels));
  }
}

TEST_CASE("global average pooling is the mean of each channel")
{
  for (const auto& image : {Shape{1, 1, 1}, Shape{3, 7, 7}, Shape{17, 5, 3}, Shape{16, 2, 11}}) {
    const auto side = std::max(image.height, image.width);
    INFO(image.channels << "x" << image.height << "x" << image.width);
    check_average({2, image.channels, image.height, image.width, image.channels, side, side, 0},
                  described(image, [](ModelBuilder& b) { return b.global_average_pooling(b.input()); }));
  }
}

TEST_CASE("a convolution in image lanes with the ReLU and the pooling behind it agrees with the three of them, and is one layer")
{
  struct Case {
    Windows shape;
    PoolingSpec pooling;
    bool joins;
  };
  for (const auto& [s, pooling, joins] : {Case{{17, 1, 12, 12, 6, 5, 1, 2}, {.kernel = 2, .stride = 2}, true},
                                          Case{{3, 4, 9, 11, 5, 3, 1, 0}, {.kernel = 3, .stride = 3}, true},
                                          Case{{2, 3, 9, 8, 7, 3, 1, 1}, {.kernel = 2, .stride = 3}, true},
                                          Case{{2, 3, 7, 7, 5, 3, 1, 1}, {.kernel = 2, .stride = 2, .ceil = true}, true},
                                          Case{{2, 3, 9, 8, 7, 3, 1, 1}, {.kernel = 3, .stride = 2}, false}}) {
    for (const bool relu : {false, true}) {
      INFO(s.height << "x" << s.width << ", pooling " << pooling.kernel << "/" << pooling.stride << ", relu " << relu);
      const auto in = affine_input(s);
      const auto describe = [&](ModelBuilder& b) {
        const auto y = b.convolution("c", b.input(), spec_of(s));
        return b.max_pooling(relu ? b.relu(y) : y, pooling);
      };
      const auto image = images_of(s);
      const auto lanes = described(image, describe, LayerKernels::image_lanes),
                 plain = described(image, describe, LayerKernels::plain_loops);
      CHECK((lanes.layers.size() == 1) == joins);
      const auto pooled = plain.logits.shape;
      const LayerInput input{s.batch, in.x, joined({in.w, in.b}), numbers(s.batch * pooled.size(), 5)};
      const auto found = run_layers(lanes, input), expected = run_layers(plain, input);
      const auto near = [](const Values& values) { return Values(values.size(), 1e-4); };
      CHECK(count_outside(found.output, expected.output, near(expected.output)) == 0);
      CHECK(count_outside(found.input_gradient, expected.input_gradient, near(expected.input_gradient)) == 0);
      CHECK(count_outside(found.weight_gradients, expected.weight_gradients, near(expected.weight_gradients)) == 0);
      CHECK(evaluate_layers(described(image, describe, LayerKernels::image_lanes), input) == found.output);
    }
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
  LossBench(std::vector<float> values, std::int64_t batch, double smoothing = 0, double weight = 1)
      : logits(std::move(values)), store(std::make_shared<ParameterStore>(dnnl::engine(dnnl::engine::kind::cpu, 0))),
        tensor{0, {static_cast<std::int64_t>(logits.size()) / batch, 1, 1}},
        plan({.batch = batch, .tensors = 1, .input = {1, {}}, .uses = {1}, .label_smoothing = smoothing}, store),
        stream(plan.engine())
  {
    plan.set_data(tensor, dnnl::memory(plan.image_layout(tensor.shape), plan.engine(), logits.data()));
    loss.emplace(plan, tensor, weight);
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

TEST_CASE("softmax cross-entropy and its gradient agree with the reference, with smoothed labels and a weight of its own too")
{
  struct Row {
    std::int64_t classes;
    double smoothing, weight;
  };
  for (const auto& [classes, smoothing, weight] : {Row{2, 0, 1}, {7, 0, 1}, {100, 0, 1}, {7, 0.1, 0.3}, {7, 1, 0.3}}) {
    CAPTURE(classes, smoothing);
    const std::vector<std::int32_t> labels{0, 1, static_cast<std::int32_t>(classes - 1)};
    const auto logits = numbers(3 * classes, 9);
    LossBench bench(to_float(logits), 3, smoothing, weight);
    const auto expected = reference::softmax_cross_entropy(logits, labels, smoothing);
    CHECK(bench.mean_loss(labels) == Approx(weight * expected.mean).epsilon(1e-6));
    const auto gradient = bench.gradient();
    for (std::size_t i = 0; i < gradient.size(); ++i) CHECK(gradient[i] == Approx(weight * expected.gradient[i]).margin(1e-7));
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
