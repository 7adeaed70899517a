// ArraySource: images and labels in the arrays of one file.
#pragma once

#include "engine/data/packing/readers/source_reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dt::data {

struct ArrayInfo {
  std::string name; // with groups: "train/images"
  std::vector<std::int64_t> shape;
  std::string type;        // "uint8", "bool", "text"
  bool is_fortran = false; // the first dimension changes fastest
  std::uint64_t row_bytes() const;
};

// Named arrays in an HDF5 file or an archive of NumPy.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  const std::vector<ArrayInfo>& arrays() const { return arrays_; }
  // Reads `count` rows of an array of unsigned bytes from row `first` on. Ascending rows are fastest. Throws a usage error if the
  // file is damaged.
  virtual void read_rows(const ArrayInfo& array, std::int64_t first, std::int64_t count, std::string& bytes) = 0;
  // Reads a whole array of integers or of truth values.
  virtual std::vector<std::int64_t> read_integers(const ArrayInfo& array) = 0;

 protected:
  std::vector<ArrayInfo> arrays_;
};

// Whether the values are integers, or truth values, which are 0 and 1.
bool is_integer(const ArrayInfo& array);

// The order of the dimensions of an array of images.
struct ArrayLayout {
  std::int64_t height = 0, width = 0, channels = 0;
  bool channels_first = false;
};

// The arrays of one split.
struct ArrayPair {
  ArrayInfo images, labels;
};

// Finds images and labels by their names: those that the user gives, or the usual ones. One pair, or two if there is a test set.
// Throws a usage error that lists the arrays if there are none.
std::vector<ArrayPair> find_pairs(const std::vector<ArrayInfo>& arrays, const SourceOptions& options);

// A sentence that names the arrays that are in none of the pairs; empty if there are none.
std::string unused_arrays(const std::vector<ArrayInfo>& arrays, const std::vector<ArrayPair>& pairs);

// Checks the arrays of a pair and finds the layout of the images. Throws a usage error that names the array.
ArrayLayout layout_of(const ArrayPair& pair, const SourceOptions& options);

// A source that reads this file. kind: "hdf5" or "npz".
std::unique_ptr<SourceReader> make_array_source(std::unique_ptr<ArrayFile> file, const SourceOptions& options,
                                                std::string_view kind);

} // namespace dt::data
