// The convolution that dtbench compares the engine's layers with, against loops in double precision.
#include "engine/bench/compute/lowered_convolution.hpp"
#include "tests/engine/nn/reference.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace dt::bench;
namespace reference = dt::nn::reference;

namespace {

using Floats = std::vector<float>;

Floats numbers(std::int64_t count, int seed)
{
  Floats found;
  for (std::int64_t i = 0; i < count; ++i) found.push_back(0.1F * static_cast<float>((i * 37 + seed) % 23 - 11));
  return found;
}

reference::Values exact(const Floats& numbers) { return {numbers.begin(), numbers.end()}; }

double largest_difference(const Floats& found, const reference::Values& expected)
{
  REQUIRE(found.size() == expected.size());
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) most = std::max(most, std::abs(found[i] - expected[i]));
  return most;
}

struct Example {
  std::string name;
  dt::model::Shape input;
  dt::model::ConvolutionSpec spec;
};

const std::vector<Example> examples{
    {"3 x 3 with padding", {3, 9, 7}, {.channels = 5, .kernel = 3, .padding = 1}},
    {"11 x 11 with stride 4, as AlexNet's first", {3, 27, 31}, {.channels = 4, .kernel = 11, .stride = 4, .padding = 2}},
    {"two groups", {4, 8, 8}, {.channels = 6, .kernel = 5, .padding = 2, .groups = 2}},
    {"1 x 1 without bias, as ResNet's", {6, 5, 5}, {.channels = 3, .kernel = 1, .bias = false}},
    {"1 x 1 with stride 2", {4, 7, 7}, {.channels = 3, .kernel = 1, .stride = 2, .bias = false}},
    {"a kernel wider than the image without its padding", {2, 3, 3}, {.channels = 2, .kernel = 5, .padding = 2}},
};

} // namespace

TEST_CASE("a convolution as products of matrices has the outputs and gradients of plain loops, in both arrangements")
{
  const auto blas = Blas::load();
  INFO("apt-get install libopenblas0-pthread");
  REQUIRE(blas);
  for (const auto& [name, input, spec] : examples)
    for (const auto arrangement : {Arrangement::image_after_image, Arrangement::images_over_threads})
      for (const int threads : {1, 2}) {
        CAPTURE(name, static_cast<int>(arrangement), threads);
        const reference::Windows windows{.batch = 3,
                                         .in_channels = input.channels,
                                         .height = input.height,
                                         .width = input.width,
                                         .out_channels = spec.channels,
                                         .kernel = spec.kernel,
                                         .stride = spec.stride,
                                         .padding = spec.padding,
                                         .groups = spec.groups};
        const dt::model::Shape output{spec.channels, windows.out_height(), windows.out_width()};
        LoweredConvolution convolution(*blas, {input, output, spec, windows.batch, threads}, arrangement);
        const auto x = numbers(windows.inputs(), 1), weights = numbers(windows.weights(), 2), dy = numbers(windows.outputs(), 3);
        const auto bias = spec.bias ? numbers(spec.channels, 4) : Floats(static_cast<std::size_t>(spec.channels), 0.0F);

        auto y = numbers(windows.outputs(), 5), dx = numbers(windows.inputs(), 6), dw = numbers(windows.weights(), 7);
        auto db = numbers(spec.channels, 8);
        convolution.forward(x.data(), weights.data(), spec.bias ? bias.data() : nullptr, y.data());
        CHECK(largest_difference(y, reference::convolution(windows, exact(x), exact(weights), exact(bias))) < 1e-4);
        const auto gradients = reference::convolution_gradients(windows, exact(x), exact(weights), exact(dy));
        convolution.backward_weights(x.data(), dy.data(), dw.data(), spec.bias ? db.data() : nullptr);
        CHECK(largest_difference(dw, gradients.weights) < 1e-4);
        CHECK(largest_difference(db, spec.bias ? gradients.bias : exact(numbers(spec.channels, 8))) < 1e-4);
        convolution.backward_data(dy.data(), weights.data(), dx.data());
        CHECK(largest_difference(dx, gradients.input) < 1e-4);
      }
}
