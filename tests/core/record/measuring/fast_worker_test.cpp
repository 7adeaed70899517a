// The useful time of a fast worker.
#include "core/record/measuring/fast_worker.hpp"

#include "core/maths/random.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace dt;

namespace {

using Rows = std::vector<std::vector<double>>;

// A row for each worker, with time_s(worker, step).
Rows rows_of(std::size_t workers, std::size_t steps, const std::function<double(std::size_t, std::size_t)>& time_s)
{
  Rows rows(workers);
  for (std::size_t worker = 0; worker < workers; ++worker)
    for (std::size_t step = 0; step < steps; ++step) rows[worker].push_back(time_s(worker, step));
  return rows;
}

FastSteps sums_of(const Rows& rows) { return fast_steps({rows.begin(), rows.end()}); }
double fast_s(const Rows& rows) { return sums_of(rows).useful_s; }

} // namespace

TEST_CASE(
    "steps of equal time add up to it, and the fast worker's sum is the least of up to four, and of more the lower quartile")
{
  for (const std::size_t workers : {1, 2, 5})
    for (const std::size_t steps : {1, 7, 16, 23, 24, 100})
      CHECK(fast_s(rows_of(workers, steps, [](auto, auto) { return 0.5; })) == Approx(0.5 * static_cast<double>(steps)));
  CHECK(fast_s({}) == 0);
  CHECK(fast_s({{}, {}}) == 0);
  CHECK(fast_sum_s({3}) == 3);
  CHECK(fast_sum_s({3, 1}) == 1);
  CHECK(fast_sum_s({4, 2, 3, 1}) == 1);
  CHECK(fast_sum_s({5, 4, 2, 3, 1}) == 2); // one of five that is faster than all others does not count
  CHECK(std::isnan(fast_sum_s({})));
}

TEST_CASE("a worker that is slow all the time, in turn with others or for long stretches does not slow the fast worker")
{
  const std::size_t steps = 160;
  for (const std::size_t workers : {2, 3, 4, 8, 16}) {
    const auto slow_if = [&](const std::function<bool(std::size_t, std::size_t)>& is_slow) {
      return fast_s(rows_of(workers, steps, [&](auto worker, auto step) { return is_slow(worker, step) ? 1.4 : 1.0; }));
    };
    CHECK(slow_if([](auto worker, auto) { return worker == 1; }) == Approx(steps));
    CHECK(slow_if([&](auto worker, auto step) { return step % workers == worker; }) == Approx(steps));
    CHECK(slow_if([&](auto worker, auto step) { return step / 40 % workers == worker; }) == Approx(steps));
    CHECK(slow_if([](auto, auto) { return true; }) == Approx(1.4 * steps));
  }
}

TEST_CASE("steps that scatter at random give the same fast worker at every size")
{
  const std::size_t steps = 8000;
  Random random(3);
  const auto scattered = [&](std::size_t workers, double scatter) {
    return fast_s(rows_of(workers, steps, [&](auto, auto) { return 1 + scatter * random.normal(); })) / steps;
  };
  for (const double scatter : {0.01, 0.03, 0.05})
    for (const std::size_t workers : {2, 4, 8, 32})
      CHECK(std::abs(scattered(workers, scatter) / scattered(1, scatter) - 1) < 0.1 * scatter);
}

TEST_CASE("what all workers share, a long step now and then or a change of speed, is the same at every size")
{
  const std::size_t steps = 320;
  const auto with_updates = [](auto, std::size_t step) { return step % 4 == 3 ? 2.0 : 1.0; };
  const auto changing = [](auto, std::size_t step) { return step < 160 ? 1.0 : 1.5; };
  for (const std::size_t workers : {1, 2, 8}) {
    CHECK(fast_s(rows_of(workers, steps, with_updates)) == Approx(fast_s(rows_of(1, steps, with_updates))));
    CHECK(fast_s(rows_of(workers, steps, changing)) == Approx(160 + 1.5 * 160));
  }
}

TEST_CASE("pauses that all workers make in the same step are told from those that they make by themselves")
{
  constexpr std::size_t steps = 320, pauses = 8;
  Random random(5);
  const auto sums = [&](std::size_t workers, const std::function<bool(std::size_t, std::size_t)>& pauses_at) {
    return sums_of(rows_of(
        workers, steps, [&](auto worker, auto step) { return 1 + 0.01 * random.normal() + (pauses_at(worker, step) ? 5 : 0); }));
  };
  for (const std::size_t workers : {1, 2, 3, 4, 8, 16}) {
    INFO(workers << " workers");
    const auto together = sums(workers, [](auto, auto step) { return step % 40 == 20; });
    CHECK(together.common_pauses_s == Approx(5 * pauses).epsilon(0.02));
    CHECK(together.pauses_s == Approx(5 * pauses).epsilon(0.02));
    const auto alone = sums(workers, [](auto worker, auto step) { return step % 40 == worker; });
    CHECK(alone.pauses_s == Approx(5 * pauses).epsilon(0.02));
    CHECK(alone.common_pauses_s == Approx(workers == 1 ? 5 * pauses : 0).epsilon(0.02));
    const auto steady = sums(workers, [](auto, auto) { return false; });
    CHECK(steady.pauses_s < 0.001 * steps);
    CHECK(steady.common_pauses_s < 0.001 * steps);
  }
  const auto every_second = sums(4, [](auto, auto step) { return step % 2 == 1; });
  CHECK(every_second.common_pauses_s == Approx(5 * steps / 2).epsilon(0.02));
}
