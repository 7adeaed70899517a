#include "jobs/machine/in_parallel.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace dt::jobs;

TEST_CASE("work in parallel is done once for every index, and a failure comes out")
{
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{5000}}) {
    std::vector<std::atomic<int>> done(count);
    in_parallel(count, [&](std::size_t i) { ++done[i]; });
    for (const auto& times : done) CHECK(times == 1);
  }
  CHECK_THROWS_WITH(in_parallel(5000,
                                [](std::size_t i) {
                                  if (i == 4999) throw std::runtime_error("last");
                                }),
                    "last");
}
