// Every schedule sums over all ranks, sends what its formula says, and is caught when it is wrong.
#include "engine/comm/allreduce/schedules/halving_doubling.hpp"
#include "engine/comm/allreduce/schedules/ring.hpp"
#include "engine/comm/allreduce/schedules/topology_aware.hpp"
#include "engine/comm/allreduce/schedules/tree.hpp"
#include "tests/engine/comm/allreduce/schedules/schedule_world.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

bool anywhere(int, int) { return true; }

// Supernodes of these sizes, one after the other.
Topology supernodes_of(const std::vector<int>& sizes)
{
  std::vector<int> supernode;
  for (std::size_t s = 0; s < sizes.size(); ++s)
    for (int k = 0; k < sizes[s]; ++k) supernode.push_back(static_cast<int>(s));
  return {.node = {}, .supernode = std::move(supernode)};
}

Topology even_supernodes(int ranks, int each)
{
  return supernodes_of(std::vector<int>(static_cast<std::size_t>(ranks / each), each));
}

MakeSchedule topology_aware(const Topology& topology)
{
  return [topology](const Seat& seat) { return topology_aware_schedule(seat, topology); };
}

std::vector<std::size_t> lengths_for(int ranks)
{
  const auto p = static_cast<std::size_t>(ranks);
  return {0, 1, p - 1, p, p + 1, 2 * p + 1, 127};
}

void check_all_lengths(const MakeSchedule& make, int ranks)
{
  for (const auto length : lengths_for(ranks)) {
    CAPTURE(ranks, length);
    CHECK(wrong_with(schedules_of_all(make, ranks, length), length).empty());
  }
}

struct Named {
  const char* name;
  MakeSchedule make;
};

std::vector<Named> algorithms()
{
  return {{"ring", ring_schedule},
          {"halving-doubling", halving_doubling_schedule},
          {"tree", tree_schedule},
          {"topology-aware", topology_aware(even_supernodes(8, 4))}};
}

} // namespace

TEST_CASE("ring, halving-doubling and tree sum for every number of ranks")
{
  for (const auto make : {ring_schedule, halving_doubling_schedule, tree_schedule})
    for (int p = 1; p <= 49; ++p) check_all_lengths(make, p);
}

TEST_CASE("topology-aware sums for every number of ranks and size of supernodes, the last one smaller")
{
  for (int p = 1; p <= 17; ++p)
    for (int q = 1; q <= p; ++q) {
      std::vector<int> sizes(static_cast<std::size_t>(p / q), q);
      if (p % q != 0) sizes.push_back(p % q);
      CAPTURE(q);
      check_all_lengths(topology_aware(supernodes_of(sizes)), p);
    }
}

TEST_CASE("topology-aware sums for supernodes of very different sizes and of ranks that lie anywhere")
{
  check_all_lengths(topology_aware(supernodes_of({1, 7, 2, 5})), 15);
  const Topology scattered{.node = {}, .supernode = {0, 1, 2, 1, 0, 2, 2, 1, 1, 0, 2}};
  check_all_lengths(topology_aware(scattered), 11);
}

TEST_CASE("ring, halving-doubling and topology-aware send 2 n (P-1)/P numbers a rank, tree 2 n (P-1) in all")
{
  for (int p = 1; p <= 17; ++p) {
    const std::size_t n = static_cast<std::size_t>(p) * 60, others = static_cast<std::size_t>(p - 1);
    CAPTURE(p);
    for (const MakeSchedule& make : {MakeSchedule(ring_schedule), MakeSchedule(halving_doubling_schedule), topology_aware({})})
      for (const auto& schedule : schedules_of_all(make, p, n)) {
        const std::vector<Schedule> alone{schedule};
        CHECK(numbers_sent(alone, Receipt::add, anywhere) == n / static_cast<std::size_t>(p) * others);
        CHECK(numbers_sent(alone, Receipt::copy, anywhere) == n / static_cast<std::size_t>(p) * others);
      }
    const auto tree = schedules_of_all(tree_schedule, p, n);
    CHECK(numbers_sent(tree, Receipt::add, anywhere) == n * others);
    CHECK(numbers_sent(tree, Receipt::copy, anywhere) == n * others);
  }
}

TEST_CASE("of the bytes of a phase, n(p-q)/p cross supernodes in physical order and n(p/q-1)/p when topology-aware, a rank")
{
  for (const auto& [ranks, each] : {std::pair{8, 2}, {8, 4}, {16, 4}, {64, 16}, {24, 6}, {30, 10}, {1024, 256}}) {
    const auto p = static_cast<std::size_t>(ranks), q = static_cast<std::size_t>(each), n = 4 * p;
    const auto crosses = [per = each](int from, int to) { return from / per != to / per; };
    CAPTURE(p, q);
    const auto aware = schedules_of_all(topology_aware(even_supernodes(ranks, each)), ranks, n);
    for (const auto phase : {Receipt::add, Receipt::copy})
      CHECK(numbers_sent(aware, phase, crosses) == p * (n * (p / q - 1) / p));
    // In physical order with the farthest first, when both p and q are powers of two: the rounds over p/2 … q cross.
    if ((p & (p - 1)) != 0 || (q & (q - 1)) != 0) continue;
    const auto physical = schedules_of_all(halving_doubling_schedule, ranks, n);
    for (const auto phase : {Receipt::add, Receipt::copy}) CHECK(numbers_sent(physical, phase, crosses) == p * (n * (p - q) / p));
  }
}

