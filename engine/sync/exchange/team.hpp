// A pass over memory, shared among the calling thread's OpenMP team.
#pragma once

#include "core/maths/range.hpp"

#include <algorithm>
#include <cstddef>

namespace dt::sync {

// Calls body(part) for parts that cover [0, n) once, several threads at the same time if n is large. body must not call
// comm::begin_pass(): its caller does, once for the whole pass.
template<class Body> void share_pass(std::size_t n, const Body& body)
{
  constexpr std::size_t part = std::size_t{1} << 15, smallest_shared = 8 * part;
  if (n < smallest_shared) return body(Range{0, n});
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (std::size_t begin = 0; begin < n; begin += part) body(Range{begin, std::min(begin + part, n)});
}

} // namespace dt::sync
