// Who else used a run's cores, from what ranks saw of their machines.
#include "core/record/measuring/node_load.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;

namespace {

// A rank on these cores of a machine, over ten seconds; `busy` holds the machine's cores.
RankLoad rank_on(const std::vector<int>& mask, double own_s, const std::vector<double>& busy, const std::string& machine = "m1")
{
  RankLoad rank{.machine = machine,
                .host = "host-" + machine,
                .mask = mask,
                .threads = 1,
                .seconds = 10,
                .own_s = own_s,
                .load_begin = 1,
                .load_end = 2,
                .cores = {},
                .throttled_s = {}};
  for (std::size_t core = 0; core < busy.size(); ++core) rank.cores[static_cast<int>(core)] = {busy[core], 0};
  return rank;
}

} // namespace

TEST_CASE("a core's times are programs and stolen time, without idleness, disks and interrupts")
{
  const auto cores = parse_core_times(
      "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 20 30 4000 7 8 9 50 60 0\ncpu12 200 0 0 0 0 0 0 0 0 0\nintr 1 2\n", 100);
  REQUIRE(cores.size() == 2);
  CHECK(cores.at(0).busy_s == Approx(1.5));
  CHECK(cores.at(0).steal_s == Approx(0.5));
  CHECK(cores.at(12).busy_s == Approx(2));
  CHECK(parse_core_times("", 100).empty());
  CHECK(parse_core_times("cpu0 0 0 0 0 0 0 0 0 0 0\n", 100).empty()); // a kernel that does not count
  CHECK(parse_core_times("cpu0 1 2\n", 100).empty());
}

TEST_CASE(
    "what a rank's core was busy with beyond the rank is others', and a quiet machine has none although clocks differ a little")
{
  const auto nodes = node_loads({rank_on({1}, 5.5, {3, 10})});
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].host == "host-m1");
  CHECK(nodes[0].cores == 2);
  CHECK(nodes[0].own_cores == 1);
  CHECK(nodes[0].seconds == 10);
  CHECK(nodes[0].load_begin == 1);
  CHECK(nodes[0].load_end == 2);
  CHECK(nodes[0].others_share == Approx(0.45));
  CHECK(nodes[0].steal_share == 0);
  CHECK(nodes[0].elsewhere_share == Approx(0.3));
  CHECK(node_loads({rank_on({0}, 10, {9.8, 0})}).at(0).others_share == 0);
}

TEST_CASE("of a node's ranks the one that lost most time to others counts, and ranks that share cores are one group, whose spare "
          "cores others may use")
{
  const auto nodes =
      node_loads({rank_on({0}, 10, {10, 10, 10, 0}), rank_on({1}, 5, {10, 10, 10, 0}), rank_on({2}, 10, {10, 10, 10, 0})});
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].others_share == Approx(0.5));
  CHECK(nodes[0].own_cores == 3);
  CHECK(nodes[0].elsewhere_share == 0);
  // Two threads on cores 0 to 2, which overlap: 20 s of their own, 10 s of others, and a core to spare.
  CHECK(node_loads({rank_on({0, 1}, 10, {10, 10, 10}), rank_on({1, 2}, 10, {10, 10, 10})}).at(0).others_share == 0);
  // Without one to spare the same 10 s are taken from the two.
  CHECK(node_loads({rank_on({0, 1}, 5, {10, 10}), rank_on({0, 1}, 5, {10, 10})}).at(0).others_share == Approx(0.5));
}

TEST_CASE("each machine has a record, and hosts that are namespaces of one machine have one")
{
  auto second = rank_on({1}, 10, {10, 10});
  second.host = "other-host";
  const auto nodes = node_loads({rank_on({0}, 10, {10, 10}), second, rank_on({0}, 5, {10, 0}, "m2")});
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].host == "host-m1,other-host");
  CHECK(nodes[0].others_share == 0); // the other host's rank is no stranger
  CHECK(nodes[1].host == "host-m2");
  CHECK(nodes[1].others_share == Approx(0.5));
}

