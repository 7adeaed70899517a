#include "engine/comm/topology_probe.hpp"

#include "core/text.hpp"
#include "engine/comm/machine/clock.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>

namespace dt::comm {
namespace {

constexpr double clear_gap = 1.8, fast_inside = 0.75;
constexpr int tries = 2;

// Message length for a number of ranks. The duration of a tournament grows with the square of the number of ranks: it has more
// rounds, and in each round more ranks share a trunk. So messages get shorter.
std::size_t message_numbers(int ranks)
{
  const auto count = static_cast<std::size_t>(ranks);
  return std::clamp<std::size_t>((32U << 20) / (count * count), 64U << 10, 2U << 20) / sizeof(float);
}

// The lowest bandwidth of a fast pair; 0 if there is no clear gap.
double fast_from(const Bandwidths& bytes_per_s)
{
  std::vector<double> sorted;
  for (std::size_t i = 0; i < bytes_per_s.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) sorted.push_back(bytes_per_s[i][j]);
  std::sort(sorted.begin(), sorted.end());
  double widest = clear_gap, from = 0;
  for (std::size_t k = 0; k + 1 < sorted.size(); ++k)
    if (sorted[k + 1] >= widest * sorted[k]) {
      widest = sorted[k + 1] / sorted[k];
      from = sorted[k + 1];
    }
  return from;
}

// Connected components: members that are joined, directly or through others, form a group.
std::vector<int> joined(std::size_t count, const std::function<bool(std::size_t, std::size_t)>& join)
{
  std::vector<int> group(count, -1);
  int groups = 0;
  for (std::size_t first = 0; first < count; ++first) {
    if (group[first] >= 0) continue;
    group[first] = groups;
    for (std::vector<std::size_t> open{first}; !open.empty();) {
      const auto i = open.back();
      open.pop_back();
      for (std::size_t j = 0; j < count; ++j)
        if (group[j] < 0 && join(i, j)) {
          group[j] = groups;
          open.push_back(j);
        }
    }
    ++groups;
  }
  return group;
}

// Every group needs two members: one node, or one pair that was fast by chance, is no supernode.
bool all_have_two(const std::vector<int>& group)
{
  return std::all_of(group.begin(), group.end(), [&](int g) { return std::count(group.begin(), group.end(), g) > 1; });
}

// Share of the pairs inside groups that are fast.
double share_of_fast(const Bandwidths& bytes_per_s, const std::vector<int>& group, double from)
{
  double fast = 0, all = 0;
  for (std::size_t i = 0; i < group.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (group[i] != group[j]) continue;
      ++all;
      fast += bytes_per_s[i][j] >= from ? 1 : 0;
    }
  return fast / all;
}

// Seconds until both directions are complete; 0 without a partner. Collective.
double meet(Communicator& comm, int partner, std::span<const float> out, std::span<float> in)
{
  const int tag = comm.fresh_tag();
  comm.barrier();
  if (partner < 0) return 0;
  const double begin = monotonic_s();
  std::array transfers{comm.receive_begin(in, partner, tag), comm.send_begin(out, partner, tag)};
  wait_all(transfers);
  return monotonic_s() - begin;
}

// Bandwidths between this rank and every other rank. Collective.
std::vector<double> play(Communicator& comm, std::size_t numbers)
{
  std::vector<float> out(numbers), in(numbers);
  std::vector<double> bytes_per_s(static_cast<std::size_t>(comm.size()));
  for (int round = 0; round < tournament_rounds(comm.size()); ++round) {
    const int partner = tournament_partner(round, comm.rank(), comm.size());
    const double seconds = meet(comm, partner, out, in);
    if (partner >= 0) bytes_per_s[static_cast<std::size_t>(partner)] = static_cast<double>(numbers * sizeof(float)) / seconds;
  }
  return bytes_per_s;
}

// Every rank's row, on every rank. The two ranks of a pair measure separately; the lower value counts. Collective.
Bandwidths matrix_of(const std::vector<double>& row, Communicator& comm)
{
  std::string text;
  for (const double value : row) text += format_shortest(value) + " ";
  Bandwidths rows;
  for (const auto& one : comm.gather_texts(text)) {
    std::istringstream words(one);
    rows.emplace_back(std::istream_iterator<double>(words), std::istream_iterator<double>());
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) rows[i][j] = rows[j][i] = std::min(rows[i][j], rows[j][i]);
  return rows;
}

} // namespace

std::vector<int> group_by_bandwidth(const Bandwidths& bytes_per_s)
{
  const std::vector<int> one_group(bytes_per_s.size(), 0);
  const double from = fast_from(bytes_per_s);
  if (from == 0) return one_group;
  const auto group =
      joined(bytes_per_s.size(), [&](std::size_t i, std::size_t j) { return i != j && bytes_per_s[i][j] >= from; });
  return all_have_two(group) && share_of_fast(bytes_per_s, group, from) >= fast_inside ? group : one_group;
}

int tournament_rounds(int count) { return count < 2 ? 0 : count - 1 + count % 2; }

// The circle method: in round r, two members meet if their numbers add up to r modulo the number of rounds. The member that would
// meet itself meets the last member.
int tournament_partner(int round, int index, int count)
{
  const int rounds = tournament_rounds(count), last = rounds; // one past the last index if the count is odd
  if (index == last) {
    // 2 i = r modulo an odd number has exactly one solution.
    return round % 2 == 0 ? round / 2 : (round + rounds) / 2;
  }
  const int other = ((round - index) % rounds + rounds) % rounds;
  if (other != index) return other;
  return last < count ? last : -1;
}

Bandwidths measure_bandwidths(Communicator& comm)
{
  const auto traffic = comm.traffic();
  comm.activity().enter(Doing::works, "measures bandwidths");
  play(comm, 1); // warm-up: MPI opens connections at their first use
  std::vector<double> best(static_cast<std::size_t>(comm.size()));
  for (int t = 0; t < tries; ++t) {
    const auto row = play(comm, message_numbers(comm.size()));
    std::transform(row.begin(), row.end(), best.begin(), best.begin(), [](double a, double b) { return std::max(a, b); });
  }
  comm.traffic() = traffic;
  return matrix_of(best, comm);
}

Topology probe_topology(Communicator& comm)
{
  const auto topology = topology_of_hosts(comm, 0);
  const auto& node = topology.node;
  const auto first = std::find(node.begin(), node.end(), node[static_cast<std::size_t>(comm.rank())]) - node.begin();
  const auto leaders = comm.split(comm.rank() == first ? 0 : -1, comm.rank()); // in the order of the nodes
  std::string groups;
  if (leaders && leaders->size() > 1)
    for (const int group : group_by_bandwidth(measure_bandwidths(*leaders))) groups += std::to_string(group) + " ";
  std::istringstream words(comm.broadcast_text(groups));
  const std::vector<int> group_of_node{std::istream_iterator<int>(words), {}};
  if (group_of_node.empty()) return topology;
  std::vector<int> supernodes;
  for (const int n : node) supernodes.push_back(group_of_node[static_cast<std::size_t>(n)]);
  return {node, std::move(supernodes)};
}

} // namespace dt::comm
