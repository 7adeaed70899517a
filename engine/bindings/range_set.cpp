#include "engine/bindings/range_set.hpp"

#include <algorithm>

namespace dt::bindings {

void RangeSet::add(Range range)
{
  if (range.empty()) return;
  std::vector<Range> all;
  for (const auto& own : ranges_) {
    if (own.end < range.begin || own.begin > range.end)
      all.push_back(own);
    else
      range = {std::min(own.begin, range.begin), std::max(own.end, range.end)};
  }
  all.insert(std::ranges::upper_bound(all, range.begin, {}, &Range::begin), range);
  ranges_ = std::move(all);
}

void RangeSet::remove(Range range)
{
  std::vector<Range> all;
  for (const auto& own : ranges_) {
    if (const Range left{own.begin, std::min(own.end, range.begin)}; left.begin < left.end) all.push_back(left);
    if (const Range right{std::max(own.begin, range.end), own.end}; right.begin < right.end) all.push_back(right);
  }
  ranges_ = std::move(all);
}

std::vector<Range> RangeSet::within(Range range) const
{
  std::vector<Range> all;
  for (const auto& own : ranges_)
    if (const Range part{std::max(own.begin, range.begin), std::min(own.end, range.end)}; part.begin < part.end)
      all.push_back(part);
  return all;
}

} // namespace dt::bindings
