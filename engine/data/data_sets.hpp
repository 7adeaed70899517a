// The data sets, a file each. A new one is a function here and a row in registry.cpp.
#pragma once

#include "engine/data/source.hpp"

namespace dt::engine {

Sources open_digits(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_shapes(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_mnist(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_cifar10(const DataSpec& spec, const std::filesystem::path& folder);
Sources open_cifar100(const DataSpec& spec, const std::filesystem::path& folder);
// Images of spec's shape and classes from `seed`, made as they are read: equal seeds, equal images; training and test images
// differ. Pixels are uniform with mean 0 and deviation 1; a band of them, of the label's own, is raised by 1, so a model can
// learn the labels.
Sources open_synthetic(const DataSpec& spec, std::int64_t seed);

} // namespace dt::engine
