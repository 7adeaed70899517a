// Divides work into parts of equal size.
#pragma once

#include <cstdint>

namespace dt::nn {

// number / by, rounded up. number >= 0, by > 0.
constexpr std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

// Size of the parts of `number`, at most `most` each, that are as equal as possible.
constexpr std::int64_t equal_part(std::int64_t number, std::int64_t most)
{
  return divided_up(number, divided_up(number, most > 1 ? most : 1));
}

// Calls f(begin, size) for consecutive parts of [0, count). A part has at most `most` elements; the sizes of two parts differ by
// one at most. (A last part of one row would be computed with one register.)
template<class Number, class F> void for_parts(Number count, Number most, const F& f)
{
  const auto parts = divided_up(count, most);
  Number begin = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto end = static_cast<Number>(static_cast<std::int64_t>(count) * (part + 1) / parts);
    f(begin, static_cast<Number>(end - begin));
    begin = end;
  }
}

} // namespace dt::nn
