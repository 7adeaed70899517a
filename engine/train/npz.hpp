// NumPy's .npz archives of 32-bit floats: what numpy.load reads, and reads of what numpy.savez wrote.
//
//   npz      = { member } directory        a zip archive without compression, below 4 GiB
//   member   = zip's header, "<tensor>.npy": npy
//   npy      = "\x93NUMPY" 1 0 length "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 1, 5, 5), }" spaces LF values
#pragma once

#include "engine/train/tensor_name.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// Collects tensors and gives the archive's bytes.
class NpzWriter {
public:
  // An environment error when the archive would grow beyond 4 GiB or 65,535 tensors; an internal one for another number of values.
  void add(const TensorName& tensor, std::span<const float> values);
  // With the directory behind the members. Nothing may be added afterwards.
  std::string finish();

private:
  struct Member {
    std::string name;
    std::uint32_t crc, bytes, offset;
  };
  std::string archive_;
  std::vector<Member> members_;
};

// An archive on disk, perhaps somebody else's: every size and offset in it is checked against the file before it is used. An
// environment error when the file cannot be read, a usage error that names the file, the tensor and what was expected when its
// content is not as above.
class NpzReader {
public:
  // Reads the directory and each member's header.
  explicit NpzReader(const std::filesystem::path& path);
  ~NpzReader();
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;

  // In the archive's order, names without ".npy".
  const std::vector<TensorName>& tensors() const;
  // The values of tensors()[index], checked against the archive's checksum. They may be NaN or infinite.
  std::vector<float> read(std::size_t index) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dt::engine
