// RangeSet: a set of positions, as few ranges.
#pragma once

#include "core/maths/range.hpp"

#include <vector>

namespace dt::bindings {

class RangeSet {
 public:
  bool empty() const { return ranges_.empty(); }
  void clear() { ranges_.clear(); }
  void add(Range range);
  void remove(Range range);
  // The parts of `range` that are in the set, ascending.
  std::vector<Range> within(Range range) const;

 private:
  std::vector<Range> ranges_; // ascending, with gaps between them
};

} // namespace dt::bindings
