#include "store/analysis/prediction/server_queue.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

ServedStep served(std::int64_t workers, double service_s)
{
  return {.workers = workers, .input_s = 1e-3, .compute_s = 0.1, .update_s = 0, .spread = {}, .service_s = service_s};
}

} // namespace

TEST_CASE("a worker waits for its exchange alone, more than the servers can feed for their time, and threads and a period take "
          "it in parts")
{
  const auto alone = replay(served(1, 0.02)),
             many = replay(served(20, 0.02)); // 20 exchanges take 0.4 s, a worker's own work 0.101
  CHECK(alone.step_s == Approx(0.121));
  CHECK(alone.waiting_s == Approx(0.02));
  CHECK(many.step_s == Approx(0.4).epsilon(0.03));
  CHECK(many.busy > 0.95);
  auto threads = served(20, 0.02), rarely = served(1, 0.02);
  threads.threads = 2;
  rarely.period = 10;
  CHECK(replay(threads).step_s == Approx(0.2).epsilon(0.03));
  CHECK(replay(rarely).step_s == Approx(0.101 + 0.002));
}

TEST_CASE(
    "serving workers in a fixed order is never faster than as they come, and that all begin at the same time does not count")
{
  auto step = served(8, 0.01), together = step; // at the start the last worker waits for seven others, later nobody waits
  step.spread = {.p50 = 0.95, .p95 = 1.3, .p99 = 1.6, .max = 3, .steps = 200, .of_workers = 0.1};
  const double as_they_come_s = replay(step).step_s;
  step.in_turn = together.in_turn = true;
  CHECK(replay(step).step_s > as_they_come_s);
  CHECK(replay(together).step_s == Approx(0.111).epsilon(1e-9));
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
