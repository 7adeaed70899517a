#include "engine/optim/rules.hpp"

#include "core/spec/names.hpp"
#include "core/spec/optimizer_table.hpp"
#include "tests/engine/refusal.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::optim;

namespace {

OptimizerSpec spec_of(const std::string& rule, double weight_decay = 0, double momentum = 0.9)
{
  return {.name = rule, .momentum = momentum, .weight_decay = weight_decay};
}

// Powers of two, so that every result below is exact in float.
const std::vector<float> start{1, 2, -4, 8};
const std::vector<float> gradient{0.5, -1, 2, 0};

std::vector<float> after_steps(const OptimizerSpec& spec, const std::vector<Segment>& segments, int steps, double rate = 0.25)
{
  auto weights = start;
  const auto optimizer = make_optimizer(spec, 4, segments);
  for (int step = 0; step < steps; ++step) optimizer->step(weights, gradient, rate);
  return weights;
}

const std::vector<Segment> whole{{{0, 4}, true}};

} // namespace

TEST_CASE("the registry's update rules are exactly those of the vocabulary")
{
  CHECK(registered_optimizers() == strings_of(optimizer_names()));
}

TEST_CASE("each optimizer keeps as many buffers as its row in core's table says")
{
  constexpr std::size_t size = 4;
  for (const auto& row : optimizer_rows()) {
    INFO(row.name.name);
    for (const auto velocity : {Velocity::of_gradients, Velocity::of_steps}) {
      const auto optimizer = make_optimizer(spec_of(std::string(row.name.name)), size, whole, velocity);
      std::int64_t buffers = 0;
      for (const auto& state : optimizer->state()) buffers += state.per_segment ? 0 : 1;
      CHECK(buffers == row.buffers);
    }
  }
}

TEST_CASE("sgd is w - lr (g + wd w)")
{
  CHECK(after_steps(spec_of("sgd"), whole, 1) == std::vector<float>{0.875, 2.25, -4.5, 8});
  CHECK(after_steps(spec_of("sgd", 0.5), whole, 1) == std::vector<float>{0.75, 2, -4, 7});
}

TEST_CASE("momentum is v = mu v + (g + wd w), w - lr v")
{
  // Second element, mu 1/2: v = -1, w = 2.25; v = -1.5, w = 2.625.
  CHECK(after_steps(spec_of("momentum", 0, 0.5), whole, 2) == std::vector<float>{0.6875, 2.625, -5.25, 8});
  // Last element, wd 1/2, g = 0: v = 4, w = 7; v = 2 + 3.5, w = 7 - 1.375.
  CHECK(after_steps(spec_of("momentum", 0.5, 0.5), whole, 2)[3] == 5.625F);
}

// The weight after each of three steps from 1: gradients 2, 4 and 0 at rates 1/2, 1/4 and 1.
std::vector<float> path_of(const std::string& rule, Velocity velocity)
{
  std::vector<float> weight{1}, path;
  const auto optimizer = make_optimizer(spec_of(rule, 0, 0.5), 1, {{{0, 1}, true}}, velocity);
  for (const auto& [gradient, rate] : {std::pair{2.0F, 0.5}, {4.0F, 0.25}, {0.0F, 1.0}}) {
    optimizer->step(weight, std::vector{gradient}, rate);
    path.push_back(weight[0]);
  }
  return path;
}

TEST_CASE("a new learning rate acts on all of a velocity of gradients, and on the new gradient alone in a velocity of steps")
{
  // v = 2, 5, 2.5: w - lr v
  CHECK(path_of("momentum", Velocity::of_gradients) == std::vector<float>{0, -1.25, -3.75});
  // v = mu v - lr g = -1, -1.5, -0.75: w + v
  CHECK(path_of("momentum", Velocity::of_steps) == std::vector<float>{0, -1.5, -2.25});
  // v = 2, 5, 2.5: w - lr (g + v / 2)
  CHECK(path_of("nesterov", Velocity::of_gradients) == std::vector<float>{-0.5, -2.125, -3.375});
  // v = -1, -1.5, -0.75: w + v / 2 - lr g
  CHECK(path_of("nesterov", Velocity::of_steps) == std::vector<float>{-0.5, -2.25, -2.625});
}

TEST_CASE("with a constant learning rate both velocities give the same weights, decay included")
{
  for (const auto* rule : {"momentum", "nesterov", "lars"}) {
    auto weights = start;
    const auto optimizer = make_optimizer(spec_of(rule, 0.5, 0.5), 4, whole, Velocity::of_steps);
    for (int step = 0; step < 3; ++step) optimizer->step(weights, gradient, 0.25);
    CHECK(weights == after_steps(spec_of(rule, 0.5, 0.5), whole, 3));
  }
}

TEST_CASE("servers and workers with a momentum of their own have a velocity of steps, as their paper")
{
  CHECK(velocity_of("async-msgd") == Velocity::of_steps);
  CHECK(velocity_of("async-measgd") == Velocity::of_steps);
  CHECK(velocity_of("sync-sgd") == Velocity::of_gradients);
}

TEST_CASE("a segment without decay is exempt from it, and what lies in no segment stays")
{
  for (const auto* rule : {"sgd", "momentum", "lars"}) {
    const auto weights = after_steps(spec_of(rule, 0.5), {{{0, 1}, true}, {{1, 2}, false}}, 1);
    CHECK(weights == std::vector<float>{0.75, 2.25, -4, 8});
  }
}