TEST_CASE("stolen time is told, and what the kernel does not count is not measured")
{
  auto rank = rank_on({0}, 8, {8, 0});
  rank.cores[0].steal_s = 2;
  CHECK(node_loads({rank}).at(0).steal_share == Approx(0.2));
  rank.cores.clear();
  const auto nodes = node_loads({rank});
  CHECK(std::isnan(nodes.at(0).others_share));
  CHECK(std::isnan(nodes.at(0).steal_share));
  CHECK(nodes.at(0).load_end == 2);
}

TEST_CASE("time for which a CPU quota stopped ranks counts for the ranks, and other processes count only for what they took of "
          "the rest")
{
  // Two ranks on two cores with a quota of half a core: each runs for a quarter of the time, and others have the rest.
  auto first = rank_on({0}, 2.5, {10, 10}), second = rank_on({1}, 2.5, {10, 10});
  CHECK(node_loads({first, second}).at(0).others_share == Approx(0.75)); // without the quota they would be to blame
  CHECK(std::isnan(node_loads({first, second}).at(0).throttled_share));
  for (auto* rank : {&first, &second}) rank->throttled_s["q"] = 15, rank->quota_cores = 0.5;
  const auto node = node_loads({first, second}).at(0);
  CHECK(node.throttled_share == Approx(0.75));
  CHECK(node.others_share == Approx(0).margin(1e-9));
  CHECK(node.quota_cores == 0.5);
  auto rank = rank_on({0}, 2.5, {10});
  rank.throttled_s["q"] = 5; // 2.5 s of the 5 that it could have had
  CHECK(node_loads({rank}).at(0).others_share == Approx(0.5));
}

TEST_CASE("of ranks in control groups of their own and of several levels the one that was held back most counts, and needs no "
          "core all the time")
{
  auto first = rank_on({0}, 10, {10, 10}), second = rank_on({1}, 6, {10, 6});
  first.throttled_s = {{"job", 4}, {"task 0", 0}};
  second.throttled_s = {{"job", 4}, {"task 1", 3}};
  CHECK(node_loads({first, second}).at(0).throttled_share == Approx(0.3)); // of the job it is 4 s in 20
  auto rank = rank_on({0}, 0, {10});
  rank.throttled_s["q"] = 11;
  CHECK(node_loads({rank}).at(0).throttled_share == 1);
  CHECK(node_loads({rank}).at(0).others_share == 0);
}

TEST_CASE("a rank's load reads back as it was written")
{
  auto rank = rank_on({0, 2, 3}, 1.25, {1, 2.5, 3});
  rank.threads = 2;
  rank.quota_cores = 1.5;
  rank.throttled_s = {{"25:7", 0.125}, {"25:9", 0}};
  rank.load_end = not_measured;
  const auto read = parse_rank_load(to_text(rank));
  CHECK(read.machine == rank.machine);
  CHECK(read.host == rank.host);
  CHECK(read.mask == rank.mask);
  CHECK(read.threads == 2);
  CHECK(read.seconds == 10);
  CHECK(read.own_s == 1.25);
  CHECK(read.load_begin == 1);
  CHECK(std::isnan(read.load_end));
  CHECK(read.quota_cores == 1.5);
  CHECK(read.throttled_s == rank.throttled_s);
  REQUIRE(read.cores.size() == 3);
  CHECK(read.cores.at(1).busy_s == 2.5);
}

TEST_CASE("a look at this machine finds it, and between two looks is what happened")
{
  const auto begin = look_at_machine();
  const auto load = load_between(begin, look_at_machine(), {0}, 1);
  CHECK(load.seconds > 0);
  CHECK_FALSE(load.cores.empty());
  CHECK_FALSE(load.host.empty());
  CHECK_FALSE(load.machine.empty());
}
