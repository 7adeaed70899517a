#include "engine/sync/exchange/shared_centre.hpp"

#include "core/error.hpp"
#include "engine/comm/vectors.hpp"

#include <atomic>

#include <fmt/format.h>

namespace dt::sync {
namespace {

// Every rank writes the counter in each update, so it gets a cache line, and the neighbouring line, of its own.
constexpr std::size_t counter_bytes = 128;

// Rank 0's part holds the memory for all ranks.
std::size_t bytes_of(const StrategyParts& parts, std::size_t floats)
{
  if (parts.topology.nodes() > 1)
    throw Error(ErrorKind::recipe,
                fmt::format("sync.servers: 0 keeps the centre in the memory that the ranks of one node share, but "
                            "these ranks are on {} nodes. Give sync.servers of at least 1.",
                            parts.topology.nodes()));
  return parts.comm.is_root() ? counter_bytes + floats * sizeof(float) : 0;
}

} // namespace

SharedCentre::SharedCentre(const StrategyParts& parts, std::span<const float> start)
    : window_(parts.comm, bytes_of(parts, start.size())), begun_(reinterpret_cast<std::int64_t*>(window_.parts()[0])),
      values_(reinterpret_cast<float*>(window_.parts()[0] + counter_bytes), start.size())
{
  if (parts.comm.is_root()) comm::copy_to(start, values_);
  parts.comm.barrier();
}

std::int32_t SharedCentre::begin_update()
{
  const auto before = std::atomic_ref(*begun_).fetch_add(1);
  const auto others = before - read_;
  read_ = before + 1;
  return static_cast<std::int32_t>(others);
}

} // namespace dt::sync
