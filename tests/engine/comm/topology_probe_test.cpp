// Supernodes from bandwidths, and who meets whom when they are measured.
#include "engine/comm/topology_probe.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;
using namespace dt::comm;

namespace {

// Pairs of one group at `inside`, others at `between`, each a little different.
Bandwidths bandwidths_of(const std::vector<int>& group, double inside, double between)
{
  Bandwidths rows(group.size(), std::vector<double>(group.size()));
  for (std::size_t i = 0; i < group.size(); ++i)
    for (std::size_t j = 0; j < group.size(); ++j)
      rows[i][j] = (group[i] == group[j] ? inside : between) * (1 + 0.02 * static_cast<double>((i + j) % 5));
  return rows;
}

using Groups = std::vector<int>;

} // namespace

TEST_CASE("a slow trunk shows two supernodes, whichever nodes are in which")
{
  for (const auto& group : {Groups{0, 0, 1, 1}, Groups{0, 1, 0, 1}, Groups{0, 1, 1, 1, 0, 2, 2}})
    CHECK(group_by_bandwidth(bandwidths_of(group, 120e6, 40e6)) == group);
}

TEST_CASE("nodes that are about equally far from one another are one supernode")
{
  CHECK(group_by_bandwidth(bandwidths_of({0, 0, 1, 1}, 120e6, 90e6)) == Groups{0, 0, 0, 0});
  CHECK(group_by_bandwidth(bandwidths_of({0, 1}, 120e6, 30e6)) == Groups{0, 0});
  CHECK(group_by_bandwidth({{0}}) == Groups{0});
  CHECK(group_by_bandwidth({}).empty());
}

TEST_CASE("one slow pair or one fast pair makes no supernodes")
{
  auto slow = bandwidths_of({0, 0, 0, 0}, 120e6, 0);
  slow[3][1] = slow[1][3] = 20e6;
  CHECK(group_by_bandwidth(slow) == Groups{0, 0, 0, 0});
  auto fast = bandwidths_of({0, 0, 0, 0}, 120e6, 0);
  fast[3][1] = fast[1][3] = 400e6;
  CHECK(group_by_bandwidth(fast) == Groups{0, 0, 0, 0});
}

TEST_CASE("one slow pair inside a large supernode does not hide it")
{
  const Groups group{0, 0, 0, 0, 1, 1, 1, 1};
  auto rows = bandwidths_of(group, 120e6, 30e6);
  rows[2][1] = rows[1][2] = 35e6;
  CHECK(group_by_bandwidth(rows) == group);
}

TEST_CASE("in a tournament every pair meets exactly once, and in each round everybody at most once")
{
  for (int count = 0; count <= 17; ++count) {
    std::multiset<std::pair<int, int>> meetings;
    for (int round = 0; round < tournament_rounds(count); ++round)
      for (int index = 0; index < count; ++index) {
        const int partner = tournament_partner(round, index, count);
        if (partner < 0) continue;
        CAPTURE(count, round, index, partner);
        CHECK(partner != index);
        CHECK(partner < count);
        CHECK(tournament_partner(round, partner, count) == index);
        if (index < partner) meetings.insert({index, partner});
      }
    CHECK(meetings.size() == static_cast<std::size_t>(count * (count - 1) / 2));
    for (const auto& pair : meetings) CHECK(meetings.count(pair) == 1);
  }
}
