#include "store/analysis/doubts/contamination.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt::store;

namespace {

// One rank a value, each on a host of its own: node0, node1, …
std::vector<RankSpeed> speeds(const std::vector<double>& values, const std::string& cpu = "EPYC")
{
  std::vector<RankSpeed> ranks;
  for (std::size_t i = 0; i < values.size(); ++i) ranks.push_back({"run", "node" + std::to_string(i), cpu, 1, values[i]});
  return ranks;
}

std::vector<AllreduceTime> allreduces(const std::vector<double>& seconds)
{
  std::vector<AllreduceTime> times;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    times.push_back({"run" + std::to_string(i), "EPYC", 2, 4, 1, 1024, seconds[i]});
  return times;
}

} // namespace

TEST_CASE("drift is the change from the first control to the last, and counts when it is more than two repeats differ by chance")
{
  const auto drift = drift_of_controls(std::vector<double>{100, 120, 90}, {});
  CHECK(drift.controls == 3);
  CHECK(drift.change == Approx(-0.1));
  CHECK(drift.spread == Approx(0.3));
  CHECK(std::isnan(drift.noise));
  CHECK_FALSE(drift.beyond_noise);
  const std::vector<std::vector<double>> points{{99, 100, 101}, {198, 200, 202}, {400}}; // 1 % a repeat
  CHECK(drift_of_controls(std::vector<double>{100, 97}, points).noise == Approx(0.01));
  CHECK(drift_of_controls(std::vector<double>{100, 97}, points).beyond_noise);
  CHECK(drift_of_controls(std::vector<double>{100, 103}, points).beyond_noise);
  CHECK_FALSE(drift_of_controls(std::vector<double>{100, 97.5}, points).beyond_noise);
}

TEST_CASE("a rank a quarter slower than the others is flagged with its host, what lies within ten percent or three robust "
          "deviations is not")
{
  const auto slow = slow_hosts(speeds({100, 101, 77, 99, 100}));
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].host == "node2");
  CHECK(slow[0].slower_by == Approx(0.23));
  CHECK(slow[0].ranks == 1);
  CHECK(slow_hosts(speeds({100, 100, 91, 100})).empty());              // 9 % below
  CHECK(slow_hosts(speeds({100, 100, 89, 100})).size() == 1);          // 11 % below, and the others agree
  CHECK(slow_hosts(speeds({80, 90, 100, 110, 120, 85, 115})).empty()); // scattered: MAD 15
  CHECK(slow_hosts(speeds({80, 90, 100, 110, 120, 85, 115, 20})).size() == 1);
  CHECK(slow_hosts(speeds({100, 100, 150, 100})).empty()); // faster than the others
  CHECK(slow_hosts(speeds({100, 50})).empty());
  CHECK(slow_allreduces(allreduces({1, 2})).empty());
}

TEST_CASE("another CPU model, another number of threads and a rank that was not measured are not compared, and ranks on one node "
          "have no network")
{
  auto ranks = speeds({100, 100, 100});
  for (const auto& rank : speeds({40, 40, 40}, "Atom")) ranks.push_back(rank);
  ranks.push_back({"run", "node9", "EPYC", 8, 700});
  CHECK(slow_hosts(ranks).empty());
  CHECK(slow_hosts(speeds({100, 100, std::nan(""), 100})).empty());
  CHECK(slow_allreduces(allreduces({1, 1, std::nan(""), 1})).empty());
  auto times = allreduces({1, 1, 100});
  for (auto& time : times) time.nodes = 1;
  CHECK(slow_allreduces(times).empty());
}

TEST_CASE("a node is never compared with itself, and a rank that was slow once makes no slow node")
{
  std::vector<RankSpeed> ranks;
  for (const double gflops : {100, 100, 100, 50, 100}) ranks.push_back({"run", "vm", "EPYC", 1, gflops});
  CHECK(slow_hosts(ranks).empty()); // the only one
  for (const double gflops : {100, 100, 100, 100}) ranks.push_back({"run", "vm2", "EPYC", 1, gflops});
  for (auto& rank : ranks)
    if (rank.host == "vm") rank.gemm_gflops = 50;
  CHECK(slow_hosts(ranks).empty()); // of two nobody is the odd one, however many ranks they have
  ranks.push_back({"run", "vm3", "EPYC", 1, 99});
  REQUIRE(slow_hosts(ranks).size() == 1);
  CHECK(slow_hosts(ranks)[0].host == "vm");
  auto once = speeds({100, 100, 100});
  for (int i = 0; i < 4; ++i) once.push_back({"run" + std::to_string(i), "node0", "EPYC", 1, 100});
  once.push_back({"late", "node0", "EPYC", 1, 40});
  CHECK(slow_hosts(once).empty());
}

TEST_CASE("runs that were not asked about are compared with, and not told of")
{
  auto ranks = speeds({100, 100, 70});
  ranks[2].asked = false;
  CHECK(slow_hosts(ranks).empty());
  auto times = allreduces({1, 1, 1, 2});
  times[3].asked = false;
  CHECK(slow_allreduces(times).empty());
  times[3].asked = true;
  times[0].asked = times[1].asked = times[2].asked = false;
  CHECK(slow_allreduces(times).size() == 1);
}

TEST_CASE("the flagged ranks of a host are told together, over all runs")
{
  auto ranks = speeds({100, 100, 100, 100, 100, 100, 100});
  ranks.push_back({"b", "bad", "EPYC", 1, 70});
  ranks.push_back({"a", "bad", "EPYC", 1, 80});
  ranks.push_back({"a", "bad", "EPYC", 1, 75});
  const auto slow = slow_hosts(ranks);
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].runs == std::vector<std::string>{"a", "b"});
  CHECK(slow[0].ranks == 3);
  CHECK(slow[0].slower_by == Approx(0.25));
}

TEST_CASE("a run whose allreduce is slower than in others of its shape is flagged, faster ones are not")
{
  const auto slow = slow_allreduces(allreduces({1, 1.01, 1.31, 0.5, 1}));
  REQUIRE(slow.size() == 1);
  CHECK(slow[0].kind == Outlier::Kind::allreduce);
  CHECK(slow[0].runs == std::vector<std::string>{"run2"});
  CHECK(slow[0].slower_by == Approx(0.31));
  auto other_shape = allreduces({1, 1, 1, 9});
  other_shape[3].ranks = 64;
  CHECK(slow_allreduces(other_shape).empty());
}
