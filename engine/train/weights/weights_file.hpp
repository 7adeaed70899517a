// WeightsFile: a file of named tensors, which another program may have written.
#pragma once

#include "engine/train/weights/tensor_name.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace dt::train {

// The file may come from an untrusted source: every size and offset in it is checked before use. Opening and reading throw an
// environment error if the file cannot be read; a usage error with file, tensor and expectation if its content is damaged or of
// another format.
class WeightsFile {
 public:
  virtual ~WeightsFile() = default;
  // In the order of the file.
  virtual const std::vector<TensorName>& tensors() const = 0;
  // Fills `values` with all values of tensors()[index] in plain order. They may be NaN or infinite. The caller allocates the
  // memory, so a file from an untrusted source must have the expected dimensions before its values are read.
  virtual void read(std::size_t index, std::span<float> values) const = 0;
};

} // namespace dt::train
