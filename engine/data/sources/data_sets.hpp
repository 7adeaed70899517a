// Opens the data sets. cifar.cpp and idx.cpp hold the sets of one file format each. A new data set needs a function here and a
// row in registry.cpp.
#pragma once

#include "engine/data/source.hpp"

namespace dt::data {

Sources open_mnist(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_digits(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_cifar10(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_cifar100(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_shapes(const DataSpec& spec, const std::filesystem::path& folder);
// place: the set's file.
Sources open_packed(const DataSpec& spec, const std::filesystem::path& place, std::int64_t seed);
// Images with spec's shape and classes, generated from `seed` when they are read: equal seeds give equal images, and training and
// test images differ. Pixels are uniform with mean 0 and deviation 1. One band of pixels, which depends on the label, is raised
// by 1, so that a model can learn the labels.
Sources open_synthetic(const DataSpec& spec, std::int64_t seed);

} // namespace dt::data
