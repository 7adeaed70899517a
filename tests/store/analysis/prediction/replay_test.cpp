#include "core/maths/allreduce_cost.hpp"
#include "store/analysis/prediction/step_replay.hpp"

#include <numeric>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

constexpr CostModel link{.alpha_s = 1e-4, .beta_s = 1e-8};

SynchronousStep step_of(int workers, std::vector<Bucket> buckets, StepSpread spread = {})
{
  return {.workers = workers,
          .input_s = 1e-3,
          .compute_s = 0.1,
          .update_s = 5e-3,
          .spread = spread,
          .buckets = std::move(buckets),
          .terms = cost_terms("ring", {.ranks = workers, .nodes = workers}),
          .link = link};
}

constexpr StepSpread uneven{.p50 = 0.98, .p95 = 1.1, .p99 = 1.3, .max = 2, .steps = 200, .of_workers = 0.05};

double mean(const std::vector<double>& values)
{
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

TEST_CASE(
    "the factors of steps have a mean of one and the quantiles that they were made from, and end at the largest measured one")
{
  const auto factors = step_factors(uneven, 256);
  CHECK(mean(factors) == Approx(1).epsilon(1e-12));
  CHECK(std::is_sorted(factors.begin(), factors.end()));
  CHECK(factors.back() / factors[127] == Approx(uneven.max / uneven.p50).epsilon(0.02));
  CHECK(step_factors({}, 10) == std::vector<double>(10, 1.0));
  const auto many = step_factors(uneven, 1000);
  const double at_median = many[500];
  CHECK(many[950] / at_median == Approx(uneven.p95 / uneven.p50).epsilon(0.01));
  CHECK(many[989] / at_median == Approx(uneven.p99 / uneven.p50).epsilon(0.01));
}

TEST_CASE("the factors of workers have a mean of one and the given deviation")
{
  const auto factors = worker_factors(uneven, 1000);
  CHECK(mean(factors) == Approx(1).epsilon(1e-12));
  double squares = 0;
  for (const double factor : factors) squares += (factor - 1) * (factor - 1);
  CHECK(std::sqrt(squares / 1000) == Approx(0.05).epsilon(0.02));
}

TEST_CASE("one worker has no communication and no stragglers, and equal steps are replayed to equal bits")
{
  const auto replayed = replay(step_of(1, {{4e6, 1}}, uneven));
  CHECK(replayed.communication_s == 0);
  CHECK(replayed.straggler_s == Approx(0).margin(1e-9));
  CHECK(replayed.step_s == Approx(0.106));
  const auto step = step_of(16, {{4e6, 1}}, uneven);
  CHECK(replay(step).step_s == replay(step).step_s);
}

TEST_CASE("without jitter a step is computation, one sum and the update, as computed by hand, and an exchange every four steps "
          "costs a quarter")
{
  // ring of 4: 6 messages, 1.5 vectors over the link; 6e-4 + 4e6 * 1.5 * 1e-8 = 0.0606
  const auto replayed = replay(step_of(4, {{4e6, 1}}));
  CHECK(replayed.step_s == Approx(0.001 + 0.1 + 0.0606 + 0.005));
  CHECK(replayed.communication_s == Approx(0.0606));
  CHECK(isolated_s(step_of(4, {{4e6, 1}})) == Approx(0.0606));
  auto step = step_of(4, {{4e6, 1}});
  step.period = 4;
  CHECK(replay(step).step_s == Approx(0.106 + 0.0606 / 4));
}

TEST_CASE("sums run one after another and hide behind the rest of the computation")
{
  // Two sums of 0.0306 s each: the first is ready at 0.051 and ends at 0.0816; the second is ready at 0.091 and ends at 0.1216.
  const auto apart = replay(step_of(4, {{2e6, 0.5}, {2e6, 0.9}}));
  CHECK(apart.communication_s == Approx(0.1216 - 0.101));
  // Both ready at 0.091: the second waits for the first.
  const auto together = replay(step_of(4, {{2e6, 0.9}, {2e6, 0.9}}));
  CHECK(together.communication_s == Approx(0.091 + 2 * 0.0306 - 0.101));
}

TEST_CASE("workers wait longer for the slowest of more, up to the worst measured step, and lose less if they wait only every "
          "eighth step")
{
  double before = 0;
  for (const int workers : {2, 8, 32, 128, 1024}) {
    const auto replayed = replay(step_of(workers, {{0, 1}}, {.p50 = 0.98, .p95 = 1.1, .p99 = 1.3, .max = 2, .steps = 200}));
    CHECK(replayed.straggler_s > before);
    before = replayed.straggler_s;
  }
  CHECK(before < 1.1 * 0.1); // twice the mean computation at most
  auto often = step_of(64, {{4e6, 1}}, {.p50 = 0.98, .p95 = 1.1, .p99 = 1.3, .max = 2, .steps = 200, .of_workers = 0});
  auto rarely = often;
  rarely.period = 8;
  CHECK(replay(rarely).straggler_s < 0.6 * replay(often).straggler_s);
}
