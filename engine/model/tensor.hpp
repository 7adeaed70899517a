// Shape of one sample, and Tensor: a value that flows between the layers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dt::model {

// One sample, for example an image: channels x height x width. A vector of features is features x 1 x 1.
struct Shape {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t size() const { return channels * height * width; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// "6x14x14"
inline std::string to_text(const Shape& shape)
{
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.width);
}

struct Tensor {
  std::size_t id = 0; // unique within its model
  Shape shape;
};

} // namespace dt::model
