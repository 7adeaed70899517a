// Sums whose ranks begin at different times, on a simulated machine.
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/pause.hpp"
#include "engine/sim/run/simulation.hpp"

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

constexpr int ranks = SKEWED_RANKS;
constexpr std::size_t length = std::size_t{64} << 20;

// Seconds of a sum whose last rank begins `late_s` seconds after the first. Collective; a value for each rank.
double sum_s(comm::Allreduce& allreduce, comm::Communicator& comm, double late_s)
{
  comm::Floats values(length);
  comm.barrier();
  std::vector<double> times{-comm::monotonic_s(), 0};
  comm::pause_s(late_s * static_cast<double>(comm.rank() * 7 % ranks) / (ranks - 1));
  allreduce.sum(values);
  times[1] = comm::monotonic_s();
  for (auto& time : times) comm.max_record({&time, 1});
  return times[0] + times[1];
}

} // namespace

// Messages of one rank to another travel one after another. If they shared the link, all of them would arrive late. Of 13 ranks
// in halving-doubling each sends to all others: if it began with those that are there, several would send to the same one.
TEST_CASE("a sum whose ranks begin at different times ends late by that difference only")
{
  std::map<std::string, std::map<double, double>> seconds;
  const std::vector<double> differences{0, 1e-6, 1e-3, 0.03, 0.3};
  sim::simulate({.platform = {.nodes = ranks}}, [&](comm::Communicator& comm) {
    for (const auto* algorithm : {"ring", "halving-doubling"}) {
      const auto allreduce = comm::make_allreduce({.algorithm = algorithm}, comm);
      for (const double late_s : differences) seconds[algorithm][late_s] = sum_s(*allreduce, comm, late_s);
    }
  });
  for (const auto& [algorithm, of_late] : seconds)
    for (const auto& [late_s, taken_s] : of_late) {
      CAPTURE(algorithm, late_s, taken_s, of_late.at(0));
      CHECK(taken_s >= of_late.at(0));
      CHECK(taken_s < 1.05 * of_late.at(0) + late_s);
    }
}
