// Two levels over made-up nodes: all ranks of a test share one host, so that any of them may pretend to be of any node.
#include "engine/comm/allreduce/hierarchical.hpp"
#include "tests/engine/comm/allreduce/exact_values.hpp"
#include "tests/engine/comm/late_neighbour.hpp"

#include <functional>
#include <thread>

#include <catch2/catch.hpp>

#include <random>

using namespace dt;
using namespace dt::comm;
using namespace dt::comm::test;

namespace {

// Ranks that pretend to be on so many nodes: in groups, dealt out in turn, or all but one on the first node.
std::vector<Topology> made_up(int ranks)
{
  std::vector<Topology> topologies;
  for (int nodes = 1; nodes <= std::min(ranks, 3); ++nodes) {
    std::vector<int> grouped, dealt, lonely;
    for (int r = 0; r < ranks; ++r) {
      grouped.push_back(r * nodes / ranks);
      dealt.push_back(r % nodes);
      lonely.push_back(std::max(0, r - (ranks - nodes)));
    }
    for (const auto& node : {grouped, dealt, lonely}) topologies.push_back({node, std::vector<int>(node.size(), 0)});
  }
  return topologies;
}

void for_made_up_nodes(const std::function<void(HierarchicalAllreduce&, Communicator&, const Topology&)>& body)
{
  Communicator comm(MPI_COMM_WORLD);
  for (const auto& topology : made_up(comm.size())) {
    HierarchicalAllreduce allreduce({.topology = topology}, comm);
    body(allreduce, comm, topology);
  }
}

} // namespace

TEST_CASE("hierarchical sums bit-exactly on even and uneven nodes, at every length")
{
  Communicator comm(MPI_COMM_WORLD);
  const auto p = static_cast<std::size_t>(comm.size());
  for (const auto& topology : made_up(comm.size())) {
    HierarchicalAllreduce allreduce({.topology = topology}, comm);
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, std::size_t{10007}, std::size_t{700'001}}) {
      CAPTURE(topology.node.vector(), length);
      auto values = values_of(comm.rank(), length, 0);
      allreduce.sum(std::span(values));
      CHECK(wrong_values(values, comm.size(), 0) == 0);
    }
  }
}

TEST_CASE("hierarchical out of place leaves its input untouched")
{
  for_made_up_nodes([](HierarchicalAllreduce& allreduce, Communicator& comm, const Topology& /*topology*/) {
    const auto values = values_of(comm.rank(), 300'000, 0);
    auto input = values;
    std::vector<float> result(values.size());
    allreduce.sum(std::span<const float>(input), std::span(result));
    CHECK(input == values);
    CHECK(wrong_values(result, comm.size(), 0) == 0);
  });
}

TEST_CASE("hierarchical sums under way at once end in any order of waiting, and by advancing alone")
{
  for_made_up_nodes([](HierarchicalAllreduce& allreduce, Communicator& comm, const Topology& /*topology*/) {
    std::vector<std::vector<float>> buffers;
    for (int b = 0; b < 5; ++b) buffers.push_back(values_of(comm.rank(), static_cast<std::size_t>(b) * 150'001, b));
    std::vector<std::unique_ptr<PendingSum>> sums;
    for (auto& buffer : buffers) sums.push_back(allreduce.begin(buffer));
    while (!sums[1]->advance()) std::this_thread::yield();
    CHECK(wrong_values(buffers[1], comm.size(), 1) == 0);
    // Ranks wait for different sums first.
    sums[comm.rank() % 2 == 0 ? 4 : 2]->wait();
    for (auto& sum : sums) sum->wait();
    for (int b = 0; b < 5; ++b) CHECK(wrong_values(buffers[static_cast<std::size_t>(b)], comm.size(), b) == 0);
  });
}

TEST_CASE("thousands of hierarchical sums of changing lengths in a row keep apart")
{
  for_made_up_nodes([](HierarchicalAllreduce& allreduce, Communicator& comm, const Topology& /*topology*/) {
    std::mt19937 random(7); // the same lengths on all ranks
    std::size_t wrong = 0;
    for (int round = 0; round < 2000; ++round) {
      const std::size_t length = random() % (round % 50 == 0 ? 200'000 : 3'000);
      auto values = values_of(comm.rank(), length, round);
      allreduce.sum(std::span(values));
      wrong += wrong_values(values, comm.size(), round);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("hierarchical counts what crosses nodes, and nothing on one node")
{
  for_made_up_nodes([](HierarchicalAllreduce& allreduce, Communicator& comm, const Topology& topology) {
    comm.traffic() = {};
    std::vector<float> values(48'000, 1.0F);
    allreduce.sum(std::span(values));
    std::vector<double> sent{static_cast<double>(comm.traffic().bytes)};
    comm.sum_record(sent);
    // Every number of a block crosses once for each node but one, there and back: 2 n (N-1) over all ranks.
    CHECK(sent[0] == Approx(2.0 * 4 * 48'000 * (topology.nodes() - 1)).margin(3.0 * comm.size()));
    if (topology.nodes() == 1) CHECK(comm.traffic().messages == 0);
  });
}

TEST_CASE("hierarchical sums blocks in order when a later one is found complete before an earlier one")
{
  Communicator comm(MPI_COMM_WORLD);
  if (comm.size() != 4) return;
  // Sums in one block each, crossing nodes by halving and doubling or in a ring; one sum of three blocks of 2 MiB.
  const auto [count, length] = GENERATE(table<int, std::size_t>({{3, 1'000}, {2, 150'001}, {1, 3 * (2 << 20) / sizeof(float)}}));
  CAPTURE(count, length);
  LateNeighbour late(comm);
  HierarchicalAllreduce allreduce({.topology = two_nodes_of_two(), .found_incomplete = late.found_incomplete()}, comm);
  std::vector<std::vector<float>> buffers;
  for (int b = 0; b < count; ++b) buffers.push_back(values_of(comm.rank(), length, b));
  late.arm();
  if (comm.rank() == 1) late.wait_for_pause();
  std::vector<std::unique_ptr<PendingSum>> sums;
  for (auto& buffer : buffers) sums.push_back(allreduce.begin(buffer));
  sums[0]->advance();
  if (comm.rank() == 1) late.end_pause();
  CHECK(late.has_paused() == (comm.rank() == 0));
  for (auto& sum : sums) sum->wait();
  for (int b = 0; b < count; ++b) CHECK(wrong_values(buffers[static_cast<std::size_t>(b)], comm.size(), b) == 0);
}
