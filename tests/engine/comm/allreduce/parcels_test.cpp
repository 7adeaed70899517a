// What parcels wait for is enough, and never too much: messages travel in any order that a network may choose, are read from the
// sender's memory as late as it may, and yet every rank ends with the sum and none waits for ever.
#include "engine/comm/allreduce/parcels.hpp"
#include "engine/comm/allreduce/schedules/halving_doubling.hpp"
#include "engine/comm/allreduce/schedules/ring.hpp"
#include "engine/comm/allreduce/schedules/topology_aware.hpp"
#include "engine/comm/allreduce/schedules/tree.hpp"
#include "tests/engine/comm/allreduce/schedules/schedule_world.hpp"

#include <random>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

using Numbers = std::vector<std::int64_t>;

// One rank, moved on as ScheduledSum does it.
struct Sitter {
  Parcels parcels;
  Numbers values;
  std::size_t posted_sends = 0, sent = 0, posted_receives = 0, taken = 0;
  std::vector<bool> delivered, arrived, in_place; // of sends; of receives
  std::vector<Numbers> arrivals;
};

class Network {
 public:
  Network(const std::vector<Schedule>& schedules, std::size_t length, std::size_t chunk, std::size_t window, unsigned seed)
      : window_(window), generator_(seed)
  {
    for (std::size_t r = 0; r < schedules.size(); ++r) {
      Sitter sitter{cut_into_parcels(schedules[r], chunk), {}, 0, 0, 0, 0, {}, {}, {}, {}};
      for (std::size_t i = 0; i < length; ++i) sitter.values.push_back(value_of(r, i));
      sitter.delivered.resize(sitter.parcels.sends.size());
      for (auto* flags : {&sitter.arrived, &sitter.in_place}) flags->resize(sitter.parcels.receives.size());
      sitter.arrivals.resize(sitter.parcels.receives.size());
      sitters_.push_back(std::move(sitter));
    }
  }
  std::vector<Sitter>& sitters() { return sitters_; }

  // "" when all ends well.
  std::string run()
  {
    for (std::size_t idle = 0; idle < 60 * sitters_.size();)
      idle = act(generator_() % sitters_.size(), generator_() % 4) ? 0 : idle + 1;
    // Chance may have passed over the last possible action: each is tried now.
    any_may_wait_ = false;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < sitters_.size(); ++r)
        for (unsigned action = 0; action < 4; ++action) moved = act(r, action) || moved;
    }
    return verdict();
  }

 private:
  static std::int64_t value_of(std::size_t rank, std::size_t i)
  {
    return static_cast<std::int64_t>((rank + 1) * 100'003 + i * 17);
  }

  bool act(std::size_t rank, unsigned action)
  {
    auto& sitter = sitters_[rank];
    switch (action) {
    case 0:
      return post_send(sitter);
    case 1:
      return post_receive(sitter);
    case 2:
      return deliver(rank);
    default:
      return take(sitter);
    }
  }
  static bool post_send(Sitter& s)
  {
    if (s.posted_sends == s.parcels.sends.size() || s.parcels.sends[s.posted_sends].after_receives > s.taken) return false;
    ++s.posted_sends;
    return true;
  }
  bool post_receive(Sitter& s) const
  {
    if (s.posted_receives == s.parcels.receives.size() || s.posted_receives == s.taken + window_) return false;
    const auto& parcel = s.parcels.receives[s.posted_receives];
    if (window_ == 1 && parcel.after_sends > s.sent) return false;
    s.in_place[s.posted_receives++] =
        parcel.receipt == Receipt::copy && parcel.after_receives <= s.taken && parcel.after_sends <= s.sent;
    return true;
  }
  // The first posted receive of the rank that has not arrived and whose sender has posted: some of them wait, at random.
  bool deliver(std::size_t rank)
  {
    auto& s = sitters_[rank];
    std::vector<bool> blocked(sitters_.size());
    for (std::size_t k = s.taken; k < s.posted_receives; ++k) {
      const auto peer = static_cast<std::size_t>(s.parcels.receives[k].peer);
      if (s.arrived[k] || blocked[peer]) continue;
      blocked[peer] = true; // between two ranks, messages keep their order
      if (!(any_may_wait_ && generator_() % 2 == 0) && deliver_from(sitters_[peer], rank, s, k)) return true;
    }
    return false;
  }
  static bool deliver_from(Sitter& sender, std::size_t rank, Sitter& s, std::size_t k)
  {
    for (std::size_t j = sender.sent; j < sender.posted_sends; ++j) {
      const auto& parcel = sender.parcels.sends[j];
      if (sender.delivered[j] || static_cast<std::size_t>(parcel.peer) != rank) continue;
      auto& numbers = s.arrivals[k];
      const auto at = sender.values.begin();
      numbers.assign(at + static_cast<std::ptrdiff_t>(parcel.stretch.begin),
                     at + static_cast<std::ptrdiff_t>(parcel.stretch.end));
      if (s.in_place[k]) put(s, k);
      sender.delivered[j] = s.arrived[k] = true;
      return true;
    }
    return false;
  }
  static bool take(Sitter& s)
  {
    while (s.sent < s.posted_sends && s.delivered[s.sent]) ++s.sent;
    if (s.taken == s.posted_receives || !s.arrived[s.taken] || s.parcels.receives[s.taken].after_sends > s.sent) return false;
    if (!s.in_place[s.taken]) put(s, s.taken);
    ++s.taken;
    return true;
  }
  static void put(Sitter& s, std::size_t k)
  {
    const auto& parcel = s.parcels.receives[k];
    for (std::size_t i = 0; i < s.arrivals[k].size(); ++i) {
      auto& value = s.values[parcel.stretch.begin + i];
      value = parcel.receipt == Receipt::add ? value + s.arrivals[k][i] : s.arrivals[k][i];
    }
  }
  std::string verdict() const
  {
    for (const auto& s : sitters_) {
      if (s.taken < s.parcels.receives.size() || s.posted_sends < s.parcels.sends.size()) return "a rank waits for ever";
      for (std::size_t i = 0; i < s.values.size(); ++i) {
        std::int64_t sum = 0;
        for (std::size_t r = 0; r < sitters_.size(); ++r) sum += value_of(r, i);
        if (s.values[i] != sum) return "a rank has a wrong sum";
      }
    }
    return {};
  }

  std::size_t window_;
  std::vector<Sitter> sitters_;
  std::mt19937 generator_;
  bool any_may_wait_ = true; // messages in the network, by chance
};

