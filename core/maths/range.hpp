// Range: positions [begin, end).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dt {

template<class Number> struct BasicRange {
  Number begin = 0, end = 0;
  Number size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool contains(Number number) const { return number >= begin && number < end; }
  bool operator==(const BasicRange&) const = default;
};

// Positions in a buffer.
using Range = BasicRange<std::size_t>;
// Samples of a data set.
using SampleRange = BasicRange<std::int64_t>;

// The part of `values` at these positions.
template<class T> std::span<T> values_at(std::span<T> values, Range range) { return values.subspan(range.begin, range.size()); }

} // namespace dt
