// Waiting for what another rank of the node writes, on simulated ranks.
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/simulation.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace dt;

// Each look is an event of the simulator: with polls, sums inside the nodes of 512 ranks did not end within minutes.
TEST_CASE("a simulated rank that waits for its node looks again only when a rank of the node has written, and at that time")
{
  int value = 0;
  double written_s = 0;
  std::array<int, 2> looks{};
  std::array<double, 2> ends_s{};
  const sim::Platform platform{.nodes = 2, .ranks_per_node = 3};
  sim::simulate({.platform = platform, .folded = false}, [&](comm::Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    if (rank < 2) { // both sleep, and both sleep again after the first value
      comm::wait_until([&] {
        ++looks[rank];
        return value == 2;
      });
      ends_s[rank] = comm::monotonic_s();
    } else if (rank == 2) {
      for (const int next : {1, 2}) {
        comm::pause_s(50);
        value = next;
        written_s = comm::monotonic_s();
        comm::wake_pollers();
      }
    } else { // on the other node: wakes nobody here
      for (int i = 0; i < 10; ++i, comm::pause_s(3)) comm::wake_pollers();
    }
  });
  CHECK(written_s >= 100);
  for (const std::size_t rank : {0, 1}) {
    CAPTURE(rank);
    CHECK(looks[rank] == 3);
    CHECK(ends_s[rank] == Approx(written_s).epsilon(1e-12));
  }
}
