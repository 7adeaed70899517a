// Sums whose ranks begin at different times, on a simulated machine.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/simulation.hpp"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;

// Messages of one rank to another travel one after another. If they shared the link, all of them would arrive late, and this sum
// would take more than twice as long.
TEST_CASE("a ring whose ranks begin at different times ends late by that difference only")
{
  constexpr int ranks = 16;
  constexpr double apart_s = 0.1; // between the begins of neighbours, in turns of four
  std::vector<double> together_s(ranks), begin_s(ranks), end_s(ranks);
  sim::simulate({.platform = {.nodes = ranks}}, [&](comm::Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto ring = comm::make_allreduce({.algorithm = "ring"}, comm);
    comm::Floats values(std::size_t{64} << 20);
    comm.barrier();
    const double before_s = comm::monotonic_s();
    ring->sum(values);
    together_s[rank] = comm::monotonic_s() - before_s;
    comm.barrier();
    begin_s[rank] = comm::monotonic_s();
    comm::pause_s(static_cast<double>(rank * 7 % 4) * apart_s);
    ring->sum(values);
    end_s[rank] = comm::monotonic_s();
  });
  const double alone_s = *std::ranges::max_element(together_s);
  const double skewed_s = *std::ranges::max_element(end_s) - *std::ranges::min_element(begin_s);
  CHECK(skewed_s >= alone_s);
  CHECK(skewed_s < alone_s + 3 * apart_s + 0.05 * alone_s);
}
