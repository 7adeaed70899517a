// How many steps, and when to evaluate.
#include "engine/train/step/plan.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace dt;
using namespace dt::train;

namespace {

dt::RunSpec spec_of(std::int64_t ranks, std::int64_t global_batch)
{
  dt::RunSpec spec;
  spec.resources.ranks_per_node = ranks;
  spec.train.global_batch = global_batch;
  spec.train.warmup_steps = 0;
  return spec;
}

std::vector<std::int64_t> evaluated_steps(const TrainingPlan& plan)
{
  std::vector<std::int64_t> steps;
  for (std::int64_t s = 1; s <= plan.steps; ++s)
    if (plan.evaluates_after(s)) steps.push_back(s);
  return steps;
}

} // namespace

TEST_CASE("epochs are rounded up to whole steps")
{
  auto spec = spec_of(2, 100);
  spec.train.epochs = 2;
  CHECK(make_plan(spec, 1000).steps == 20);
  CHECK(make_plan(spec, 1001).steps == 21);
  spec.train.epochs = 0.1; // 0.1 x 10 steps is a little more than 1 in doubles
  CHECK(make_plan(spec, 1000).steps == 1);
  spec.train.epochs = 0.7;
  CHECK(make_plan(spec, 1000).steps == 7);
}

TEST_CASE("a batch a rank makes the global batch of all ranks, and the other way round")
{
  auto spec = spec_of(4, 0);
  spec.train.batch_per_rank = 16;
  spec.train.steps = 8;
  CHECK(make_plan(spec, 640).global_batch == 64);
  CHECK(make_plan(spec, 640).epochs == Approx(0.8));
  spec = spec_of(4, 64);
  spec.train.steps = 8;
  CHECK(make_plan(spec, 640).batch_per_rank == 16);
}

TEST_CASE("the model is evaluated when an epoch is complete, and at the end")
{
  auto spec = spec_of(1, 100);
  spec.train.steps = 8;
  CHECK(evaluated_steps(make_plan(spec, 300)) == std::vector<std::int64_t>{3, 6, 8});
  CHECK(evaluated_steps(make_plan(spec, 250)) == std::vector<std::int64_t>{3, 5, 8});
  spec.train.eval_every_epochs = 0;
  CHECK(evaluated_steps(make_plan(spec, 300)) == std::vector<std::int64_t>{8});
  spec.train.eval_every_epochs = 0.1; // more often than there are steps
  CHECK(evaluated_steps(make_plan(spec, 300)).size() == 8);
}

TEST_CASE("a plan that cannot be is refused with the numbers that do not fit")
{
  struct Row {
    std::int64_t ranks, batch, accumulation, steps, warmup_steps;
    const char* why;
  };
  for (const auto& [ranks, batch, accumulation, steps, warmup_steps, why] :
       {Row{3, 64, 1, 1, 0,
            "train.global_batch of 64 does not divide among 3 workers; choose a multiple of 3, or give train.batch_per_rank."},
        Row{1, 12, 5, 1, 0, "train.accumulation of 5 does not divide the 12 samples of a rank's batch."},
        Row{1, 10, 1, 5, 5, "train.warmup_steps of 5 leaves none of the 5 steps to measure; lower it or train longer."},
        Row{1, 10, 1, 0, 0, "The run has no steps; give train.epochs or train.steps."}}) {
    auto spec = spec_of(ranks, batch);
    spec.train.accumulation = accumulation;
    spec.train.steps = steps;
    spec.train.warmup_steps = warmup_steps;
    CHECK_THROWS_WITH(make_plan(spec, 100), why);
  }
}
