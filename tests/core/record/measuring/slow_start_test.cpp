// First steps that belong into the warm-up.
#include "core/record/measuring/slow_start.hpp"

#include "core/maths/random.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <vector>

using namespace dt;

namespace {

std::vector<double> steps_of(std::size_t count, double scatter, const std::function<double(std::size_t)>& time_s)
{
  Random random(17);
  std::vector<double> times_s;
  for (std::size_t i = 0; i < count; ++i) times_s.push_back(time_s(i) * (1 + scatter * random.normal()));
  return times_s;
}

} // namespace

TEST_CASE("first steps that take longer than the later ones are counted, with their share of the time")
{
  for (const double scatter : {0.0, 0.01, 0.05}) {
    const auto start = slow_start_of(steps_of(200, scatter, [](auto i) { return i < 25 ? 3.5 : 1; }));
    REQUIRE(start);
    CHECK(start->steps == 25);
    CHECK(start->ratio == Approx(3.5).epsilon(0.02));
    CHECK(start->share == Approx(62.5 / 262.5).epsilon(0.02));
    CHECK_THAT(words_of({25, 3.5, 62.5 / 262.5}, 200, 30), Catch::Contains("first 25 of 200") && Catch::Contains("3.5 times") &&
                                                               Catch::Contains("23.8 %") &&
                                                               Catch::EndsWith("train.warmup_steps: 30 leaves them out"));
  }
  const auto one = slow_start_of(steps_of(100, 0, [](auto i) { return i == 0 ? 8 : 1; }));
  REQUIRE(one);
  CHECK(words_of(*one, 100, 1).starts_with("the first of 100 measured steps takes 8.0 times"));
  const auto falling = slow_start_of(steps_of(200, 0.01, [](auto i) { return i < 40 ? 2 - static_cast<double>(i) / 40 : 1; }));
  REQUIRE(falling);
  CHECK(falling->steps >= 34);
  CHECK(falling->steps <= 40);
}

TEST_CASE("no slow start is seen in steps that scatter, pause now and then, get slower or change for good")
{
  const std::vector<std::function<double(std::size_t)>> shapes{
      [](auto) { return 1.0; },
      [](auto i) { return i % 50 == 20 ? 20.0 : 1.0; },
      [](auto i) { return i % 4 == 0 ? 2.0 : 1.0; },
      [](auto i) { return 1 + static_cast<double>(i) / 200; },
      [](auto i) { return i < 150 ? 2.0 : 1.0; }, // more than half of the run: nobody knows which is usual
      [](auto i) { return i > 150 ? 2.0 : 1.0; },
  };
  for (const auto& shape : shapes)
    for (const double scatter : {0.0, 0.01, 0.05}) CHECK_FALSE(slow_start_of(steps_of(200, scatter, shape)));
  CHECK_FALSE(slow_start_of(steps_of(19, 0, [](auto i) { return i < 5 ? 9.0 : 1.0; })));
}
