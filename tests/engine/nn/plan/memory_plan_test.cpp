#include "engine/nn/plan/memory_plan.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::nn;

namespace {

bool alive_together(const BufferUse& a, const BufferUse& b) { return a.first <= b.last && b.first <= a.last; }

// What all buffers that are alive at the busiest moment need at least.
std::int64_t busiest(const std::vector<BufferUse>& uses, std::int64_t moments)
{
  std::int64_t most = 0;
  for (std::int64_t moment = 0; moment < moments; ++moment) {
    std::int64_t bytes = 0;
    for (const auto& use : uses) bytes += use.first <= moment && moment <= use.last ? use.bytes : 0;
    most = std::max(most, bytes);
  }
  return most;
}

std::vector<BufferUse> random_uses(unsigned seed, std::int64_t moments)
{
  std::mt19937 generator(seed);
  std::vector<BufferUse> uses;
  for (int i = 0; i < 60; ++i) {
    const auto first = static_cast<std::int64_t>(generator() % static_cast<unsigned>(moments));
    const auto length = static_cast<std::int64_t>(generator() % 8U);
    uses.push_back({64 * (1 + static_cast<std::int64_t>(generator() % 100U)), first, std::min(moments - 1, first + length)});
  }
  return uses;
}

} // namespace

TEST_CASE("buffers that are alive together never share a byte, and all begin on cache lines")
{
  constexpr std::int64_t moments = 40;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto uses = random_uses(seed, moments);
    const auto plan = plan_memory(uses);
    std::size_t shared = 0, outside = 0;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (plan.offsets[i] % 64 != 0 || plan.offsets[i] + uses[i].bytes > plan.bytes) ++outside;
      for (std::size_t j = 0; j < i; ++j)
        if (alive_together(uses[i], uses[j]) && plan.offsets[i] < plan.offsets[j] + uses[j].bytes &&
            plan.offsets[j] < plan.offsets[i] + uses[i].bytes)
          ++shared;
    }
    CHECK(shared == 0);
    CHECK(outside == 0);
    CHECK(plan.bytes >= busiest(uses, moments));
    CHECK(static_cast<double>(plan.bytes) <= 1.25 * static_cast<double>(busiest(uses, moments)));
  }
}

TEST_CASE("buffers of a chain, each alive with its neighbours alone, take two places")
{
  std::vector<BufferUse> chain;
  for (std::int64_t i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  CHECK(plan_memory(chain).bytes == 2048);
}

TEST_CASE("nothing to place needs nothing")
{
  CHECK(plan_memory({}).bytes == 0);
  CHECK(plan_memory({{0, -1, -1}}).bytes == 0);
}
