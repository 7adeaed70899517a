#include "core/maths/statistics.hpp"
#include "engine/bench/bench.hpp"

#include <algorithm>

namespace dt::bench {

Times summarize(std::vector<double> seconds)
{
  const double least = *std::min_element(seconds.begin(), seconds.end());
  return {median(std::move(seconds)), least};
}

} // namespace dt::bench
