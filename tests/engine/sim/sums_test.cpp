// The engine's allreduces on simulated ranks give the right sums.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/simulation.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

// Sums in both ways that a caller has: it waits, or it looks now and then while it computes.
void sum(comm::Allreduce& allreduce, std::span<float> values, bool waits)
{
  const auto pending = allreduce.begin(values);
  while (!waits && !pending->advance()) comm::pause_s(1e-4);
  pending->wait();
}

} // namespace

// SUMS_NODES: 4 nodes have 8 ranks, whose messages are short; more ranks send whole slices (core/spec/simulation_cost.hpp).
TEST_CASE("every allreduce sums right on simulated ranks with vectors of their own")
{
  // Supernodes of two nodes with two ranks each.
  const sim::Platform platform{.nodes = SUMS_NODES, .ranks_per_node = 2, .nodes_per_supernode = 2};
  const auto ranks = static_cast<int>(platform.ranks());
  std::map<std::string, int> right;
  sim::simulate({.platform = platform, .folded = false}, [&](comm::Communicator& comm) {
    const auto topology = comm::topology_of_hosts(comm, platform.nodes_per_supernode);
    for (const std::string algorithm : {"mpi", "ring", "halving-doubling", "tree", "hierarchical", "topology-aware"}) {
      const auto allreduce = comm::make_allreduce({.algorithm = algorithm, .topology = topology}, comm);
      for (const std::size_t count : {1, 7, 1000, 300'000})
        for (const bool waits : {true, algorithm == "mpi"}) { // the simulator's own sum makes no progress between looks
          comm::Floats values(count);
          for (std::size_t i = 0; i < count; ++i) values.data()[i] = static_cast<float>(i % 13) + static_cast<float>(comm.rank());
          sum(*allreduce, values, waits);
          bool all = true;
          for (std::size_t i = 0; i < count; ++i)
            all = all && values.data()[i] ==
                             static_cast<float>(ranks) * static_cast<float>(i % 13) + static_cast<float>(ranks * (ranks - 1) / 2);
          right[algorithm] += all ? 1 : 0;
        }
    }
  });
  for (const auto* algorithm : {"mpi", "ring", "halving-doubling", "tree", "hierarchical", "topology-aware"}) {
    CAPTURE(algorithm);
    CHECK(right[algorithm] == 8 * ranks);
  }
}
