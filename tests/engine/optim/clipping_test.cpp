// Gradients clipped by the length of all of them together.
#include "engine/optim/passes.hpp"
#include "tests/engine/optim/buffers.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace dt;
using namespace dt::optim;
using namespace dt::optim::test;

namespace {

OptimizerSpec clipping(double norm)
{
  auto spec = rule_of("sgd");
  spec.weight_decay = 0;
  spec.clip_norm = norm;
  return spec;
}

std::vector<float> step_of(const OptimizerSpec& spec, const std::vector<float>& gradients, float factor = 1)
{
  std::vector<float> weights(4, 0.0F);
  make_optimizer(spec, 4, {{{0, 2}, true}, {{2, 4}, true}})->step(weights, gradients, 1, {{0, 4}, factor});
  return weights;
}

} // namespace

TEST_CASE("gradients longer than clip_norm over all tensors are shortened to it")
{
  CHECK(step_of(clipping(1), {3, 0, 0, 4}) == std::vector<float>{-0.6F, 0, 0, -0.8F});
  CHECK(step_of(clipping(10), {3, 0, 0, 4}) == std::vector<float>{-3, 0, 0, -4});
  CHECK(step_of(clipping(5), {3, 0, 0, 4}) == std::vector<float>{-3, 0, 0, -4});
}

TEST_CASE("what is clipped is the mean over ranks, not their sum")
{
  CHECK(step_of(clipping(5), {6, 0, 0, 8}, 0.5F) == std::vector<float>{-3, 0, 0, -4});
  CHECK(step_of(clipping(1), {6, 0, 0, 8}, 0.5F) == std::vector<float>{-0.6F, 0, 0, -0.8F});
}

TEST_CASE("clip_norm 0 clips nothing") { CHECK(step_of(clipping(0), {3e9F, 0, 0, 0}) == std::vector<float>{-3e9F, 0, 0, 0}); }

TEST_CASE("statistics are neither part of the length nor clipped")
{
  std::vector<float> weights{0, 0, 0, 0};
  const auto optimizer = make_optimizer(clipping(1), 4, {{{0, 2}, true}, {{2, 4}, false, false, true}});
  optimizer->step(weights, std::vector<float>{3, 4, 100, 200}, 1);
  CHECK(weights[0] == Approx(-0.6));
  CHECK(weights[1] == Approx(-0.8));
  CHECK(weights[2] == Approx(10));
  CHECK(weights[3] == Approx(20));
}

TEST_CASE("every rule clips before it does anything else")
{
  for (const auto& name : registered_optimizers()) {
    CAPTURE(name);
    auto clipped_rule = rule_of(name), plain_rule = rule_of(name);
    clipped_rule.clip_norm = 0.5;
    auto clipped = wave(100, 1), plain = clipped;
    const auto one = make_optimizer(clipped_rule, 100, {{{0, 100}, true, true}}),
               other = make_optimizer(plain_rule, 100, {{{0, 100}, true, true}});
    for (int step = 0; step < 3; ++step) {
      auto gradients = wave(100, step);
      one->step(clipped, gradients, 0.1);
      const auto factor = static_cast<float>(0.5 / std::sqrt(sum_of_squares(gradients.data(), 100)));
      REQUIRE(factor < 1);
      for (auto& gradient : gradients) gradient *= factor;
      other->step(plain, gradients, 0.1);
    }
    for (std::size_t i = 0; i < 100; ++i) CHECK(clipped[i] == Approx(plain[i]).epsilon(1e-5).margin(1e-7));
  }
}

TEST_CASE("a step of a part of the tensors cannot be clipped")
{
  std::vector<float> weights(4, 0.0F);
  const auto optimizer = make_optimizer(clipping(1), 4, {{{0, 2}, true}, {{2, 4}, true}});
  const auto part_of = [&] { optimizer->step(weights, weights, 1, {{0, 2}}); };
  CHECK_THROWS_WITH(part_of(), "Gradients are clipped by the length of all of them, but a step is of floats 0 to 2 of 4.");
}

TEST_CASE("a sum of squares is right at every length around a block")
{
  for (const std::size_t size : {0, 1, 31, 32, 33, 32 * 1024 - 1, 32 * 1024 + 1, 200'003}) {
    const auto values = wave(size, 3);
    double expected = 0;
    for (const double value : values) expected += value * value;
    CAPTURE(size);
    CHECK(sum_of_squares(values.data(), size) == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("one number that is not finite is found wherever it is")
{
  auto values = wave(200'003, 1);
  const auto size = values.size();
  CHECK(all_finite(values.data(), size));
  CHECK(all_finite(values.data(), 0));
  values[7] = std::numeric_limits<float>::max();
  CHECK(all_finite(values.data(), size));
  for (const std::size_t at : {0UL, 31UL, 99'999UL, values.size() - 1})
    for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
      const auto good = std::exchange(values[at], bad);
      CHECK_FALSE(all_finite(values.data(), size));
      values[at] = good;
    }
}
