// Labels of images, as numbers or as class names.
#pragma once

#include "engine/data/packing/readers/source_reader.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::data {

// The largest number of classes of a set.
inline constexpr std::int64_t most_classes = 1'000'000;

// Sets the label of each item from its text. If all texts are numbers from 0, these are the labels; else each different text is
// the name of a class, and the classes are sorted. Returns the names of the classes. Throws a usage error for a number that
// cannot be a label.
std::vector<std::string> label_items(std::vector<SourceItem>& items, const std::vector<std::string>& texts);

// Sets the labels of items that have numbers. Throws a usage error that names the item if a number cannot be a label.
std::vector<std::string> label_items(std::vector<SourceItem>& items, std::span<const std::int64_t> numbers);

} // namespace dt::data
