#include "core/run_spec.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace dt {

bool has_servers(const std::string& strategy)
{
  constexpr std::array<std::string_view, 7> served{"async-sgd",   "async-msgd",   "hogwild-sgd",  "easgd",
                                                   "async-easgd", "async-measgd", "hogwild-easgd"};
  return std::find(served.begin(), served.end(), strategy) != served.end();
}

bool is_elastic(const std::string& strategy) { return strategy.ends_with("easgd"); }

bool exchanges_beside_computation(const SyncSpec& sync) { return sync.strategy == "sync-easgd" && sync.overlap == 3; }

} // namespace dt
