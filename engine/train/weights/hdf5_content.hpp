// Reads the part of the HDF5 format that CheckpointWriter uses, without libhdf5.
//
// libhdf5 trusts the file: in version 1.10.8, one altered byte in a group's index can make it write beyond its buffers or loop
// forever. A checkpoint may come from an untrusted source, so this reader checks every field against the file's size before it
// uses the field. It refuses everything that the writer never writes: links other than hard links, values in other files, chunks,
// filters, other types. Sections and message types are named as in the HDF5 File Format Specification, version 3.0.
#pragma once

#include "engine/train/weights/input_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dt::train {

// Contiguous 32-bit little-endian floats.
struct StoredTensor {
  std::string name; // full name with groups: "weights/conv1.weight"
  std::vector<std::int64_t> dims;
  std::uint64_t offset; // in the file
};

enum class AttributeKind { text, integer, number };

// A single value: text that ends at its first zero byte, a 64-bit integer or a 64-bit float.
struct StoredAttribute {
  AttributeKind kind;
  std::string bytes;
};

struct Hdf5Content {
  std::vector<StoredTensor> tensors;                                        // group by group, in the order of writing
  std::map<std::string, std::map<std::string, StoredAttribute>> attributes; // by group ("" is the root) and name
};

// Reads the structure of the whole file. `begin` is the offset of HDF5's signature, after the user block. Throws a usage error
// with file, object and expectation. The running time is bounded by the file's size.
Hdf5Content read_hdf5(const InputFile& file, std::uint64_t begin);

} // namespace dt::train
