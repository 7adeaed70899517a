#include "engine/sync/centre_exchange.hpp"

#include "engine/comm/tree.hpp"

namespace dt::engine {
namespace {

// A message is whole, as in the paper; only what would need too large buffers is cut.
constexpr std::size_t chunk_length = std::size_t{4} << 20;

// Rounds [first, end) of the schedule, moved to where `part` lies behind `offset`.
void append(Schedule& to, const Schedule& from, std::size_t first, std::size_t end, std::size_t offset)
{
  for (auto round = first; round < end; ++round) {
    to.push_back(from[round]);
    for (auto* messages : {&to.back().sends, &to.back().receives})
      for (auto& message : *messages) {
        message.stretch.begin += offset;
        message.stretch.end += offset;
      }
  }
}

} // namespace

Schedule centre_schedule(int rank, int ranks, std::size_t n, const std::vector<Part>& parts)
{
  Schedule broadcasts, sums;
  for (const auto& [begin, end] : parts) {
    // The first half of the tree's allreduce is a sum to rank 0, the second a broadcast from it.
    const auto both = tree_schedule({.rank = rank, .ranks = ranks, .length = end - begin});
    append(sums, both, 0, both.size() / 2, begin);
    append(broadcasts, both, both.size() / 2, both.size(), n + begin);
  }
  append(broadcasts, sums, 0, sums.size(), 0);
  return broadcasts;
}

CentreExchange::CentreExchange(std::size_t n, const std::vector<Part>& parts, Communicator& comm)
    : comm_(comm), parcels_(cut_into_parcels(centre_schedule(comm.rank(), comm.size(), n, parts), chunk_length)), values_(2 * n)
{
}

std::unique_ptr<PendingSum> CentreExchange::begin()
{
  return std::make_unique<ScheduledSum>(comm_, parcels_, chunk_length, Wire::float32, buffers_, values_);
}

} // namespace dt::engine
