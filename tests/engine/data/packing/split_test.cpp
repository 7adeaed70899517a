#include "core/maths/random.hpp"
#include "engine/data/packing/split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

using namespace dt::data;

namespace {

// Items of random labels.
SourceListing random_listing(std::uint64_t seed)
{
  dt::Random random(seed);
  SourceListing listing;
  const auto classes = 1 + random.below(6);
  for (std::uint64_t c = 0; c < classes; ++c) listing.classes.push_back(std::to_string(c));
  for (std::uint64_t i = 1 + random.below(200); i > 0; --i)
    listing.items.push_back({std::to_string(i), static_cast<std::uint32_t>(random.below(classes)), false, false, 0});
  return listing;
}

} // namespace

TEST_CASE("a drawn test set is disjoint from the training set, complete with it, and has the fraction of every class")
{
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto listing = random_listing(seed);
    dt::Random random(seed);
    const double fraction = static_cast<double>(random.unit()) * 0.9;
    const auto order = split_items(listing, {fraction, seed, seed % 2 == 0});
    auto all = order.items;
    std::ranges::sort(all);
    std::vector<std::int64_t> expected(listing.items.size());
    std::iota(expected.begin(), expected.end(), 0);
    REQUIRE(all == expected);
    for (std::uint32_t label = 0; label < listing.classes.size(); ++label) {
      const auto has_label = [&](std::int64_t item) { return listing.items[static_cast<std::size_t>(item)].label == label; };
      const auto train = std::count_if(order.items.begin(), order.items.begin() + order.train, has_label);
      const auto count = std::ranges::count_if(all, has_label);
      const auto wanted =
          std::min<std::ptrdiff_t>(std::lround(static_cast<double>(count) * fraction), std::max<std::ptrdiff_t>(count - 1, 0));
      REQUIRE(count - train == wanted);
    }
    REQUIRE(split_items(listing, {fraction, seed, seed % 2 == 0}).items == order.items);
  }
}

TEST_CASE("the seed changes the test set and the order, and the order of the source stays if it is asked for")
{
  const auto listing = random_listing(4);
  const auto one = split_items(listing, {0.3, 1, true}), two = split_items(listing, {0.3, 2, true});
  const auto sorted = [](std::vector<std::int64_t> items) {
    std::ranges::sort(items);
    return items;
  };
  CHECK(one.items != two.items);
  CHECK(sorted({one.items.begin(), one.items.begin() + one.train}) != sorted({two.items.begin(), two.items.begin() + two.train}));
  const auto source = split_items(listing, {0.3, 1, false});
  CHECK(std::is_sorted(source.items.begin(), source.items.begin() + source.train));
  CHECK(std::is_sorted(source.items.begin() + source.train, source.items.end()));
  CHECK(sorted({source.items.begin(), source.items.begin() + source.train}) ==
        sorted({one.items.begin(), one.items.begin() + one.train}));
}

TEST_CASE("shuffled records of a block hold all classes")
{
  SourceListing listing;
  for (int c = 0; c < 4; ++c) listing.classes.push_back(std::to_string(c));
  for (std::uint32_t i = 0; i < 4000; ++i) listing.items.push_back({"", i / 1000, false, false, 0}); // class by class
  const auto order = split_items(listing, {0.0, 1, true});
  for (std::size_t block = 0; block < 40; ++block) {
    std::vector<int> counts(4);
    for (std::size_t i = 0; i < 100; ++i) ++counts[listing.items[static_cast<std::size_t>(order.items[100 * block + i])].label];
    REQUIRE(*std::ranges::min_element(counts) >= 8); // 25 expected, deviation 4.3
  }
}
