// Which images of a source are for training and which for testing, and in which order they are stored.
#pragma once

#include "engine/data/packing/readers/source_reader.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dt::data {

struct SplitOptions {
  // Share of each class that becomes the test set, 0 to below 1. Empty: the test set of the source, or 0.1 if it has none.
  std::optional<double> test_fraction;
  std::uint64_t seed = 1;
  bool shuffle = true; // false: in the order of the source
};

inline constexpr double default_test_fraction = 0.1;

// Positions in SourceListing::items, in the order of the records.
struct StoredOrder {
  std::vector<std::int64_t> items; // training images first
  std::int64_t train = 0;
};

// Divides the images. Without a test set in the source, n images of a class give round(n x fraction) to the test set, but at
// most n - 1; the seed chooses which. Throws a usage error if a fraction is given although the source has a test set, and if no
// image is left for training.
StoredOrder split_items(const SourceListing& listing, const SplitOptions& options);

} // namespace dt::data