TEST_CASE("zero padding stays zero under every rule")
{
  for (const auto& rule : registered_optimizers()) {
    std::vector<float> weights(37, 0.0F);
    const auto optimizer = make_optimizer(spec_of(rule, 0.1), 37, {{{0, 37}, true}});
    for (int step = 0; step < 3; ++step) optimizer->step(weights, std::vector<float>(37, 0.0F), 0.1);
    CHECK(weights == std::vector<float>(37, 0.0F));
  }
}

TEST_CASE("the LARS factor is trust |w| / (|g| + wd |w|), and 1 where a norm is zero")
{
  CHECK(lars_factor(1e-3, 1.234, 5.678, 1e-4) == Approx(2.17325e-4).epsilon(1e-5));
  CHECK(lars_factor(1e-3, 0, 5.678, 1e-4) == 1);
  CHECK(lars_factor(1e-3, 1.234, 0, 1e-4) == 1);
}

TEST_CASE("LARS scales the learning rate of each tensor by its own norms, decay included")
{
  auto spec = spec_of("lars", 0.5);
  spec.trust = 0.25;
  // Tensors (3, 4) and (0, 8): |w| = 5, 8; |g| = 10, 2; factors 0.25 * 5 / 12.5 = 0.1 and 0.25 * 8 / 6 = 1/3.
  std::vector<float> weights{3, 4, 0, 8};
  const std::vector<float> gradients{6, 8, 2, 0};
  const auto optimizer = make_optimizer(spec, 4, {{{0, 2}, true, true}, {{2, 4}, true, true}});
  optimizer->step(weights, gradients, 2);
  CHECK(weights[0] == Approx(3 - 0.2 * 7.5));
  CHECK(weights[1] == Approx(4 - 0.2 * 10));
  CHECK(weights[2] == Approx(-2.0 / 3 * 2));
  CHECK(weights[3] == Approx(8 - 2.0 / 3 * 4));
}

TEST_CASE("LARS whose factor is pinned to 1 is momentum SGD")
{
  // Gradients as long as the weights, without decay: trust |w| / |g| is 1 at every step.
  auto spec = spec_of("lars", 0, 0.5);
  spec.trust = 1;
  const auto lars = make_optimizer(spec, 2, {{{0, 2}, true, true}});
  const auto momentum = make_optimizer(spec_of("momentum", 0, 0.5), 2, {{{0, 2}, true}});
  std::vector<float> weights{3, -5}, expected = weights;
  for (int step = 0; step < 5; ++step) {
    const std::vector<float> turned{weights[1], -weights[0]};
    lars->step(weights, turned, 0.25);
    momentum->step(expected, turned, 0.25);
    CHECK(weights == expected);
  }
}

TEST_CASE("under LARS what has no rate of its own follows plain momentum, whether it decays or not")
{
  for (const bool decays : {false, true})
    CHECK(after_steps(spec_of("lars", 0.5, 0.5), {{{0, 4}, decays}}, 3) ==
          after_steps(spec_of("momentum", 0.5, 0.5), {{{0, 4}, decays}}, 3));
}

TEST_CASE("LARS sees the same norms whatever the padding, and the same update whatever the stretches")
{
  auto spec = spec_of("lars", 0.01);
  spec.trust = 0.5;
  std::vector<float> plain(37), gradients(37);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = 1.0F / static_cast<float>(i + 1), gradients[i] = plain[i] - 0.1F;
  auto padded = plain, padded_gradients = gradients;
  padded.resize(48), padded_gradients.resize(48);
  make_optimizer(spec, 37, {{{0, 37}, true, true}})->step(plain, gradients, 0.1);
  make_optimizer(spec, 48, {{{0, 48}, true, true}})->step(padded, padded_gradients, 0.1);
  for (std::size_t i = 0; i < padded.size(); ++i) CHECK(padded[i] == Approx(i < 37 ? plain[i] : 0));

  const std::vector<Segment> tensors{{{0, 16}, true, true}, {{16, 37}, false}};
  std::vector<float> whole(gradients), parts(gradients);
  make_optimizer(spec, 37, tensors)->step(whole, gradients, 0.1);
  const auto in_parts = make_optimizer(spec, 37, tensors);
  in_parts->step(parts, gradients, 0.1, {{16, 37}});
  in_parts->step(parts, gradients, 0.1, {{0, 16}});
  CHECK(whole == parts);
}

TEST_CASE("an unknown rule and a segment outside the buffer are refused")
{
  CHECK(dt::test::refusal(ErrorKind::recipe, [] { make_optimizer(spec_of("adan"), 4, whole); }) ==
        "there is no optimizer `adan`; did you mean `adam`? Allowed: sgd, momentum, nesterov, adam, adamw, lars");
  CHECK(dt::test::refusal(ErrorKind::internal, [] {
          make_optimizer(spec_of("sgd"), 4, {{{2, 5}, true}});
        }) == "An optimizer over 4 floats was given a segment of 3 floats at 2.");
}

TEST_CASE("a factor on the gradients is as if they had been multiplied before")
{
  for (const auto& name : registered_optimizers()) {
    OptimizerSpec spec{.name = name, .weight_decay = 0.01};
    const std::vector<float> gradients{4, -8, 0.5F}, quarter{1, -2, 0.125F};
    std::vector<float> scaled{1, 2, 3}, given = scaled;
    const auto one = make_optimizer(spec, 3, {{{0, 3}, true}}), other = make_optimizer(spec, 3, {{{0, 3}, true}});
    for (int step = 0; step < 2; ++step) {
      one->step(scaled, gradients, 0.1, {{0, 3}, 0.25F});
      other->step(given, quarter, 0.1);
    }
    CAPTURE(name);
    for (std::size_t i = 0; i < 3; ++i) CHECK(scaled[i] == Approx(given[i]).epsilon(1e-6));
    CHECK(scaled[0] != 1);
  }
}
