// Nesterov and Adam by hand and against the formulas in double; running statistics; Adam's count of steps.
#include "engine/optim/rules.hpp"
#include "tests/engine/optim/buffers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

using namespace dt;
using namespace dt::optim;
using namespace dt::optim::test;

namespace {

// One weight's life under a rule in double: a call is a step, and changes w.
using InDouble = std::function<void(double& w, double g)>;

// Twenty steps of the rule on 37 floats with a gradient that changes every step, beside the formula of each of them.
void check_against(const OptimizerSpec& spec, const std::function<InDouble()>& make_formula)
{
  const std::size_t size = 37;
  auto weights = wave(size, 1);
  const auto optimizer = make_optimizer(spec, 37, {{{0, 37}, true}});
  std::vector<InDouble> formulas;
  for (std::size_t i = 0; i < size; ++i) formulas.push_back(make_formula());
  std::vector<double> expected(weights.begin(), weights.end());
  for (int step = 0; step < 20; ++step) {
    const auto gradients = wave(size, 2 + step);
    optimizer->step(weights, gradients, 0.05);
    for (std::size_t i = 0; i < size; ++i) formulas[i](expected[i], static_cast<double>(gradients[i]));
  }
  for (std::size_t i = 0; i < size; ++i) CHECK(weights[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
}

std::vector<float> one_weight(const OptimizerSpec& spec, const std::vector<float>& gradients, double rate)
{
  std::vector<float> weight{1}, life;
  const auto optimizer = make_optimizer(spec, 1, {{{0, 1}, true}});
  for (const float gradient : gradients) {
    optimizer->step(weight, std::vector{gradient}, rate);
    life.push_back(weight[0]);
  }
  return life;
}

} // namespace

TEST_CASE("nesterov follows its formula in double over many steps")
{
  const auto spec = rule_of("nesterov");
  check_against(spec, [&] {
    return [&, v = 0.0](double& w, double g) mutable {
      const double d = g + spec.weight_decay * w;
      v = spec.momentum * v + d;
      w -= 0.05 * (d + spec.momentum * v);
    };
  });
}

TEST_CASE("adam's first steps by hand: a bias-corrected mean over a bias-corrected root")
{
  auto spec = rule_of("adam");
  spec.weight_decay = 0;
  spec.beta1 = 0.5;
  spec.beta2 = 0.75;
  spec.epsilon = 1;
  // g = 2: m = 1, s = 1; corrected 2 and 4; w = 1 - 0.3 * 2 / (2 + 1) = 0.8.
  // g = 0: m = 0.5, s = 0.75; corrected 0.5 / 0.75 and 0.75 / 0.4375; w = 0.8 - 0.3 * 0.6667 / (1.3093 + 1) = 0.713394.
  const auto life = one_weight(spec, {2, 0}, 0.3);
  CHECK(life[0] == Approx(0.8).epsilon(1e-6));
  CHECK(life[1] == Approx(0.713394).epsilon(1e-6));
}

TEST_CASE("adam follows its formula in double over many steps, with the decay in the gradient")
{
  const auto spec = rule_of("adam");
  check_against(spec, [&] {
    return [&, m = 0.0, s = 0.0, t = 0.0](double& w, double g) mutable {
      const double d = g + spec.weight_decay * w;
      m = spec.beta1 * m + (1 - spec.beta1) * d;
      s = spec.beta2 * s + (1 - spec.beta2) * d * d;
      ++t;
      w -= 0.05 * m / (1 - std::pow(spec.beta1, t)) / (std::sqrt(s / (1 - std::pow(spec.beta2, t))) + spec.epsilon);
    };
  });
}

TEST_CASE("adamw follows its formula in double over many steps, with the decay beside the gradient")
{
  auto spec = rule_of("adamw");
  spec.weight_decay = 0.3;
  check_against(spec, [&] {
    return [&, m = 0.0, s = 0.0, t = 0.0](double& w, double g) mutable {
      m = spec.beta1 * m + (1 - spec.beta1) * g;
      s = spec.beta2 * s + (1 - spec.beta2) * g * g;
      ++t;
      const double moved = m / (1 - std::pow(spec.beta1, t)) / (std::sqrt(s / (1 - std::pow(spec.beta2, t))) + spec.epsilon);
      w -= 0.05 * (moved + spec.weight_decay * w);
    };
  });
}

TEST_CASE("adamw without decay is adam, to the bit, and a segment without decay does not shrink")
{
  std::vector<std::vector<float>> lives;
  for (const auto* rule : {"adam", "adamw"})
    for (const double decay : {0.0, 0.5}) {
      auto spec = rule_of(rule);
      spec.weight_decay = decay;
      std::vector<float> weights = wave(37, 1);
      const auto optimizer = make_optimizer(spec, 37, {{{0, 37}, decay == 0}});
      for (int step = 0; step < 5; ++step) optimizer->step(weights, wave(37, 2 + step), 0.05);
      lives.push_back(weights);
    }
  for (const auto& life : lives) CHECK(life == lives[0]);
}

TEST_CASE("with its state and the weights copied, every rule goes on in the same bits")
{
  for (const auto& name : registered_optimizers()) {
    CAPTURE(name);
    const std::vector<Segment> segments{{{0, 20}, true, true}, {{20, 37}, false}};
    const auto one = make_optimizer(rule_of(name), 37, segments), other = make_optimizer(rule_of(name), 37, segments);
    auto weights = wave(37, 1);
    for (int step = 0; step < 3; ++step) one->step(weights, wave(37, step), 0.1);
    auto copy = weights;
    const auto from = one->state(), to = other->state();
    REQUIRE(from.size() == to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      CHECK(from[i].values.size() == (from[i].per_segment ? 2 : 37));
      std::ranges::copy(from[i].values, to[i].values.begin());
    }
    for (int step = 3; step < 6; ++step) {
      one->step(weights, wave(37, step), 0.1);
      other->step(copy, wave(37, step), 0.1);
      CHECK(copy == weights);
    }
  }
}

TEST_CASE("a step in parts counts as one step for adam")
{
  const std::vector<Segment> segments{{{0, 16}, true}, {{16, 37}, false}};
  auto whole = wave(37, 1), parts = whole;
  const auto one = make_optimizer(rule_of("adam"), 37, segments), other = make_optimizer(rule_of("adam"), 37, segments);
  for (int step = 0; step < 3; ++step) {
    one->step(whole, wave(37, step), 0.1);
    other->step(parts, wave(37, step), 0.1, {{16, 37}});
    other->step(parts, wave(37, step), 0.1, {{0, 16}});
    CHECK(parts == whole);
  }
}

TEST_CASE("under every rule a statistic follows its value at a tenth a step, without learning rate, decay or momentum")
{
  for (const auto& name : registered_optimizers()) {
    CAPTURE(name);
    auto spec = rule_of(name);
    spec.weight_decay = 0.5;
    std::vector<float> weights{1, 1, 10, 0};
    const auto optimizer = make_optimizer(spec, 4, {{{0, 2}, true, true}, {{2, 4}, true, true, true}});
    // The factor is that of the gradients: a sum over four ranks of a loss scaled by 2.
    for (const float expected : {9.1F, 8.29F}) {
      optimizer->step(weights, std::vector<float>{0, 0, 8, 0}, 123, {{0, 4}, 0.125F});
      CHECK(weights[2] == Approx(expected));
      CHECK(weights[3] == 0);
    }
  }
}

TEST_CASE("adam's padding stays zero and finite with the smallest epsilon")
{
  auto spec = rule_of("adam");
  spec.epsilon = 1e-30;
  std::vector<float> weights(3, 0.0F);
  const auto optimizer = make_optimizer(spec, 3, {{{0, 3}, true}});
  for (int step = 0; step < 3; ++step) optimizer->step(weights, std::vector<float>(3, 0.0F), 0.1);
  CHECK(weights == std::vector<float>(3, 0.0F));
}