Schedule aware(const Seat& seat)
{
  std::vector<int> supernode;
  for (int r = 0; r < seat.ranks; ++r) supernode.push_back(r / 3);
  return topology_aware_schedule(seat, {.node = {}, .supernode = std::move(supernode)});
}

const std::vector<MakeSchedule> algorithms{ring_schedule, halving_doubling_schedule, tree_schedule, aware};

// How many of the seeds end badly when something has been changed in every rank's parcels.
int failures_with(const std::function<void(Parcels&)>& change)
{
  int failures = 0;
  for (const auto& make : algorithms)
    for (unsigned seed = 0; seed < 20; ++seed) {
      Network network(schedules_of_all(make, 4, 40), 40, 3, 16, seed);
      for (auto& sitter : network.sitters()) change(sitter.parcels);
      failures += network.run().empty() ? 0 : 1;
    }
  return failures;
}

} // namespace

TEST_CASE("in whatever order messages travel, every rank gets the sum and none waits for ever")
{
  for (const auto& make : algorithms)
    for (const int ranks : {2, 3, 4, 5, 7, 8, 12})
      for (const std::size_t window : {1U, 2U, 16U})
        for (unsigned seed = 0; seed < 4; ++seed) {
          CAPTURE(ranks, window, seed);
          CHECK(Network(schedules_of_all(make, ranks, 61), 61, 4, window, seed).run().empty());
        }
}

TEST_CASE("where receives are not posted ahead, every copy goes directly to its destination")
{
  for (const auto& make : algorithms)
    for (const int ranks : {2, 3, 9, 12})
      for (unsigned seed = 0; seed < 4; ++seed) {
        CAPTURE(ranks, seed);
        Network network(schedules_of_all(make, ranks, 61), 61, 61, 1, seed);
        REQUIRE(network.run().empty());
        for (const auto& sitter : network.sitters())
          for (std::size_t k = 0; k < sitter.parcels.receives.size(); ++k)
            CHECK(sitter.in_place[k] == (sitter.parcels.receives[k].receipt == Receipt::copy));
      }
}

// What comes back has passed where it was sent to, so copies of these schedules cannot overtake; the test below holds parcels to
// their word all the same, because MPI forbids a receive into what is being sent.
TEST_CASE("sends that wait for no receive are seen to go wrong")
{
  CHECK(failures_with([](Parcels&) {}) == 0);
  CHECK(failures_with([](Parcels& parcels) {
          for (auto& parcel : parcels.sends) parcel.after_receives = 0;
        }) > 0);
}

TEST_CASE("chunks of a message that goes backwards are the same, last first, and chunks of several messages take turns")
{
  const Schedule schedule{{Receipt::add, {{1, {0, 10}, false}, {2, {10, 17}, true}}, {}}};
  const auto sends = cut_into_parcels(schedule, 4).sends;
  std::vector<Range> stretches;
  for (const auto& parcel : sends) stretches.push_back(parcel.stretch);
  CHECK(stretches == std::vector<Range>{{0, 4}, {14, 17}, {4, 8}, {10, 14}, {8, 10}});
}

TEST_CASE("a parcel waits for those that overlap it, and no others")
{
  // 4 numbers each are received from rank 1; then the middle of both is sent, and copied over.
  const Schedule schedule{{Receipt::add, {}, {{1, {0, 8}, false}}},
                          {Receipt::add, {{2, {4, 8}, false}}, {}},
                          {Receipt::copy, {}, {{2, {2, 8}, false}}}};
  const auto parcels = cut_into_parcels(schedule, 4);
  REQUIRE(parcels.sends.size() == 1);
  CHECK(parcels.sends[0].after_receives == 2);
  REQUIRE(parcels.receives.size() == 4);
  CHECK(parcels.receives[2].stretch == Range{2, 6});
  CHECK(parcels.receives[2].after_receives == 2);
  CHECK(parcels.receives[2].after_sends == 1);
}

TEST_CASE("sends of a round in turn wait for all receives of the earlier rounds, and those of another round only for their own")
{
  const auto first_send = [](bool in_turn) {
    Round second{Receipt::add, {{2, {0, 4}, false}}, {}};
    second.in_turn = in_turn;
    return cut_into_parcels({{Receipt::add, {}, {{1, {0, 8}, false}}}, second}, 4).sends.front().after_receives;
  };
  CHECK(first_send(true) == 2);
  CHECK(first_send(false) == 1);
}

TEST_CASE("what a rank has computed is its own to round once, however often it is sent")
{
  const Schedule schedule{{Receipt::add, {}, {{1, {0, 4}, false}}},
                          {Receipt::copy, {{1, {0, 4}, false}}, {{2, {4, 8}, false}}},
                          {Receipt::copy, {{3, {0, 8}, false}}, {}}};
  const auto sends = cut_into_parcels(schedule, 8).sends;
  REQUIRE(sends.size() == 2);
  CHECK(sends[0].own == std::vector<Range>{{0, 4}});
  CHECK(sends[1].own.empty());
}
