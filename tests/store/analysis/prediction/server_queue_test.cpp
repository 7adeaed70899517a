#include "store/analysis/prediction/server_queue.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

ServedStep served(std::int64_t workers, double service_s)
{
  return {.workers = workers, .input_s = 1e-3, .compute_s = 0.1, .update_s = 0, .spread = {}, .service_s = service_s};
}

} // namespace

TEST_CASE("a single worker waits for the service of its exchange and for nobody else")
{
  const auto replayed = replay(served(1, 0.02));
  CHECK(replayed.step_s == Approx(0.121));
  CHECK(replayed.waiting_s == Approx(0.02));
}

TEST_CASE("more workers than the servers can feed take the servers' time")
{
  const auto replayed = replay(served(20, 0.02)); // 20 exchanges take 0.4 s, a worker's own work 0.101
  CHECK(replayed.step_s == Approx(0.4).epsilon(0.03));
  CHECK(replayed.busy > 0.95);
}

TEST_CASE("two service threads serve twice as many exchanges")
{
  auto step = served(20, 0.02);
  step.threads = 2;
  CHECK(replay(step).step_s == Approx(0.2).epsilon(0.03));
}

TEST_CASE("a period of ten asks the servers a tenth as often")
{
  auto step = served(1, 0.02);
  step.period = 10;
  CHECK(replay(step).step_s == Approx(0.101 + 0.002));
}

TEST_CASE("serving workers in a fixed order is never faster than serving them as they come")
{
  auto step = served(8, 0.01);
  step.spread = {.p50 = 0.95, .p95 = 1.3, .p99 = 1.6, .max = 3, .steps = 200, .of_workers = 0.1};
  const double as_they_come_s = replay(step).step_s;
  step.in_turn = true;
  CHECK(replay(step).step_s > as_they_come_s);
}

TEST_CASE("the service time is found again in the steps that it gave")
{
  for (const double service_s : {0.002, 0.02, 0.05}) {
    auto step = served(6, service_s);
    step.spread = {.p50 = 0.99, .p95 = 1.05, .p99 = 1.1, .max = 1.2, .steps = 200};
    CHECK(service_that_gives(step, replay(step).step_s) == Approx(service_s).epsilon(0.05));
  }
}

TEST_CASE("what servers do after the answer costs no time before they are full, and then all of it")
{
  auto step = served(4, 0.02);
  const double without_s = replay(step).step_s;
  step.service_s = 0.025;
  step.after_answer_s = 0.005;
  CHECK(replay(step).step_s == Approx(without_s).epsilon(0.005));
  step.workers = 20;
  CHECK(replay(step).step_s == Approx(20 * 0.025).epsilon(0.01));
}

TEST_CASE("answers that are still on their way let the servers take the next exchange sooner")
{
  auto step = served(20, 0.01);
  step.after_answer_s = -0.01; // a worker has its answer after 20 ms
  CHECK(replay(step).step_s == Approx(20 * 0.01).epsilon(0.01));
  step.workers = 1;
  CHECK(replay(step).step_s == Approx(0.121));
}

TEST_CASE("workers that all begin at the same time do not count: a step takes as long as later ones")
{
  auto step = served(8, 0.01); // at the start the last worker waits for seven others, later nobody waits
  step.in_turn = true;
  CHECK(replay(step).step_s == Approx(0.111).epsilon(1e-9));
}
