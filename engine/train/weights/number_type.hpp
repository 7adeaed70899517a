// NumberType: how a file stores floating-point numbers, and how they become 32-bit floats.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace dt::train {

struct NumberType {
  std::size_t bytes; // of one number; little-endian
  void (*to_floats)(const char* bytes, std::span<float> values);
};

extern const NumberType float16, bfloat16, float32, float64;

// Fills `values` with numbers of this type. `read` fills the text that it gets with the next bytes of the file. It is called for
// blocks of at most a mebibyte, so that no second copy of a large tensor is in memory.
void read_numbers(const NumberType& type, std::span<float> values, const std::function<void(std::string&)>& read);

} // namespace dt::train
