// Where branches part and meet: add, concat, and tensors that several layers read.
#include "tests/engine/nn/layers/layer_bench.hpp"
#include "tests/engine/nn/numbers.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;
using reference::Values;
using reference::Windows;

namespace {

// Sums of a few of these are exact in float.
Values coarse(std::int64_t size, std::uint64_t stream)
{
  auto values = numbers(size, stream);
  for (auto& value : values) value = std::round(value * 64);
  return values;
}

Values sum_of(Values a, const Values& b)
{
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// 3x3 about each pixel: as large as what it looks at.
Windows same(std::int64_t batch, const Shape& image)
{
  return {batch, image.channels, image.height, image.width, image.channels, 3, 1, 1};
}

Tensor same_pooling(ModelBuilder& b, Tensor x) { return b.max_pooling(x, {.kernel = 3, .stride = 1, .padding = 1}); }

const std::vector<Shape> images{{1, 3, 5}, {3, 7, 7}, {16, 5, 5}, {17, 2, 3}};

} // namespace

TEST_CASE("add is exact, and what is added twice gets the gradient twice")
{
  for (const auto& image : images) {
    const auto x = coarse(2 * image.size(), 1), c = coarse(2 * image.size(), 4);
    const auto out = run_layers(
        described(image, [](ModelBuilder& b) { return b.add(b.add(b.input(), b.relu(b.input())), b.input()); }), {2, x, {}, c});
    CHECK(out.output == sum_of(sum_of(x, x), reference::relu(x)));
    CHECK(out.input_gradient == sum_of(sum_of(c, c), reference::relu_gradient(x, c)));
  }
}

TEST_CASE("a ReLU behind a sum is exact forward and backward")
{
  for (const auto& image : images) {
    const auto x = coarse(2 * image.size(), 1), c = coarse(2 * image.size(), 4);
    const auto model = described(image, [](ModelBuilder& b) { return b.relu(b.add(b.input(), same_pooling(b, b.input()))); });
    const auto out = run_layers(model, {2, x, {}, c});
    const auto s = same(2, image);
    CHECK(out.output == reference::relu(sum_of(x, reference::max_pooling(s, x))));
    const auto d = reference::relu_gradient(out.output, c);
    CHECK(out.input_gradient == sum_of(d, reference::max_pooling_gradient(s, x, d)));
  }
}

TEST_CASE("concat puts channels behind one another and takes their gradients apart, whatever their number")
{
  for (const auto& image : images) {
    const auto x = coarse(2 * image.size(), 1), c = coarse(3 * 2 * image.size(), 4);
    const auto model = described(image, [](ModelBuilder& b) {
      return b.concat({b.input(), b.relu(b.input()), same_pooling(b, b.input())});
    });
    const auto out = run_layers(model, {2, x, {}, c});
    const auto s = same(2, image);
    CHECK(out.output == reference::concat(2, {x, reference::relu(x), reference::max_pooling(s, x)}));
    const auto parts = reference::concat_gradients(2, {image.size(), image.size(), image.size()}, c);
    CHECK(out.input_gradient ==
          sum_of(sum_of(parts[0], reference::relu_gradient(x, parts[1])), reference::max_pooling_gradient(s, x, parts[2])));
  }
}

TEST_CASE("convolutions side by side, of whole blocks of channels and of odd numbers, meet in a concat as the reference says")
{
  struct Case {
    std::int64_t in, first, second;
  };
  for (const auto& [in, first, second] : {Case{3, 5, 1}, Case{16, 16, 32}, Case{17, 24, 8}, Case{32, 8, 19}}) {
    INFO(in << " channels to " << first << " and " << second);
    const Windows a{2, in, 7, 5, first, 1, 1, 0}, b{2, in, 7, 5, second, 3, 1, 1};
    const auto x = numbers(a.inputs(), 1), wa = numbers(a.weights(), 2), wb = numbers(b.weights(), 3), ba = numbers(first, 5),
               bb = numbers(second, 6), c = numbers(a.outputs() + b.outputs(), 4);
    const auto model = described({in, 7, 5}, [&](ModelBuilder& builder) {
      const auto left = builder.relu(builder.convolution("a", builder.input(), {.channels = first, .kernel = 1}));
      const auto right = builder.convolution("b", builder.input(), {.channels = second, .kernel = 3, .padding = 1});
      return builder.concat({left, right});
    });
    const auto out = run_layers(model, {2, x, joined({wa, ba, wb, bb}), c});
    const auto output_of = [&](const Values& v, const Values& w1, const Values& b1, const Values& w2, const Values& b2) {
      return reference::concat(2, {reference::relu(reference::convolution(a, v, w1, b1)), reference::convolution(b, v, w2, b2)});
    };
    const auto sums = output_of(absolute(x), absolute(wa), absolute(ba), absolute(wb), absolute(bb));
    CHECK(count_outside_sums(out.output, output_of(x, wa, ba, wb, bb), sums, b.products()) == 0);

    const auto parts = reference::concat_gradients(2, {a.outputs() / 2, b.outputs() / 2}, c);
    const auto left_output = reference::concat_gradients(2, {a.outputs() / 2, b.outputs() / 2}, out.output)[0];
    const auto d = reference::relu_gradient(left_output, parts[0]);
    const auto gradients = [&](const Values& v, const Values& w1, const Values& d1, const Values& w2, const Values& d2) {
      const auto left = reference::convolution_gradients(a, v, w1, d1), right = reference::convolution_gradients(b, v, w2, d2);
      return std::pair{sum_of(left.input, right.input), joined({left.weights, left.bias, right.weights, right.bias})};
    };
    const auto expected = gradients(x, wa, d, wb, parts[1]);
    const auto bounds = gradients(absolute(x), absolute(wa), absolute(d), absolute(wb), absolute(parts[1]));
    CHECK(count_outside_sums(out.input_gradient, expected.first, bounds.first, first + 9 * second) == 0);
    CHECK(count_outside_sums(out.weight_gradients, expected.second, bounds.second, a.outputs() / first) == 0);
  }
}
