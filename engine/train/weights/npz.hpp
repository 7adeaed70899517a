// NumPy's .npz archives: writes files of 32-bit floats for numpy.load, and reads files of numpy.savez. What it reads may be of
// 16-, 32- or 64-bit floats and in Fortran's order; it becomes 32-bit floats in plain order.
//
//   npz      = { member } directory        a zip archive without compression, below 4 GiB
//   member   = zip's header, "<tensor>.npy": npy
//   npy      = "\x93NUMPY" 1 0 length "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 1, 5, 5), }" spaces LF values
#pragma once

#include "engine/train/weights/tensor_name.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::train {

// Collects tensors and returns the archive's bytes.
class NpzWriter {
 public:
  // Throws an environment error if the archive would exceed 4 GiB or 65,535 tensors; an internal error if the number of values
  // does not match the dimensions.
  void add(const TensorName& tensor, std::span<const float> values);
  // Adds the directory after the members and returns the archive. Nothing may be added afterwards.
  std::string finish();

 private:
  struct Member {
    std::string name;
    std::uint32_t crc, bytes, offset;
  };
  std::string archive_;
  std::vector<Member> members_;
};

// An archive on disk, possibly untrusted: every size and offset in it is checked against the file before use. Throws an
// environment error if the file cannot be read; a usage error with file, tensor and expectation if its content does not match the
// format above. Archives above 4 GiB (zip64) are read too.
class NpzReader {
 public:
  // Reads the directory and each member's header.
  explicit NpzReader(const std::filesystem::path& path);
  ~NpzReader();
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;

  // The tensors in the archive's order; names without ".npy".
  const std::vector<TensorName>& tensors() const;
  // The values of tensors()[index], checked against the archive's checksum. They may contain NaN or infinity.
  std::vector<float> read(std::size_t index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dt::train
