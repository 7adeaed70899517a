// A step made of slices, as the ranks of a node make it, leaves the bits of a whole step.
#include "tests/engine/optim/buffers.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::optim;
using namespace dt::optim::test;

namespace {

constexpr std::size_t size = 1000;
// Of every kind, with padding between them, and one without floats.
const std::vector<Segment> segments{
    {{0, 333}, true, true}, {{336, 336}, true}, {{336, 401}, false}, {{416, 448}, false, false, true}, {{448, 999}, true, true}};

using Buffers = std::vector<std::vector<float>>;

Buffers buffers_of(const std::vector<float>& weights, Optimizer& optimizer)
{
  Buffers all{weights};
  for (const auto& state : optimizer.state()) all.emplace_back(state.values.begin(), state.values.end());
  return all;
}

Buffers after_whole_steps(const OptimizerSpec& spec, Velocity velocity)
{
  auto weights = wave(size, 1);
  const auto optimizer = make_optimizer(spec, size, segments, velocity);
  for (int step = 0; step < 3; ++step) optimizer->step(weights, wave(size, 2 + step), 0.1 / (step + 1), {{0, size}, 0.25F});
  return buffers_of(weights, *optimizer);
}

Buffers after_slices(const OptimizerSpec& spec, Velocity velocity, const std::vector<std::size_t>& cuts)
{
  auto weights = wave(size, 1);
  const auto optimizer = make_optimizer(spec, size, segments, velocity);
  for (int step = 0; step < 3; ++step) {
    const auto gradients = wave(size, 2 + step);
    optimizer->elementwise()->begin_slices();
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c)
      optimizer->elementwise()->step_slice(weights, cuts[c], std::span(gradients).subspan(cuts[c], cuts[c + 1] - cuts[c]),
                                           0.1 / (step + 1), 0.25F);
  }
  return buffers_of(weights, *optimizer);
}

} // namespace

TEST_CASE("a step in slices with any bounds leaves the bits of a whole step, for every rule that is elementwise")
{
  for (const auto& name : registered_optimizers())
    for (const auto velocity : {Velocity::of_gradients, Velocity::of_steps}) {
      const auto spec = rule_of(name);
      if (make_optimizer(spec, size, segments, velocity)->elementwise() == nullptr) continue;
      CAPTURE(name);
      const auto whole = after_whole_steps(spec, velocity);
      CHECK((after_slices(spec, velocity, {0, size}) == whole));
      CHECK((after_slices(spec, velocity, {0, 1, 17, 334, 335, 400, 430, 448, 640, 999, size}) == whole));
    }
}

TEST_CASE("a rule with norms, or one that clips, is not elementwise")
{
  for (const auto& name : registered_optimizers()) {
    CAPTURE(name);
    auto spec = rule_of(name);
    CHECK((make_optimizer(spec, size, segments)->elementwise() != nullptr) == (name != "lars"));
    spec.clip_norm = 1;
    CHECK(make_optimizer(spec, size, segments)->elementwise() == nullptr);
  }
}

TEST_CASE("a rule goes on in memory of the caller, and refuses memory that does not fit")
{
  for (const auto& name : registered_optimizers()) {
    CAPTURE(name);
    const auto whole = after_whole_steps(rule_of(name), Velocity::of_gradients);
    const auto optimizer = make_optimizer(rule_of(name), size, segments);
    auto* rule = optimizer->elementwise();
    if (rule == nullptr) continue;
    std::size_t count = 0;
    for (const auto& state : optimizer->state()) count += state.per_segment ? 0 : 1;
    Buffers memory(count, std::vector<float>(size));
    std::vector<std::span<float>> spans(memory.begin(), memory.end());
    rule->keep_buffers_in(spans);
    auto weights = wave(size, 1);
    for (int step = 0; step < 3; ++step) optimizer->step(weights, wave(size, 2 + step), 0.1 / (step + 1), {{0, size}, 0.25F});
    CHECK((buffers_of(weights, *optimizer) == whole));
    for (std::size_t b = 0; b < count; ++b) CHECK((memory[b] == whole[1 + b]));
    spans.emplace_back(weights);
    CHECK_THROWS_WITH(rule->keep_buffers_in(spans), Catch::Contains("other memory"));
  }
}
