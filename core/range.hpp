// Range: numbers [begin, end).
#pragma once

#include <cstddef>
#include <cstdint>

namespace dt {

template<class Number> struct BasicRange {
  Number begin = 0, end = 0;
  Number size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const BasicRange&) const = default;
};

// Positions in a buffer.
using Range = BasicRange<std::size_t>;
// Samples of a data set.
using SampleRange = BasicRange<std::int64_t>;

} // namespace dt
