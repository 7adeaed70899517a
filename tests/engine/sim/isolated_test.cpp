// Exchanges that are timed with nothing else running, on a simulated machine.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/sim/run/simulation.hpp"
#include "engine/sync/exchange/isolated.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("a simulated rank times an exchange once, since a second time would be the same")
{
  std::vector<int> sums(4);
  std::vector<double> first_s(4), second_s(4);
  sim::simulate({.platform = {.nodes = 4}}, [&](comm::Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto ring = comm::make_allreduce({.algorithm = "ring"}, comm);
    comm::Floats values(1 << 20);
    const auto sum = [&] {
      ring->sum(values);
      ++sums[rank];
    };
    first_s[rank] = sync::measure_isolated_s(comm, sum);
    CHECK(comm.traffic().messages == 0);
    CHECK(sums[rank] == 1);
    second_s[rank] = sync::measure_isolated_s(comm, sum);
  });
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(first_s[rank] > 0);
    CHECK(second_s[rank] == Approx(first_s[rank]).epsilon(1e-6));
  }
}
