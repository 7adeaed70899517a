#include "engine/optim/optimizer.hpp"

#include "core/error.hpp"
#include "core/names.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::engine;

namespace {

OptimizerSpec spec_of(const std::string& rule, double weight_decay = 0, double momentum = 0.9)
{
  OptimizerSpec spec;
  spec.name = rule;
  spec.weight_decay = weight_decay;
  spec.momentum = momentum;
  return spec;
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

const std::vector<Segment> whole{{0, 4, true}};

std::string message_of(const OptimizerSpec& spec, const std::vector<Segment>& segments, ErrorKind kind)
{
  try {
    make_optimizer(spec, 4, segments);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("the registry's update rules are exactly those of the vocabulary")
{
  CHECK(registered_optimizers() == strings_of(optimizer_names()));
}

TEST_CASE("sgd is w - lr (g + wd w)")
{
  CHECK(after_steps(spec_of("sgd"), whole, 1) == std::vector<float>{0.875, 2.25, -4.5, 8});
  CHECK(after_steps(spec_of("sgd", 0.5), whole, 1) == std::vector<float>{0.75, 2, -4, 7});
}

TEST_CASE("momentum starts from a zero velocity: its first step is that of sgd")
{
  for (const double decay : {0.0, 0.5})
    CHECK(after_steps(spec_of("momentum", decay), whole, 1) == after_steps(spec_of("sgd", decay), whole, 1));
}

TEST_CASE("momentum is v = mu v + (g + wd w), w - lr v")
{
  // Second element, mu 1/2: v = -1, w = 2.25; v = -1.5, w = 2.625.
  CHECK(after_steps(spec_of("momentum", 0, 0.5), whole, 2) == std::vector<float>{0.6875, 2.625, -5.25, 8});
  // Last element, wd 1/2, g = 0: v = 4, w = 7; v = 2 + 3.5, w = 7 - 1.375.
  CHECK(after_steps(spec_of("momentum", 0.5, 0.5), whole, 2)[3] == 5.625F);
}

TEST_CASE("the learning rate scales the step, not the velocity")
{
  auto weights = start;
  const auto optimizer = make_optimizer(spec_of("momentum", 0, 0.5), 4, whole);
  optimizer->step(weights, gradient, 0);
  CHECK(weights == start);
  optimizer->step(weights, gradient, 1);
  CHECK(weights[0] == 1 - 0.75F); // v = 0.5, then 0.75
}

TEST_CASE("momentum without momentum is sgd")
{
  CHECK(after_steps(spec_of("momentum", 0.5, 0), whole, 3) == after_steps(spec_of("sgd", 0.5), whole, 3));
}

TEST_CASE("a segment without decay is exempt from it, and what lies in no segment stays")
{
  for (const auto* rule : {"sgd", "momentum"}) {
    const auto weights = after_steps(spec_of(rule, 0.5), {{0, 1, true}, {1, 1, false}}, 1);
    CHECK(weights == std::vector<float>{0.75, 2.25, -4, 8});
  }
}

TEST_CASE("zero padding stays zero under every rule")
{
  for (const auto& rule : registered_optimizers()) {
    std::vector<float> weights(37, 0.0F);
    const auto optimizer = make_optimizer(spec_of(rule, 0.1), 37, {{0, 37, true}});
    for (int step = 0; step < 3; ++step) optimizer->step(weights, std::vector<float>(37, 0.0F), 0.1);
    CHECK(weights == std::vector<float>(37, 0.0F));
  }
}

TEST_CASE("an unknown rule and a segment outside the buffer are refused")
{
  CHECK(message_of(spec_of("adam"), whole, ErrorKind::recipe) ==
        "There is no optimizer 'adam'. Known optimizers: sgd, momentum.");
  CHECK(message_of(spec_of("sgd"), {{2, 3, true}}, ErrorKind::internal) ==
        "An optimizer over 4 floats was given a segment of 3 floats at 2.");
}
