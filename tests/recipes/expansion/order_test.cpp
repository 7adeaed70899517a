#include "recipes/expansion/expand.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::recipes;

TEST_CASE("the generator gives SplitMix64's published numbers, and a bounded number stays below its bound and reaches all of it")
{
  Random random(1234567);
  CHECK(random.word() == 6457827717110365317U);
  CHECK(random.word() == 3203168211198807973U);
  CHECK(random.word() == 9817491932198370423U);
  Random bounded(7);
  std::vector<int> counts(5, 0);
  for (int i = 0; i < 5000; ++i) ++counts.at(bounded.below(5));
  CHECK(*std::min_element(counts.begin(), counts.end()) > 850);
  CHECK(bounded.below(1) == 0);
}

TEST_CASE("an order is a permutation, the same for the same seed for ever, also of nothing and of one thing")
{
  Random random(1);
  const auto order = shuffled(8, random);
  CHECK(order == std::vector<std::size_t>{4, 3, 2, 7, 5, 6, 0, 1});
  CHECK(shuffled(8, random) != order);
  auto sorted = shuffled(1000, random);
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  CHECK(sorted.back() == 999);
  Random any(1);
  CHECK(shuffled(0, any).empty());
  CHECK(shuffled(1, any) == std::vector<std::size_t>{0});
}

TEST_CASE("every order of three is equally likely")
{
  Random random(3);
  std::vector<int> counts(27, 0);
  for (int i = 0; i < 6000; ++i) {
    const auto order = shuffled(3, random);
    ++counts.at(order[0] * 9 + order[1] * 3 + order[2]);
  }
  CHECK(std::count_if(counts.begin(), counts.end(), [](int count) { return count > 850 && count < 1150; }) == 6);
}
