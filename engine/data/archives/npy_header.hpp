// The header of an array in NumPy's format (.npy), in a member of a zip archive:
//
//   npy    = "\x93NUMPY" major minor length words values
//   length = of the words: 16 bits in version 1, 32 bits in versions 2 and 3
//   words  = a dictionary as Python writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (6, 1, 5, 5), }
#pragma once

#include "engine/data/archives/archive_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::data {

struct NpyHeader {
  std::string type;                // "<f4"; for records the text of their description
  bool is_fortran = false;         // the first dimension changes fastest
  std::vector<std::int64_t> shape; // at most 32 dimensions, none negative
};

// Reads the header from the beginning of the archive's member, and leaves the archive at the first value. Throws a usage error
// with file and member if there is no such header.
NpyHeader read_npy_header(ArchiveFile& archive);

} // namespace dt::data
