// The engine's allreduces on simulated ranks give the right sums.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/sim/simulation.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("every allreduce sums right on simulated ranks with vectors of their own")
{
  // Two supernodes of two nodes with two ranks each.
  const sim::Platform platform{.nodes = 4, .ranks_per_node = 2, .nodes_per_supernode = 2};
  std::map<std::string, int> right;
  sim::simulate({.platform = platform, .folded = false}, [&](comm::Communicator& comm) {
    const auto topology = comm::topology_of_hosts(comm, platform.nodes_per_supernode);
    for (const std::string algorithm : {"mpi", "ring", "halving-doubling", "tree", "hierarchical", "topology-aware"}) {
      const auto allreduce = comm::make_allreduce({.algorithm = algorithm, .topology = topology}, comm);
      for (const std::size_t count : {1, 7, 1000, 300'000}) {
        comm::Floats values(count);
        for (std::size_t i = 0; i < count; ++i) values.data()[i] = static_cast<float>(i % 13) + static_cast<float>(comm.rank());
        allreduce->sum(values);
        bool all = true; // 0 + … + 7 = 28
        for (std::size_t i = 0; i < count; ++i) all = all && values.data()[i] == 8 * static_cast<float>(i % 13) + 28;
        right[algorithm] += all ? 1 : 0;
      }
    }
  });
  CHECK(right ==
        std::map<std::string, int>{
            {"mpi", 32}, {"ring", 32}, {"halving-doubling", 32}, {"tree", 32}, {"hierarchical", 32}, {"topology-aware", 32}});
}
