#include "engine/sync/centre_exchange.hpp"

#include <algorithm>
#include <numeric>

namespace dt::engine {
namespace {

// A chain of more ranks takes longer to fill than a tree has levels.
constexpr int longest_chain = 64;

// A tree's message is whole, as in the paper; only what would need too large buffers is cut.
constexpr std::size_t tree_chunk_length = std::size_t{4} << 20;
// A chain's are cut so that all its ranks are busy, but no smaller than what a message costs.
constexpr std::size_t largest_chunk = 64 * 1024, smallest_chunk = 4 * 1024, chunks_wanted = 32;

// Which place gives to which in each round, so that in the end everything is at place 0.
struct Gift {
  std::size_t from, to;
};
std::vector<std::vector<Gift>> rounds_to_first(Way way, std::size_t places)
{
  std::vector<std::vector<Gift>> rounds;
  if (way == Way::chain)
    for (std::size_t from = places; from-- > 1;) rounds.push_back({{from, from - 1}});
  else
    for (std::size_t distance = 1; distance < places; distance *= 2) {
      rounds.emplace_back();
      for (std::size_t to = 0; to + distance < places; to += 2 * distance) rounds.back().push_back({to + distance, to});
    }
  return rounds;
}

// Ranks of a host one behind the other; rank 0 is the first.
std::vector<int> order_of(const Topology& topology, int ranks)
{
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  if (topology.node.empty()) return order;
  std::stable_sort(order.begin(), order.end(), [&](int one, int other) {
    return topology.node[static_cast<std::size_t>(one)] < topology.node[static_cast<std::size_t>(other)];
  });
  return order;
}

std::size_t chunk_length_of(Way way, std::size_t n)
{
  return way == Way::tree ? tree_chunk_length : std::clamp(n / chunks_wanted, smallest_chunk, largest_chunk);
}

Schedule schedule_of(Way way, std::size_t n, const std::vector<Part>& parts, const Topology& topology, const Communicator& comm)
{
  const auto order = order_of(topology, comm.size());
  const auto place = static_cast<std::size_t>(std::find(order.begin(), order.end(), comm.rank()) - order.begin());
  return centre_schedule(comm.size() > longest_chain ? Way::tree : way, order, place, n, parts);
}

} // namespace

Schedule centre_schedule(Way way, const std::vector<int>& order, std::size_t place, std::size_t n, const std::vector<Part>& parts)
{
  auto rounds = rounds_to_first(way, order.size());
  Schedule schedule;
  // What a rank does in a round of gifts; downwards they go the other way.
  const auto add_rounds = [&](Receipt receipt, bool down, std::size_t begin, std::size_t end) {
    for (const auto& gifts : rounds) {
      schedule.emplace_back();
      schedule.back().receipt = receipt;
      for (const auto& gift : gifts) {
        const auto from = down ? gift.to : gift.from, to = down ? gift.from : gift.to;
        if (place == from) schedule.back().sends.push_back({order[to], {begin, end}});
        if (place == to) schedule.back().receives.push_back({order[from], {begin, end}});
      }
    }
  };
  std::reverse(rounds.begin(), rounds.end());
  for (const auto& [begin, end] : parts) add_rounds(Receipt::copy, true, n + begin, n + end);
  std::reverse(rounds.begin(), rounds.end());
  for (const auto& [begin, end] : parts) add_rounds(Receipt::add, false, begin, end);
  return schedule;
}

CentreExchange::CentreExchange(Way way, std::size_t n, const std::vector<Part>& parts, const Topology& topology, Communicator& comm)
    : comm_(comm), chunk_length_(chunk_length_of(way, n)),
      parcels_(cut_into_parcels(schedule_of(way, n, parts, topology, comm), chunk_length_)), values_(2 * n)
{
}

std::unique_ptr<PendingSum> CentreExchange::begin()
{
  return std::make_unique<ScheduledSum>(comm_, parcels_, chunk_length_, Wire::float32, buffers_, values_);
}

} // namespace dt::engine
