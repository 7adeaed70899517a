// Random order that is equal on every machine and with every standard library, because studies are repeated years later.
#pragma once

#include "core/random.hpp"

#include <cstddef>
#include <vector>

namespace dt::recipes {

// 0 … count-1 in a random order (Fisher-Yates).
std::vector<std::size_t> shuffled(std::size_t count, Random& random);

} // namespace dt::recipes
