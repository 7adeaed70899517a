#include "engine/sync/exchange/centre_exchange.hpp"

#include "engine/comm/allreduce/schedules/tree.hpp"

namespace dt::sync {
namespace {

// Messages stay whole, as in the paper; they are cut only above this length (16 MiB), to limit buffers.
constexpr comm::MessageLimits limits{.chunk_length = std::size_t{4} << 20};

// Appends rounds [first, end) of `from`, with their stretches moved by `offset`.
void append(comm::Schedule& to, const comm::Schedule& from, std::size_t first, std::size_t end, std::size_t offset)
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

comm::Schedule centre_schedule(int rank, int ranks, std::size_t n, const std::vector<Range>& parts)
{
  comm::Schedule broadcasts, sums;
  for (const auto& [begin, end] : parts) {
    // The first half of the tree allreduce is a sum to rank 0, the second half a broadcast from rank 0.
    const auto both = comm::tree_schedule({.rank = rank, .ranks = ranks, .length = end - begin});
    append(sums, both, 0, both.size() / 2, begin);
    append(broadcasts, both, both.size() / 2, both.size(), n + begin);
  }
  append(broadcasts, sums, 0, sums.size(), 0);
  return broadcasts;
}

CentreExchange::CentreExchange(std::size_t n, const std::vector<Range>& parts, comm::Communicator& comm)
    : comm_(comm), parcels_(comm::cut_into_parcels(centre_schedule(comm.rank(), comm.size(), n, parts), limits.chunk_length)),
      values_(2 * n)
{
}

std::unique_ptr<comm::PendingSum> CentreExchange::begin()
{
  return std::make_unique<comm::ScheduledSum>(comm_, parcels_, limits, Wire::float32, buffers_, values_);
}

} // namespace dt::sync
