// NumPy's .npz archives: writes files of 32-bit floats for numpy.load, and reads files of numpy.savez and numpy.savez_compressed.
// The reader takes arrays of 16-, 32- or 64-bit floats, in C's or Fortran's order, and returns 32-bit floats in C's order.
//
//   npz      = { member } directory        a zip archive; those that are written are not compressed
//   member   = zip's header, "<tensor>.npy": npy (engine/data/archives/npy_header.hpp)
#pragma once

#include "engine/data/archives/archive_file.hpp"
#include "engine/train/weights/weights_file.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::train {

// Collects tensors and returns the archive's bytes.
class NpzWriter {
 public:
  // Throws an internal error if the number of values does not match the dimensions.
  void add(const TensorName& tensor, std::span<const float> values);
  // Returns the archive. Nothing may be added afterwards.
  std::string finish() { return archive_.finish(); }

 private:
  data::ZipWriter archive_;
};

// Reading tensors in the order of the archive is fastest.
class NpzReader final : public WeightsFile {
 public:
  // Reads the header of each member.
  explicit NpzReader(const std::filesystem::path& path);
  ~NpzReader() override;

  // Names without ".npy".
  const std::vector<TensorName>& tensors() const override;
  // Compares the archive's checksum of the tensor, too.
  void read(std::size_t index, std::span<float> values) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace dt::train
