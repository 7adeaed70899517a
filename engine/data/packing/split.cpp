#include "engine/data/packing/split.hpp"

#include "core/error.hpp"
#include "core/maths/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::data {
namespace {

void shuffle(std::vector<std::int64_t>& items, std::uint64_t key)
{
  Random random(key);
  for (auto i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

// For each image, whether it is in the test set.
std::vector<bool> drawn_test_set(const SourceListing& listing, double fraction, std::uint64_t seed)
{
  std::vector<std::vector<std::int64_t>> classes(listing.classes.size());
  for (std::size_t i = 0; i < listing.items.size(); ++i) classes[listing.items[i].label].push_back(static_cast<std::int64_t>(i));
  std::vector<bool> is_test(listing.items.size());
  for (std::size_t label = 0; label < classes.size(); ++label) {
    auto& items = classes[label];
    if (items.empty()) continue;
    shuffle(items, sub_key(sub_key(seed, 1), label));
    const auto wanted = static_cast<std::size_t>(std::floor(static_cast<double>(items.size()) * fraction + 0.5));
    for (std::size_t i = 0; i < std::min(wanted, items.size() - 1); ++i) is_test[static_cast<std::size_t>(items[i])] = true;
  }
  return is_test;
}

std::vector<bool> test_set(const SourceListing& listing, const SplitOptions& options)
{
  if (!listing.has_test()) return drawn_test_set(listing, options.test_fraction.value_or(default_test_fraction), options.seed);
  if (options.test_fraction)
    throw Error(ErrorKind::usage,
                fmt::format("The source ({}) has a test set of its own; leave out --test-fraction.", listing.description));
  std::vector<bool> is_test;
  for (const auto& item : listing.items) is_test.push_back(item.is_test);
  return is_test;
}

} // namespace

StoredOrder split_items(const SourceListing& listing, const SplitOptions& options)
{
  const auto is_test = test_set(listing, options);
  std::vector<std::int64_t> train, test;
  for (std::size_t i = 0; i < is_test.size(); ++i) (is_test[i] ? test : train).push_back(static_cast<std::int64_t>(i));
  if (train.empty())
    throw Error(ErrorKind::usage, fmt::format("The source ({}) has no images for training.", listing.description));
  if (options.shuffle) {
    shuffle(train, sub_key(options.seed, 2));
    shuffle(test, sub_key(options.seed, 3));
  }
  StoredOrder order{std::move(train), 0};
  order.train = static_cast<std::int64_t>(order.items.size());
  order.items.insert(order.items.end(), test.begin(), test.end());
  return order;
}

} // namespace dt::data
