// ArrayFile: named arrays in an HDF5 file or an archive of NumPy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dt::data {

struct ArrayInfo {
  std::string name; // with groups: "train/images"
  std::vector<std::int64_t> shape;
  std::string type; // "uint8"
  std::uint64_t row_bytes() const;
};

class ArrayFile {
 public:
  virtual ~ArrayFile() = default;
  const std::vector<ArrayInfo>& arrays() const { return arrays_; }
  // Reads `count` rows of an array of unsigned bytes from row `first` on. Ascending rows are fastest. Throws a usage error if the
  // file is damaged.
  virtual void read_rows(const ArrayInfo& array, std::int64_t first, std::int64_t count, std::string& bytes) = 0;
  // Reads a whole array of integers.
  virtual std::vector<std::int64_t> read_integers(const ArrayInfo& array) = 0;

 protected:
  std::vector<ArrayInfo> arrays_;
};

bool is_integer(const ArrayInfo& array);

} // namespace dt::data
