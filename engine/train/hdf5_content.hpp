// The part of the HDF5 format that CheckpointWriter uses, read without libhdf5.
//
// libhdf5 believes what a file says about itself: in 1.10.8 one altered byte of a group's index is enough for it to write beyond its
// buffers or never to return. A checkpoint may come from somebody else, so this reader checks every field against the file's size
// before it uses it, and refuses whatever the writer does not write: links other than hard ones, values in other files, chunks,
// filters, other types. Sections and message types are those of the HDF5 File Format Specification, version 3.0.
#pragma once

#include "engine/train/input_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dt::engine {

// 32-bit little-endian floats, one after another.
struct StoredTensor {
  std::string name; // with its groups: "weights/conv1.weight"
  std::vector<std::int64_t> dims;
  std::uint64_t offset; // in the file
};

enum class AttributeKind { text, integer, number };

// A single value: text up to its first zero byte, a 64-bit integer or a 64-bit float.
struct StoredAttribute {
  AttributeKind kind;
  std::string bytes;
};

struct Hdf5Content {
  std::vector<StoredTensor> tensors; // in the order in which they were written, group by group
  std::map<std::string, std::map<std::string, StoredAttribute>> attributes; // by group ("" is the root) and name
};

// All of the file. `begin` is where HDF5's signature stands: behind the user block. A usage error that names the file, the object and
// what was expected. The work is bounded by the file's size.
Hdf5Content read_hdf5(const InputFile& file, std::uint64_t begin);

} // namespace dt::engine