TEST_CASE("topology-aware sends what halving-doubling of swCaffe's renumbered ranks sends")
{
  constexpr int p = 16, q = 4, s = p / q;
  const auto logical = [](int physical) { return physical % q * s + physical / q; };
  const auto physical = [](int number) { return number % s * q + number / s; };
  const std::size_t n = 160;
  for (int r = 0; r < p; ++r) {
    auto renumbered = halving_doubling_schedule({logical(r), p, n});
    for (auto& round : renumbered)
      for (auto* messages : {&round.sends, &round.receives})
        for (auto& message : *messages) message.peer = physical(message.peer);
    const auto aware = topology_aware_schedule({r, p, n}, even_supernodes(p, q));
    REQUIRE(aware.size() == renumbered.size());
    for (std::size_t k = 0; k < aware.size(); ++k) {
      const auto same_way = [](const Message& a, const Message& b) { return a.peer == b.peer && a.stretch == b.stretch; };
      CHECK(std::ranges::equal(aware[k].sends, renumbered[k].sends, same_way));
      CHECK(std::ranges::equal(aware[k].receives, renumbered[k].receives, same_way));
    }
  }
}

TEST_CASE("supernodes of different sizes send 2 n (s-1)/s numbers each over the trunk")
{
  const std::vector<int> sizes{3, 5, 4};
  const auto topology = supernodes_of(sizes);
  const std::size_t n = 3 * 60 * 7;
  const auto all = schedules_of_all(topology_aware(topology), 12, n);
  const auto supernode = [&](int rank) { return topology.supernode[static_cast<std::size_t>(rank)]; };
  for (int s = 0; s < 3; ++s) {
    const auto leaves = [&](int from, int to) { return supernode(from) == s && supernode(to) != s; };
    CHECK(numbers_sent(all, Receipt::add, leaves) == n * 2 / 3);
    CHECK(numbers_sent(all, Receipt::copy, leaves) == n * 2 / 3);
  }
}

TEST_CASE("the checker sees a rank whose part is dropped")
{
  for (const auto& [name, make] : algorithms()) {
    CAPTURE(name);
    auto all = schedules_of_all(make, 8, 64);
    // Rank 5's first part is received but not added.
    for (auto& schedule : all)
      for (auto& round : schedule)
        for (auto& receive : round.receives)
          if (receive.peer == 5 && round.receipt == Receipt::add) round.receipt = Receipt::copy;
    CHECK_FALSE(wrong_with(all, 64).empty());
  }
}

TEST_CASE("the checker sees two stretches of a message swapped")
{
  for (const auto& [name, make] : algorithms()) {
    CAPTURE(name);
    auto all = schedules_of_all(make, 8, 64);
    // The first message that brings sums back to rank 3 comes in two halves, which are put in each other's place.
    bool done = false;
    for (auto& round : all[3])
      if (!round.receives.empty() && round.receipt == Receipt::copy && !done) {
        const auto whole = round.receives[0];
        const std::size_t middle = (whole.stretch.begin + whole.stretch.end) / 2;
        round.receives[0].stretch = {middle, whole.stretch.end};
        round.receives.insert(round.receives.begin() + 1, {whole.peer, {whole.stretch.begin, middle}, false});
        for (auto& send_round : all[static_cast<std::size_t>(whole.peer)])
          for (std::size_t i = 0; i < send_round.sends.size() && send_round.receipt == Receipt::copy && !done; ++i)
            if (send_round.sends[i].peer == 3 && send_round.sends[i].stretch == whole.stretch) {
              send_round.sends[i].stretch.end = middle;
              send_round.sends.insert(send_round.sends.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                      {3, {middle, whole.stretch.end}, false});
              done = true;
            }
      }
    REQUIRE(done);
    CHECK_THAT(wrong_with(all, 64), Catch::EndsWith("has a wrong sum"));
  }
}

TEST_CASE("the checker sees a reduction that is missing, and one that is sent nowhere")
{
  for (const auto& [name, make] : algorithms()) {
    CAPTURE(name);
    auto without_adding = schedules_of_all(make, 8, 64);
    for (auto& round : without_adding[0])
      if (!round.receives.empty()) round.receipt = Receipt::copy;
    CHECK_FALSE(wrong_with(without_adding, 64).empty());
    auto unsent = schedules_of_all(make, 8, 64);
    const auto sends = std::ranges::find_if(unsent[7], [](const Round& round) { return !round.sends.empty(); });
    sends->sends.clear();
    CHECK_FALSE(wrong_with(unsent, 64).empty());
    auto unreceived = schedules_of_all(make, 8, 64);
    const auto receives = std::ranges::find_if(unreceived[0], [](const Round& round) { return !round.receives.empty(); });
    receives->receives.clear();
    CHECK_FALSE(wrong_with(unreceived, 64).empty());
  }
}

TEST_CASE("parts of a stretch follow one another and differ by one number at most")
{
  for (const std::size_t parts : {1U, 2U, 3U, 7U, 17U})
    for (const std::size_t length : {0U, 1U, 6U, 7U, 100U}) {
      std::size_t at = 5;
      for (std::size_t k = 0; k < parts; ++k) {
        const auto part = part_of({5, 5 + length}, k, parts);
        CHECK(part.begin == at);
        CHECK((part.size() == length / parts || part.size() == length / parts + 1));
        at = part.end;
      }
      CHECK(at == 5 + length);
    }
}
