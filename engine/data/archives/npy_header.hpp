// The header of an array in NumPy's format (.npy), a dictionary as Python writes it:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (6, 1, 5, 5), }
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace dt::data {

// The text behind 'key': in the dictionary; empty if the key is missing.
std::string_view npy_value(std::string_view words, std::string_view key);

// Reads the numbers of "(6, 1, 5, 5)". Returns false for any other text, for negative numbers, and for more than NumPy's 32
// dimensions.
bool read_npy_shape(std::string_view words, std::vector<std::int64_t>& dims);

} // namespace dt::data
