// Files of tensors in the safetensors format, which Python reads and writes with the package of that name:
//
//   file   = length header data         length: of the header, 64 bits, little-endian
//   header = {"NAME": {"dtype": "F32", "shape": [6, 1, 5, 5], "data_offsets": [0, 600]}, …, "__metadata__": {"KEY": "TEXT", …}}
//            JSON, filled up with spaces; at most 100 MB; __metadata__ may be missing
//   data   = the values in plain order, little-endian, without holes; offsets count from its first byte
//
// Written are 32-bit floats (F32); read are F16, BF16, F32 and F64.
#pragma once

#include "engine/train/weights/input_file.hpp"
#include "engine/train/weights/number_type.hpp"
#include "engine/train/weights/weights_file.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dt::train {

// The length and the header of a file with these tensors, whose values must follow in this order. The metadata come first in the
// header. Throws an environment error if the header would be longer than 100 MB.
std::string safetensors_header(std::span<const TensorName> tensors,
                               std::span<const std::pair<std::string, std::string>> metadata);

class SafetensorsReader final : public WeightsFile {
 public:
  // Reads the header.
  explicit SafetensorsReader(std::unique_ptr<const InputFile> file);
  const InputFile& file() const { return *file_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::vector<TensorName>& tensors() const override { return tensors_; }
  void read(std::size_t index, std::span<float> values) const override;

 private:
  struct Place {
    std::uint64_t offset; // in the file
    const NumberType* type;
  };

  std::unique_ptr<const InputFile> file_;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorName> tensors_; // in the order of their values
  std::vector<Place> places_;       // by tensor
};

} // namespace dt::train
