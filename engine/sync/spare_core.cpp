#include "engine/sync/spare_core.hpp"

#include <algorithm>

namespace dt::sync {
namespace {

bool overlap(const std::vector<int>& one, const std::vector<int>& other)
{
  return std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) != one.end();
}

} // namespace

std::optional<SpareCore> find_spare_core(const std::vector<comm::RankPlace>& places, int rank, std::int64_t threads_per_rank)
{
  const auto& mine = places[static_cast<std::size_t>(rank)];
  std::size_t sharers = 0, before = 0;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r].host != mine.host || !overlap(places[r].cores, mine.cores)) continue;
    if (places[r].cores != mine.cores) return std::nullopt;
    ++sharers;
    before += r < static_cast<std::size_t>(rank) ? 1 : 0;
  }
  if (sharers * (static_cast<std::size_t>(threads_per_rank) + 1) > mine.cores.size()) return std::nullopt;
  const std::vector<int> last(mine.cores.end() - static_cast<std::ptrdiff_t>(sharers), mine.cores.end());
  return SpareCore{last[before], last};
}

} // namespace dt::sync
