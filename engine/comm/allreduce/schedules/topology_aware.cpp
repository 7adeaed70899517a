#include "engine/comm/allreduce/schedules/topology_aware.hpp"

#include "engine/comm/allreduce/schedules/halving_doubling.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

// The ranks of each supernode, ascending. If the topology is unknown, all ranks form one supernode.
std::vector<std::vector<int>> members_of(const Seat& seat, const Topology& topology)
{
  if (topology.supernode.size() != static_cast<std::size_t>(seat.ranks)) {
    std::vector<int> all;
    for (int r = 0; r < seat.ranks; ++r) all.push_back(r);
    return {all};
  }
  std::vector<std::vector<int>> members(static_cast<std::size_t>(topology.supernodes()));
  for (int r = 0; r < seat.ranks; ++r)
    members[static_cast<std::size_t>(topology.supernode[static_cast<std::size_t>(r)])].push_back(r);
  std::erase_if(members, [](const auto& ranks) { return ranks.empty(); });
  return members;
}

std::size_t place_in(const std::vector<int>& group, int rank)
{
  return static_cast<std::size_t>(std::find(group.begin(), group.end(), rank) - group.begin());
}

// The stretch that each member owns after halving within its supernode, in the order of members.
std::vector<Range> owned_within(const std::vector<int>& members, Range whole)
{
  std::vector<Range> owned;
  for (std::size_t k = 0; k < members.size(); ++k) owned.push_back(owned_stretch(members.size(), k, whole));
  return owned;
}

// The pieces into which the cuts of all supernodes divide a stretch.
std::vector<Range> pieces_of(Range mine, const std::vector<std::vector<Range>>& owned)
{
  std::vector<std::size_t> cuts{mine.begin, mine.end};
  for (const auto& stretches : owned)
    for (const auto& stretch : stretches)
      if (mine.begin < stretch.begin && stretch.begin < mine.end) cuts.push_back(stretch.begin);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Range> pieces;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) pieces.push_back({cuts[k], cuts[k + 1]});
  return pieces;
}

std::size_t owner_of(Range piece, const std::vector<Range>& owned)
{
  const auto holds = [&](Range stretch) { return stretch.begin <= piece.begin && piece.end <= stretch.end; };
  return static_cast<std::size_t>(std::find_if(owned.begin(), owned.end(), holds) - owned.begin());
}

} // namespace

Schedule topology_aware_schedule(const Seat& seat, const Topology& topology)
{
  const Range whole{0, seat.length};
  const auto supernodes = members_of(seat, topology);
  std::vector<std::vector<Range>> owned;
  // of the largest supernode; smaller ones wait, because a message sent in round k must be received in round k
  std::size_t rounds_within = 0;
  for (const auto& members : supernodes) {
    owned.push_back(owned_within(members, whole));
    rounds_within = std::max(rounds_within, halving_rounds(members.size()));
  }

  Schedule rounds(rounds_within + halving_rounds(supernodes.size()));
  for (std::size_t home = 0; home < supernodes.size(); ++home) {
    const std::size_t place = place_in(supernodes[home], seat.rank);
    if (place == supernodes[home].size()) continue;
    merge_from(rounds, 0, halving(supernodes[home], place, whole));
    for (const auto& piece : pieces_of(owned[home][place], owned)) {
      std::vector<int> owners;
      for (std::size_t s = 0; s < supernodes.size(); ++s) owners.push_back(supernodes[s][owner_of(piece, owned[s])]);
      merge_from(rounds, rounds_within, halving(owners, home, piece));
    }
  }
  return there_and_back(std::move(rounds));
}

} // namespace dt::comm
